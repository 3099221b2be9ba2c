"""How long a client waits between tries."""

from onechat_cli.domain.pauses import Pauses


def test_pauses_double_up_to_the_longest_and_begin_anew_after_a_success():
    pauses = Pauses()

    tried = [pauses.next_s() for _ in range(7)]
    pauses.start_over()

    assert tried == [0.3, 0.6, 1.2, 2.4, 4.8, 5.0, 5.0]
    assert pauses.next_s() == 0.3
