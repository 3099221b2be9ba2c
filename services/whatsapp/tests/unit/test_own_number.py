"""The user's number is hidden in every spelling of it, and nothing else is touched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onechat_whatsapp.domain.identities import Own
from onechat_whatsapp.domain.number_forms import calling_code, international_forms, national_forms
from onechat_whatsapp.domain.own_number import READ_MAX, cut, hidden

ANN = Own(number="15550001111", lid="99887766554433")
LONDON = Own(number="447700900123", lid="")
BERLIN = Own(number="4915112345678", lid="")
REYKJAVIK = Own(number="3545551234", lid="")
MOSCOW = Own(number="79161234567", lid="")
BUENOS_AIRES = Own(number="5491123456789", lid="")
MEXICO = Own(number="5215512345678", lid="")
SAO_PAULO = Own(number="5511912345678", lid="")
PORTO_ALEGRE = Own(number="555181234567", lid="")  # an old account: without the 9 of today
COTONOU = Own(number="22997123456", lid="")  # likewise: today 01 stands before it


@pytest.mark.parametrize(
    ("own", "written"),
    [
        (ANN, "15550001111"),
        (ANN, "+15550001111"),
        (ANN, "+1 555 000 1111"),
        (ANN, "+1-555-000-1111"),
        (ANN, "+1 (555) 000-1111"),
        (ANN, "(+1) 555 000 1111"),
        (ANN, "[+1] 555 000 1111"),
        (ANN, "001 555 000 1111"),
        (ANN, "011 1 555 000 1111"),
        (ANN, "1.555.000.1111"),
        (ANN, "1/555/000/1111"),
        (ANN, "555 000 1111"),
        (ANN, "(555) 000-1111"),
        (ANN, "1–555—000‑1111"),  # dashes of three lengths
        (ANN, "1\u00a0555\u202f000\u20091111"),  # spaces that are none of ASCII
        (ANN, "+1\u202c 555\u200b000\u200d1111"),  # signs that show nothing
        (ANN, "1\u3164555\u3164000\u31641111"),  # a letter that shows nothing
        (ANN, "+1 555\n000\r\n1111"),
        (ANN, "1 5 5 5 0 0 0 1 1 1 1"),
        (ANN, "1 . 5 . 5 . 5 . 0 . 0 . 0 . 1 . 1 . 1 . 1"),
        (ANN, "1*_555_~000~`1111"),
        (ANN, "＋１５５５０００１１１１"),
        (ANN, "１５５５-０００-１１１１"),
        (ANN, "١٥٥٥٠٠٠١١١١"),
        (ANN, "۱ ۵۵۵ ۰۰۰ ۱۱۱۱"),
        (ANN, "१५५५०००११११"),
        (ANN, "𝟏𝟓𝟓𝟓𝟎𝟎𝟎𝟏𝟏𝟏𝟏"),
        (ANN, "¹⁵⁵⁵⁰⁰⁰¹¹¹¹"),
        (ANN, "①⑤⑤⑤⓪⓪⓪①①①①"),
        (ANN, "⑮⑤⑤000⑪⑪"),
        (ANN, "一五五五〇〇〇一一一一"),
        (ANN, "壹伍伍伍零零零壹壹壹壹"),
        (ANN, "㊀㊄㊄㊄000㊀㊀㊀㊀"),
        (ANN, "ⅠⅤⅤⅤ000ⅰⅰⅰⅰ"),
        (ANN, "".join(chr(0xE0030 + int(digit)) for digit in "15550001111")),  # seen by machines alone
        (ANN, "+1%20555%20000%201111"),
        (ANN, "+1%20%28555%29%20000%2D1111"),
        (ANN, "1%C2%A0555%E2%80%AF0001111"),
        (ANN, "%31%35%35%35%30%30%30%31%31%31%31"),
        (ANN, "%EF%BC%91555%FF0001111"),
        (ANN, "1️⃣5️⃣5️⃣5️⃣0️⃣0️⃣0️⃣1️⃣1️⃣1️⃣1️⃣"),
        (ANN, "99887766554433"),
        (ANN, "998877 66554433"),
        (LONDON, "+44 7700 900123"),
        (LONDON, "+44 (0)7700 900123"),
        (LONDON, "+44 0 7700 900123"),
        (LONDON, "0044 7700 900123"),
        (LONDON, "07700 900123"),
        (LONDON, "(07700) 900123"),
        (LONDON, "7700900123"),
        (BERLIN, "0151 12345678"),
        (BERLIN, "0151/12 34 56 78"),
        (BERLIN, "(0151) 12345678"),
        (REYKJAVIK, "555-1234"),
        (REYKJAVIK, "555 1234"),
        (REYKJAVIK, "+354 555 1234"),
        (MOSCOW, "8 (916) 123-45-67"),
        (MOSCOW, "+7 916 123 45 67"),
        (BUENOS_AIRES, "+54 9 11 2345-6789"),
        (BUENOS_AIRES, "+54 11 2345-6789"),
        (BUENOS_AIRES, "011 15 2345-6789"),
        (BUENOS_AIRES, "11 2345 6789"),
        (MEXICO, "+52 1 55 1234 5678"),
        (MEXICO, "+52 55 1234 5678"),
        (MEXICO, "55 1234 5678"),
        (MEXICO, "044 55 1234 5678"),
        (SAO_PAULO, "(11) 91234-5678"),
        (SAO_PAULO, "11 1234-5678"),
        (PORTO_ALEGRE, "+55 51 98123-4567"),
        (PORTO_ALEGRE, "+55 51 8123-4567"),
        (PORTO_ALEGRE, "051 98123-4567"),
        (COTONOU, "+229 01 97 12 34 56"),
        (COTONOU, "01 97 12 34 56"),
    ],
)
def test_each_spelling_is_hidden_whole(own: Own, written: str) -> None:
    assert hidden(f"call {written} now", own) == "call OWN now"
    assert hidden(written, own) == "OWN"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("wa.me/15550001111?text=hi", "wa.me/OWN?text=hi"),
        ("tel:+15550001111", "tel:OWN"),
        ("15550001111@s.whatsapp.net", "OWN@s.whatsapp.net"),
        ("15550001111-1500000000@g.us", "OWN-1500000000@g.us"),
        ("a15550001111b", "aOWNb"),
        ("9915550001111", "99OWN"),
        ("5551 15550001111 2", "5551 OWN 2"),
        ("15550001111 15550001111", "OWN OWN"),
        ("1555000111115550001111", "OWNOWN"),
        ("at 2, 5550001111", "at 2, OWN"),
        ("%2B15550001111", "%2BOWN"),
        ("100%15550001111", "100%OWN"),
        ("wa.me/?phone=1%20555%200001111&text=%31", "wa.me/?phone=OWN&text=%31"),
        ("(((+1 555) 000-1111)", "((OWN)"),
        ("(1 (555) 000-1111", "(OWN"),
        ("[(+1) 555] 000 1111", "OWN"),
        ("name=\u200f15550001111\u200f", "name=\u200fOWN\u200f"),
    ],
)
def test_what_stands_around_the_number_stays(written: str, shown: str) -> None:
    assert hidden(written, ANN) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("@15550001111 look", "@you look"),
        ("look @99887766554433", "look @you"),
        ("(@15550001111)", "(@you)"),
        ("@15550001111@99887766554433", "@you@you"),
        ("00 @15550001111", "00 @you"),
        ("me@15550001111", "me@OWN"),
        ("@+1 555 000 1111", "@OWN"),
        ("@155500011112", "@OWN2"),
    ],
)
def test_a_mention_of_the_user_is_you(written: str, shown: str) -> None:
    assert hidden(written, ANN) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no digit",
        "15550002222",
        "+1 555 000 1112",
        "1 555 and 000 1111",
        "1555 x 0001111",
        "at 15:55, 2000 for 11 people",
        "½5550001112",
        "1 555 000 111",
        "%31 555 000 111",
        "1%61555%620001111",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert hidden(text, ANN) == text


@given(st.text(alphabet="123456789", min_size=8, max_size=60), st.integers(0, 3))
def test_a_row_of_digits_that_holds_no_form_of_the_number_stays_as_it_is(digits: str, own: int) -> None:
    """Other people's numbers are what the agent is asked for."""
    user = (ANN, LONDON, BERLIN, MEXICO)[own]
    text = f"call +{digits}"

    if not any(form in digits for form in (*national_forms(user.number), user.lid or "-")):
        assert hidden(text, user) == text


def test_a_text_that_is_made_to_take_long_does_not() -> None:
    """It is read in the loop that answers everybody; counted anew for each bracket this took a minute."""
    text = "(" * 60_000 + "1" + ")" * 60_000 + "5550001111"

    assert hidden(text, ANN) == "OWN"


def test_of_a_text_beyond_all_bounds_the_beginning_is_looked_through_and_no_part_of_a_number_is_its_end():
    within = "x" * (READ_MAX - 5) + "15550001111"
    digits = "1 " * READ_MAX

    assert cut("x" * READ_MAX) == "x" * READ_MAX
    assert cut(within) == "x" * (READ_MAX - 5)
    assert cut("x一" + digits) == "x"
    assert cut(digits) == ""


@pytest.mark.parametrize("text", ["95551234", "55512345", "+44 20 95551234", "12345551234567"])
def test_a_short_number_is_not_looked_for_within_longer_ones(text: str) -> None:
    """Seven digits in a row are in many a longer number by chance."""
    assert hidden(text, REYKJAVIK) == text


def test_a_fraction_is_no_two_digits() -> None:
    assert hidden("52155½345678", MEXICO) == "52155½345678"


def test_a_short_number_is_found_where_it_begins_behind_a_space() -> None:
    """Its digits alone would begin earlier, within the row."""
    assert hidden("55 5555555", Own(number="3545555555", lid="")) == "55 OWN"


def test_an_account_without_a_lid_hides_its_number_alone() -> None:
    assert hidden("@99887766554433 15550001111", Own(number="15550001111", lid="")) == "@99887766554433 OWN"


def test_where_no_number_is_known_nothing_is_found() -> None:
    assert hidden("15550001111 0", Own(number="", lid="")) == "15550001111 0"


@given(st.text(alphabet="0159+-() \n@ab１١①\u200b\u20e3\ufe0f,", max_size=60))
def test_what_was_hidden_once_has_nothing_left_to_hide(text: str) -> None:
    once = hidden(text, ANN)

    assert hidden(once, ANN) == once


@given(st.text(max_size=200))
def test_a_text_without_the_number_stays_as_it_is(text: str) -> None:
    if not any(sign.isnumeric() for sign in text):
        assert hidden(text, ANN) == text


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("15550001111", "1"),
        ("79161234567", "7"),
        ("447700900123", "44"),
        ("3545551234", "354"),
        ("97798", "977"),
    ],
)
def test_the_calling_code_is_what_the_number_begins_with(number: str, code: str) -> None:
    assert calling_code(number) == code


@pytest.mark.parametrize(
    ("number", "forms"),
    [
        ("15550001111", {"15550001111"}),
        ("5215512345678", {"5215512345678", "525512345678"}),
        ("525512345678", {"5215512345678", "525512345678"}),
        ("5491123456789", {"5491123456789", "541123456789"}),
        ("5511912345678", {"5511912345678", "551112345678"}),
        ("551112345678", {"5511912345678", "551112345678"}),
    ],
)
def test_a_number_goes_by_the_forms_of_its_country_its_own_first(number: str, forms: set[str]) -> None:
    found = international_forms(number)

    assert found[0] == number
    assert set(found) == forms
    assert {form[len(calling_code(number)) :] for form in forms} <= set(national_forms(number))
