"""Phone numbers as people write them."""

import pytest
from onechat_whatsapp.domain.phone import NoPhoneNumber, number_in


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("+1 555 000 2222", "15550002222"),
        ("15550002222", "15550002222"),
        ("+1 (555) 000-2222", "15550002222"),
        ("+977 98-4123 4567", "9779841234567"),
        ("\u202a+39\u00a0347\u202f123\u20114567\u202c", "393471234567"),
        ("  +290 2345\t", "2902345"),
        ("+1–555–000–2222", "15550002222"),
    ],
)
def test_a_number_is_read_with_or_without_plus_spaces_dashes_and_brackets(written, number):
    assert number_in(written) == number


@pytest.mark.parametrize(
    "written",
    [
        "",
        "+",
        "Bob",
        "0347 1234567",
        "0039 347 1234567",
        "+0 555 000 2222",
        "+44 (0)20 7946 0000",
        "123456",
        "+1234567890123456",
        "++15550002222",
        "1+5550002222",
        "+1 555 000 2222 ext 5",
        "+1.555.000.2222",
        "+1 555) 000 (2222",
        "+1 ((555)) 000 2222",
        "１５５５０００２２２２",
        "15550002222@s.whatsapp.net",
    ],
)
def test_what_is_no_number_in_international_form_is_refused(written):
    """A number that is read wrongly would ask somebody else's phone for a link."""
    with pytest.raises(NoPhoneNumber):
        number_in(written)
