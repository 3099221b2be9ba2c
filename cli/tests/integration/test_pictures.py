"""Pictures in the chat: sent from a file with a message, and drawn where the agent shows one."""

import os
from datetime import UTC, datetime

import pytest
from onechat.agent.v1 import event_pb2
from onechat_cli.adapters.drawing import COLUMNS_MAX, ROWS_MAX, Way, drawing, way_of
from onechat_cli.chat.kept import Kept
from onechat_cli.chat.plain import Talk
from onechat_cli.commands.send import new_key, send
from onechat_cli.domain.transcript import Kind
from onechat_cli.domain.typed import Typed
from onechat_cli.outcome import CommandFailed, Exit
from onechat_runtime.clock import SystemClock

from tests.fakes.pictures import PNG, drawn, picture
from tests.fakes.recorded_chat import chatting, until_open

NAME = "0123456789abcdef.png"


@pytest.fixture
def boiler(tmp_path):
    """A picture in a file whose name has a space."""
    path = tmp_path / "my boiler.png"
    path.write_bytes(picture(200_000))
    return path


async def test_a_picture_is_stored_and_then_named_by_the_message(agent, service, tmp_path, boiler):
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        chat.say(f"/image '{boiler}' what is wrong with it?")
        await view.until(lambda: bool(agent.deliveries) and not chat.unsent)

        assert view.texts(Kind.USER) == ["what is wrong with it?", "[1 image]"]
    ((name, content),) = agent.images.items()
    (delivery,) = agent.deliveries.values()
    assert content == boiler.read_bytes()
    assert (delivery.text, list(delivery.images), delivery.backed) == ("what is wrong with it?", [name], True)


async def test_a_picture_needs_no_words(agent, service, tmp_path, boiler):
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        chat.say(f"/image '{boiler}'")
        await view.until(lambda: bool(agent.deliveries) and not chat.unsent)

        assert view.texts(Kind.USER) == ["[1 image]"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/image", "say which picture"),
        ("/image {folder}/none.png", "none.png cannot be read: No such file or directory."),
        ("/image {folder}", "is no file."),
        ("/image {folder}/pipe", "is no file."),
        ("/image {folder}/large", "is larger than 20 MB"),
        ("/image {folder}/words.txt", "not accepted: That is no image."),
        ("/image {folder}/a\0b", "cannot be read"),
    ],
)
async def test_what_cannot_be_sent_is_said_and_no_message_goes_out(agent, service, tmp_path, line, said):
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as large:
        large.truncate(20_000_001)
    (tmp_path / "words.txt").write_text("no picture")
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        chat.say(line.format(folder=tmp_path))
        await view.until(lambda: any(said in text for text in view.texts(Kind.REMARK)))

    assert not agent.deliveries


async def test_an_agent_that_is_away_is_said_and_no_message_goes_out(agent, service, tmp_path, boiler):
    agent.fail("PutImage", times=9)
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        chat.say(f"/image '{boiler}' look")
        await view.until(lambda: bool(view.texts(Kind.REMARK)))

        assert view.texts(Kind.REMARK) == ["the agent is away: send the picture again when it is back"]
    assert not agent.deliveries


async def test_a_message_that_is_kept_keeps_its_pictures(agent, service, tmp_path):
    Kept(tmp_path).keep(Typed(key="cli:old", text="look", time=datetime.now(UTC), images=(NAME,)))

    async with chatting(service.address, tmp_path) as (chat, view):
        await view.until(lambda: "[1 image]" in view.texts() and not chat.unsent)

        assert view.texts(Kind.USER) == ["look", "[1 image]"]
    assert list(agent.deliveries["cli:old"].images) == [NAME]


async def test_a_picture_that_the_agent_shows_is_drawn_below_its_line(agent, service, tmp_path):
    agent.images[NAME] = PNG
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        await agent.tell(image=event_pb2.ShownImage(image=NAME, caption="the boiler"))
        await view.until(lambda: bool(view.pictures))

        assert view.texts(Kind.OUTSIDE) == [f"[image {NAME}] the boiler"]
        assert view.pictures == [PNG]


async def test_a_picture_that_cannot_be_had_is_its_line_and_the_chat_goes_on(agent, service, tmp_path):
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        await agent.tell(image=event_pb2.ShownImage(image=NAME, caption=""))
        await agent.reply("there")
        await view.until(lambda: "there" in view.texts())

        assert view.pictures == []
        assert f"[image {NAME}]" in view.texts()


async def test_a_view_without_pictures_asks_for_none(agent, service, tmp_path):
    agent.images[NAME] = PNG
    async with chatting(service.address, tmp_path) as (chat, view):
        view.shows_pictures = False
        await until_open(chat, view)

        await agent.tell(image=event_pb2.ShownImage(image=NAME, caption=""))
        await view.until(lambda: bool(view.texts()))

    assert agent.calls["GetImage"] == 0


async def test_without_a_terminal_a_line_sends_a_picture_too(agent, client, boiler):
    agent.on_delivery = lambda delivery: agent.answer(delivery.key, "a boiler")
    answers, asides = [], []
    talk = Talk(
        agent=client, clock=SystemClock(), new_key=new_key, answer=answers.append, aside=asides.append
    )

    async def lines():
        yield f"/image '{boiler}' what is it?"
        yield f"/image {boiler.parent}/none.png"

    await talk.take(lines())

    assert answers == ["a boiler"]
    assert len(asides) == 1
    assert [len(delivery.images) for delivery in agent.deliveries.values()] == [1]


async def test_one_message_takes_pictures_along(agent, settings, capsys, boiler, tmp_path):
    agent.on_delivery = lambda delivery: agent.answer(delivery.key, "a boiler")
    (tmp_path / "b.jpg").write_bytes(drawn(8, 8, "JPEG"))

    files = [str(boiler), str(tmp_path / "b.jpg")]
    code = await send(settings, "", images=files, as_json=False, timeout_s=20)

    assert (code, capsys.readouterr().out) == (Exit.OK, "a boiler\n")
    (delivery,) = agent.deliveries.values()
    assert [name.rpartition(".")[2] for name in delivery.images] == ["png", "jpg"]


async def test_one_message_with_a_picture_that_is_not_there_is_not_sent(agent, settings, tmp_path):
    with pytest.raises(CommandFailed, match="cannot be read"):
        await send(settings, "look", images=[str(tmp_path / "none.png")], as_json=False, timeout_s=20)

    assert not agent.deliveries


# ------------------------------------------------------------ drawn


@pytest.mark.parametrize(
    ("environ", "colours", "way"),
    [
        ({"TERM": "xterm-256color"}, True, Way.CELLS),
        ({"TERM": "xterm-256color"}, False, Way.NONE),
        ({"TERM": "xterm-kitty"}, True, Way.KITTY),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, True, Way.ITERM),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "WezTerm"}, True, Way.CELLS),
        ({"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}, False, Way.NONE),
    ],
)
def test_a_terminal_gets_what_it_can_show(environ, colours, way):
    assert way_of(environ, colours=colours) is way


async def test_two_pixels_stand_in_a_cell():
    fragments = await drawing(drawn(4, 4, colour=(255, 0, 0)), Way.CELLS, columns=80, rows=24)

    assert fragments == [("fg:#ff0000 bg:#ff0000", "▀▀▀▀"), ("", "\n")] * 2


async def test_a_last_row_of_single_pixels_has_no_ground():
    assert await drawing(drawn(1, 1), Way.CELLS, columns=80, rows=24) == [("fg:#ff0000", "▀"), ("", "\n")]


@pytest.mark.parametrize("size", [(3000, 200), (200, 3000)])
async def test_a_large_picture_is_drawn_within_the_screen(size):
    fragments = await drawing(drawn(*size), Way.CELLS, columns=40, rows=10)

    rows = "".join(text for _, text in fragments).splitlines()
    assert 1 <= len(rows) <= min(10, ROWS_MAX)
    assert max(map(len, rows)) <= min(39, COLUMNS_MAX)


async def test_terminals_with_pixels_get_the_picture_in_their_protocol():
    kitty = await drawing(drawn(400, 300), Way.KITTY, columns=80, rows=24)
    iterm = await drawing(drawn(400, 300), Way.ITERM, columns=80, rows=24)

    assert kitty[0][1].startswith("\x1b_Ga=T,f=100,q=2,m=")
    assert kitty[0][1].endswith("\x1b\\")
    assert iterm[0][1].startswith("\x1b]1337;File=inline=1;")
    assert iterm[0][1].endswith("\x07")
    assert kitty[0][0] == iterm[0][0] == "[ZeroWidthEscape]"


@pytest.mark.parametrize("way", [Way.CELLS, Way.KITTY])
@pytest.mark.parametrize("content", [b"", b"no picture", PNG[:40]])
async def test_what_is_no_picture_is_left_out(way, content):
    assert await drawing(content, way, columns=80, rows=24) == []
