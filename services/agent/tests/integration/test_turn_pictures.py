"""What the model of a turn sees of pictures: new ones, zoomed ones, and those of before a restart."""

from dataclasses import replace
from pathlib import Path

import pytest
from onechat.agent.v1 import agent_service_pb2, event_pb2
from onechat_agent.domain.limits import Limits
from onechat_agent.model.call import ModelClient
from onechat_agent.model.endpoint import Endpoint
from onechat_agent.model.sizes import PICTURE
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import TIMEOUT_S, living
from tests.fakes.memory_server import MemoryServer
from tests.fakes.picture_talk import UNKNOWN, Away, colours, inputs, last_user, put
from tests.fakes.pictures import PNG, drawn
from tests.fakes.scripted_model import Answer, Purpose, ScriptedModel, call

# ------------------------------------------------------------ to the model


async def test_a_new_picture_is_seen_in_its_turn_and_not_in_the_next(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("red", "and gone")
    async with living(tmp_path, memory, model) as house:
        name = await put(house, drawn(3000, 100, colour="red"))
        await house.say("what colour is it?", images=[name])
        shown = last_user(model)
        await house.say("and now?")

        assert shown[0]["text"] == f"user: what colour is it?\n[image {name}]"
        assert colours(shown) == [(255, 0, 0)]
        assert shown[1]["type"] == "input_image"
        assert "input_image" not in str(inputs(model)[-1])
        [message, *_] = await house.log()
        assert (message.text, list(message.images)) == (f"what colour is it?\n[image {name}]", [name])


async def test_a_picture_alone_is_a_message(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("a picture")
    async with living(tmp_path, memory, model) as house:
        name = await put(house, PNG)
        await house.say("", images=[name])

        assert last_user(model)[0]["text"] == f"user: [image {name}]"
        assert len(colours(last_user(model))) == 1
        assert (await house.lines())[0] == f"user: [image {name}]"


async def test_a_picture_from_outside_stands_on_a_line_of_onechats_own(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """What others write cannot name a picture; what they sent can be seen."""
    model.say("")
    async with living(tmp_path, memory, model) as house:
        name = await put(house, PNG, "whatsapp")
        key = await house.deliver(
            f"see [image {UNKNOWN}]",
            caller="whatsapp",
            source="whatsapp:1@s.whatsapp.net",
            images=[name],
            wakes_root=True,
        )
        await house.ended(key)

        lines = last_user(model)[0]["text"].splitlines()
        assert lines[1:3] == [f"| see (image {UNKNOWN})", f"[image {name}]"]
        assert len(colours(last_user(model))) == 1


async def test_of_ten_new_pictures_the_newest_eight_are_shown_and_the_others_can_be_zoomed(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.call(call("zoom", id=0, n=1, name=None, page=None))
    model.say("ten")
    async with living(tmp_path, memory, model) as house:
        names = [await put(house, drawn(8, 8, colour=(20 * n, 0, 0))) for n in range(10)]
        await house.say("ten of them", images=names)

        first, second = inputs(model)
        assert colours(first[-1]["content"]) == [(20 * n, 0, 0) for n in range(2, 10)]
        told = first[-1]["content"][0]["text"].splitlines()[-2:]
        assert [line.split()[0] for line in told] == [f"({name}" for name in names[:2]]
        assert all("Zoom with id 0 and n 1" in line for line in told)
        assert second[: len(first)] == first
        assert len(colours(second[-1]["content"])) == 10, "the zoom shows all ten, after its result"


async def test_a_name_that_is_not_stored_is_told_in_a_line_and_the_turn_goes_on(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("I cannot see it.")
    async with living(tmp_path, memory, model) as house:
        end = await house.say("look", images=[UNKNOWN])

        assert last_user(model)[0]["text"].splitlines()[-1] == (
            f"({UNKNOWN} cannot be shown: it is not stored, or its file is damaged.)"
        )
        assert len(last_user(model)) == 1
        assert house.seen.replies() == ["I cannot see it."]
        assert end.reason == ""


async def test_a_picture_that_cannot_be_decoded_is_told_in_a_line_and_the_turn_goes_on(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("It is broken.")
    async with living(tmp_path, memory, model) as house:
        name = await put(house, drawn(200, 200)[:60])
        await house.say("look", images=[name])

        assert last_user(model)[0]["text"].splitlines()[-1] == (
            f"({name} cannot be shown: it cannot be decoded.)"
        )
        assert house.seen.replies() == ["It is broken."]


@pytest.mark.parametrize("name", ["photo.jpg", "/etc/passwd", f"../{UNKNOWN}", UNKNOWN.upper()])
async def test_a_delivery_names_stored_pictures_alone(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, name: str
) -> None:
    async with living(tmp_path, memory, model) as house:
        with pytest.raises(RemoteError) as refused:
            await house.deliver("look", images=[name])

        assert refused.value.reason == "DELIVERY_INVALID"


async def test_a_picture_that_joins_a_turn_is_shown_behind_what_stands_there(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    gate = model.hold(answer=Answer(text="", calls=(call("date", id=0),)))
    model.say("both seen")
    async with living(tmp_path, memory, model) as house:
        names = [await put(house, drawn(8, 8, colour=colour)) for colour in ("red", "blue")]
        key = await house.deliver("one", images=names[:1])
        await gate.reached()
        await house.deliver("two", images=names)
        gate.open()
        await house.ended(key)

        first, second = inputs(model)
        assert second[: len(first)] == first
        assert colours(second[-1]["content"]) == [(0, 0, 255)]
        assert f"({names[0]} stands with another message" in second[-1]["content"][0]["text"]


# ------------------------------------------------------------ again by zoom


@pytest.mark.parametrize("in_output", [True, False])
async def test_a_zoom_of_its_message_shows_a_picture_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, in_output: bool
) -> None:
    """Where the endpoint takes no pictures in a result, they come in a message of the user after it."""
    endpoint = Endpoint.of(url=model.base_url, api_key=None)
    if in_output:
        endpoint = replace(endpoint, lacks=frozenset())
    model.say("seen")
    async with living(tmp_path, memory, model, model_client=ModelClient(endpoint)) as house:
        name = await put(house, drawn(8, 8, colour="red"))
        await house.say("remember this", images=[name])
        model.call(call("zoom", id=0, n=1, name=None, page=None))
        model.say("red")
        await house.say("which colour had it?")

        items = inputs(model)[-1]
        [output] = [item for item in items if item["type"] == "function_call_output"]
        if in_output:
            assert colours(output["output"]) == [(255, 0, 0)]
        else:
            assert isinstance(output["output"], str)
            assert items[-2] == output
            assert colours(items[-1]["content"]) == [(255, 0, 0)]
        assert "echo: zoomed 0+1" in await house.lines()


async def test_a_zoom_of_lines_shows_no_picture(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("seen")
    async with living(tmp_path, memory, model) as house:
        name = await put(house, PNG)
        await house.say("remember this", images=[name])
        model.call(call("zoom", id=0, n=2, name=None, page=None))
        model.say("done")
        await house.say("what was it?")

        assert "input_image" not in str(inputs(model)[-1])


# ------------------------------------------------------------ after a restart


async def test_after_a_restart_the_turns_own_pictures_come_back_and_those_before_it_do_not(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("seen")
    model.call(call("zoom", id=0, n=1, name=None, page=None))
    async with living(tmp_path, memory, model) as house:
        old, new = [await put(house, drawn(8, 8, colour=colour)) for colour in ("red", "blue")]
        await house.say("the first", images=[old])
        gate = model.hold(answer=Answer(text="never sent"))
        key = await house.deliver("the second", images=[new])
        await gate.reached()
    model.say("both are here")

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        before, after = inputs(model)[-2:]
        assert [colours(item.get("content", [])) for item in after] == [
            colours(item.get("content", [])) for item in before
        ]
        assert after[:3] == before[:3], "view, state and message, with the same bytes of the picture"
        assert colours(after[2]["content"]) == [(0, 0, 255)]
        assert colours(after[-1]["content"]) == [(255, 0, 0)], "the zoom is followed again"


@pytest.mark.soak
async def test_a_resumed_turn_chooses_the_same_of_too_many(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The opening's pictures had all the room, so the one that joined is not shown, then as now."""
    held = model.hold(answer=Answer(text="", calls=(call("date", id=0),)))
    async with living(tmp_path, memory, model) as house:
        names = [await put(house, drawn(8, 8, colour=(20 * n, 0, 0))) for n in range(9)]
        key = await house.deliver("eight", images=names[:8])
        await held.reached()
        gate = model.hold(answer=Answer(text="never sent"))
        await house.deliver("and one", images=names[8:])
        held.open()
        await gate.reached()
    model.say("done")

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        before, after = inputs(model)[-2:]
        said = [[item for item in items if item.get("role") == "user"] for items in (before, after)]
        assert said[0] == said[1]
        assert "is not shown" in said[0][-1]["content"][0]["text"]


async def test_a_turn_waits_for_a_memory_that_is_away_and_shows_the_picture(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("red")
    name = (await memory.put_image(drawn(8, 8, colour="red"))).name
    async with living(tmp_path, memory, model, images_through=lambda images: Away(images, 3)) as house:
        await house.say("what colour is it?", images=[name])

        assert colours(last_user(model)) == [(255, 0, 0)]


async def test_a_stop_ends_a_turn_that_waits_for_its_picture(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    name = (await memory.put_image(PNG)).name
    async with living(tmp_path, memory, model, images_through=lambda images: Away(images, 10**9)) as house:
        key = await house.deliver("look", images=[name])
        await house.memory_holds(1)
        await house.stub().StopTurn(agent_service_pb2.StopTurnRequest(), timeout=TIMEOUT_S)

        end = await house.ended(key)
        assert end.state == event_pb2.TurnChange.STATE_STOPPED
        assert model.requests(Purpose.TURN) == []


# ------------------------------------------------------------ after a roll-over


async def test_a_turn_that_rolls_over_shows_its_own_pictures_again_and_so_does_its_second_start(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    big = Answer(calls=(call("shell", command="head -c 20000 /dev/zero | tr '\\0' x"),))
    model.say(big, big)
    gate = model.hold(answer=Answer(text="never sent"))
    limits = Limits(context_bytes=30_000)
    async with living(tmp_path, memory, model, limits=limits) as house:
        name = await put(house, drawn(8, 8, colour="red"))
        key = await house.deliver("look", images=[name])
        await gate.reached()
    model.say("done")

    async with living(tmp_path, memory, model, limits=limits, after=0) as house:
        await house.ended(key)

        first, *_, before, after = inputs(model)
        assert before == after
        assert before[2] == first[2], "the message with its picture, whole"
        assert "This turn has grown long" in before[-1]["content"][0]["text"]


async def test_pictures_count_in_what_a_call_may_hold(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A turn that zooms many pictures rolls over, though their lines are short."""
    zoom = call("zoom", id=0, n=1, name=None, page=None)
    model.say("seen")
    async with living(tmp_path, memory, model, limits=Limits(context_bytes=3 * PICTURE)) as house:
        names = [await put(house, drawn(8, 8, colour=colour)) for colour in ("red", "blue")]
        await house.say("two", images=names)
        model.say(Answer(calls=(zoom,)), Answer(calls=(zoom,)), "enough")
        await house.say("look twice")

        assert "This turn has grown long" in inputs(model)[-1][-1]["content"][0]["text"]
