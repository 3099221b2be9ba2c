"""The one door of all tool calls: nothing raises, nothing unchecked runs."""

import asyncio
from dataclasses import replace

import pytest
from onechat_agent.domain.agent import Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.consent import Confirm
from onechat_agent.domain.delivery import TurnId
from onechat_agent.tools.schema import function_schema, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult
from onechat_agent.tools.toolbox import TOOLS_OF, Toolbox


class Kept:
    """Proposals in a list: a call proposes once."""

    def __init__(self):
        self.held = []

    def of_call(self, call_key):
        keys = [held.call_key for held in self.held]
        return keys.index(call_key) + 1 if call_key in keys else None

    async def propose(self, held):
        self.held.append(held)
        return len(self.held)


class Recorder:
    """A tool that gives what it is told to and remembers what it was given."""

    def __init__(self, name, gives=None, resumption=Resumption.UNKNOWN):
        self.name = name
        self.schema = function_schema(name, "", path=text(""))
        self.resumption = resumption
        self.gives = gives or ToolResult(text="done")
        self.ran = []

    async def run(self, context, arguments):
        self.ran.append(arguments)
        if isinstance(self.gives, BaseException):
            raise self.gives
        return self.gives

    def summary(self, arguments):
        return f"{self.name}: {arguments['path']}"


@pytest.fixture
def context(tmp_path):
    return CallContext(
        agent=AgentId("a1"),
        agent_name="One",
        memory_of=AgentId("a"),
        turn=TurnId("1"),
        hops=0,
        call_key="t:1:1:c",
        backed=True,
        tainted=False,
        workdir=tmp_path,
    )


def toolbox(*tools, role=Role.ROOT, outside=(), proposals=None, agents=None, confirm=Confirm.OUTSIDE):
    given = {tool.name: tool for tool in tools}
    at_hand = [given.get(name) or Recorder(name) for name in TOOLS_OF[Role.ROOT]]
    return Toolbox(
        role, at_hand, confirm=confirm, outside=outside, proposals=proposals or Kept(), agents=agents
    )


def test_each_role_has_its_tools_in_a_fixed_order():
    """Their schemas are the head of every cached prefix."""
    names = {role: [schema["name"] for schema in toolbox(role=role).schemas] for role in Role}

    own = ["zoom", "date", "shell", "read", "write", "edit"]
    schedules = ["schedule_set", "schedule_list", "schedule_remove"]
    assert names[Role.SUBAGENT] == own
    assert names[Role.CHILD] == [*own, "spawn", "tell", *schedules]
    assert names[Role.ROOT] == [
        *own,
        *("spawn", "agent_create", "tell", "image_show", "whatsapp_find", "whatsapp_send"),
        *("route", "unroute", "routes"),
        *schedules,
    ]
    assert names[Role.GROUP] == ["zoom", "date"]


@pytest.mark.parametrize("raw", ['{"path": "a', "null", "[1]", "{}", '{"path": 1}', '{"path": "a", "b": 1}'])
async def test_a_malformed_call_does_not_run_and_is_marked(context, raw):
    """The turn counts them: the fifth in a row ends it."""
    tool = Recorder("write")

    result = await toolbox(tool).run("write", raw, context)

    assert tool.ran == []
    assert result.malformed
    assert result.text.startswith("write was not run: ")
    assert "\n" not in result.text


@pytest.mark.parametrize("name", ["fly", "", "shell\n", "\ud83c", "spwan"])
async def test_an_unknown_tool_is_answered_with_those_that_there_are(context, name):
    result = await toolbox().run(name, "{}", context)

    assert result.malformed
    assert "The tools are zoom, date, shell, read, write, edit, spawn," in result.text
    assert "\n" not in result.text


async def test_a_group_agent_cannot_call_what_it_was_not_given(context):
    result = await toolbox(role=Role.GROUP).run("shell", '{"path": "a"}', context)

    assert result.malformed


async def test_a_fault_in_a_tool_becomes_a_line_and_its_stack_is_logged(context, capsys):
    result = await toolbox(Recorder("shell", RuntimeError("the user's words"))).run(
        "shell", '{"path": "a"}', context
    )

    assert result.text == "shell failed by a fault of its own: it is not known whether anything was done."
    logged = capsys.readouterr()
    assert "tool_failed" in logged.err + logged.out
    assert "the user's words" not in logged.err + logged.out


async def test_a_fault_in_a_tool_that_only_reads_did_nothing(context):
    tool = Recorder("read", RuntimeError(), Resumption.AGAIN)

    result = await toolbox(tool).run("read", '{"path": "a"}', context)

    assert result.text == "read failed by a fault of its own: nothing was done."


async def test_a_stop_goes_through(context):
    with pytest.raises(asyncio.CancelledError):
        await toolbox(Recorder("read", asyncio.CancelledError())).run("read", '{"path": "a"}', context)


async def test_what_a_tool_gives_is_clipped_and_cleaned_but_for_a_zoom(context):
    """A zoom has pages of its own, and a message on one is always whole."""
    long = ToolResult(text="\ud83c" + "a" * 50_000)
    tools = toolbox(Recorder("read", long), Recorder("zoom", long))

    read = await tools.run("read", '{"path": "a"}', context)
    zoom = await tools.run("zoom", '{"path": "a"}', context)

    assert len(read.text) <= 30_000
    assert "characters left out" in read.text
    assert zoom.text == "\ufffd" + "a" * 50_000


@pytest.mark.parametrize("name", ["shell", "write", "edit"])
async def test_what_needs_the_users_yes_does_not_run(context, name):
    tool = Recorder(name)
    unbacked = replace(context, backed=False)

    kept = Kept()
    held = await toolbox(tool, proposals=kept).run(name, '{"path": "a"}', unbacked)
    allowed = await toolbox(tool, outside=[name]).run(name, '{"path": "a"}', unbacked)

    assert "proposal 1" in held.text
    assert "in agent.toml" in held.text
    assert held.proposal == 1
    assert not held.malformed
    assert [(one.tool, one.arguments, one.call_key) for one in kept.held] == [
        (name, '{"path": "a"}', unbacked.call_key)
    ]
    assert allowed.text == "done"
    assert len(tool.ran) == 1


async def test_a_proposal_holds_what_would_run_and_where(context, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    kept = Kept()
    tools = toolbox(proposals=kept)

    await tools.run("write", '{"path": "old", "path": "link/\\ud83c a"}', replace(context, backed=False))

    (held,) = kept.held
    assert held.arguments == '{"path": "link/\ufffd a"}'
    assert held.workdir == str(tmp_path)
    assert held.target == str(tmp_path / "real" / "\ufffd a")
    assert await tools.target("write", held.arguments, tmp_path) == held.target


async def test_a_call_that_was_held_back_stays_so_whatever_the_settings_say_later(context):
    """The user may say yes to it: run as well, it would be done twice."""
    kept, tool = Kept(), Recorder("whatsapp_send", resumption=Resumption.SAME_KEY)
    always = toolbox(tool, proposals=kept, confirm=Confirm.ALWAYS)

    first = await always.run("whatsapp_send", '{"path": "a"}', context)
    again = await toolbox(tool, proposals=kept).run("whatsapp_send", '{"path": "a"}', context)

    assert first.proposal == again.proposal == 1
    assert len(kept.held) == 1
    assert tool.ran == []


async def test_nothing_runs_whose_proposal_cannot_be_kept(context):
    class Broken(Kept):
        async def propose(self, held):
            raise RuntimeError

    tool = Recorder("shell")

    result = await toolbox(tool, proposals=Broken()).run(
        "shell", '{"path": "a"}', replace(context, backed=False)
    )

    assert result.text == "shell failed by a fault of its own: nothing was done."
    assert tool.ran == []


async def test_what_the_user_said_yes_to_runs_without_being_asked_again(context):
    tool = Recorder("shell")
    tools = toolbox(tool, confirm=Confirm.ALWAYS)

    done = await tools.run_approved("shell", '{"path": "a"}', context)
    unknown = await tools.run_approved("fly", "{}", context)
    unfit = await tools.run_approved("shell", "{}", context)

    assert done.text == "done"
    assert tool.ran == [{"path": "a"}]
    assert unknown.failed
    assert unknown.outcome_known
    assert unfit.failed


async def test_the_files_of_every_agent_are_grave_and_a_folder_that_would_be_an_agent(context, tmp_path):
    """A turn with outside text in it must not write another agent's instructions, nor make a new agent."""
    agents = tmp_path / "agents"
    for name in ("One", "House"):
        (agents / name).mkdir(parents=True)
    (agents / "House" / "agent.toml").write_text("id = 1")
    (tmp_path / "hard").hardlink_to(agents / "House" / "agent.toml")
    tools = toolbox(Recorder("write"), agents=agents)
    tainted = replace(context, tainted=True)
    grave = ["House/instructions.md", "House/agent.toml", "New/agent.toml", "New/INSTRUCTIONS.md", "../hard"]
    grave += [
        "New/notes.md",
        "New/deeper/notes.md",
        f"{'N' * 300}/notes.md",
    ]  # a folder without agent.toml would end the next start

    for path in grave:
        result = await tools.run("write", f'{{"path": "agents/{path}"}}', replace(tainted, call_key=path))
        assert result.proposal is not None, path
    for path in ("agents/House/notes.md", "instructions.md", "agents/House/deeper/agent.toml"):
        result = await tools.run("write", f'{{"path": "{path}"}}', replace(tainted, call_key=path))
        assert result.text == "done", path


async def test_an_agents_own_files_are_known_however_the_path_is_spelled(context, tmp_path):
    """Through links, .., another name of the folder, and before the file exists."""
    folder = tmp_path / "agents" / "One"
    folder.mkdir(parents=True)
    (folder / "agent.toml").write_text("id = 1")
    (tmp_path / "link").symlink_to(folder / "instructions.md")
    (tmp_path / "folder").symlink_to(folder)
    (tmp_path / "hard").hardlink_to(folder / "agent.toml")
    tool = Recorder("write")
    kept = Kept()
    tainted = replace(context, tainted=True, protected=(folder / "instructions.md", folder / "agent.toml"))
    spellings = [
        "agents/One/instructions.md",
        str(folder / "agent.toml"),
        "agents/../agents/./One//agent.toml",
        "link",
        "folder/instructions.md",
        "hard",
        f"/proc/self/root{folder}/instructions.md",
    ]

    for number, spelling in enumerate(spellings, start=1):
        call = replace(tainted, call_key=f"t:1:{number}:1")
        result = await toolbox(tool, proposals=kept).run("write", f'{{"path": "{spelling}"}}', call)
        assert "instructions.md or agent.toml was not run" in result.text, spelling
    other = await toolbox(tool).run("write", '{"path": "agents/One/notes.md"}', tainted)

    assert other.text == "done"
    assert len(tool.ran) == 1


async def test_in_a_turn_of_the_user_an_agents_own_files_may_be_changed(context, tmp_path):
    protected = replace(context, protected=(tmp_path / "instructions.md",))

    result = await toolbox().run("edit", '{"path": "instructions.md"}', protected)

    assert result.text == "done"


def test_people_see_a_call_as_one_line():
    tools = toolbox()

    assert tools.summary("shell", '{"path": "ls\\n -la"}') == "shell: ls -la"
    assert tools.summary("shell", "nonsense") == "shell"
    assert tools.summary("fly", "{}") == "fly"


def test_what_an_interrupted_call_does_after_a_restart():
    tools = toolbox(Recorder("zoom", resumption=Resumption.AGAIN))

    assert tools.resumption("zoom") is Resumption.AGAIN
    assert tools.resumption("shell") is Resumption.UNKNOWN
    assert tools.resumption("fly") is Resumption.AGAIN


async def test_an_interrupted_call_that_could_only_propose_is_made_again(context):
    """It cannot have run, and its proposal must not be lost."""
    kept = Kept()
    tools = toolbox(proposals=kept, outside=["edit"])
    unbacked = replace(context, backed=False)
    await tools.run("shell", '{"path": "a"}', replace(unbacked, call_key="proposed"))

    assert tools.resumption("shell", unbacked) is Resumption.AGAIN
    assert tools.resumption("edit", unbacked) is Resumption.UNKNOWN
    assert tools.resumption("shell", context) is Resumption.UNKNOWN
    assert tools.resumption("shell", replace(context, call_key="proposed")) is Resumption.AGAIN


class Addressed(Recorder):
    """A tool that says more of its argument."""

    async def beside(self, arguments):
        return {"path": f"known as {arguments['path']}"}

    def pictures(self, arguments):
        return ["0123456789abcdef.png"]


@pytest.mark.parametrize(
    ("tool", "beside", "pictures"),
    [(Recorder, {}, ()), (Addressed, {"path": "known as x"}, ("0123456789abcdef.png",))],
)
async def test_what_a_tool_says_of_an_argument_is_kept_with_the_proposal(context, tool, beside, pictures):
    kept = Kept()
    box = Toolbox(Role.ROOT, [tool("whatsapp_send")], confirm=Confirm.ALWAYS, proposals=kept)

    await box.run("whatsapp_send", '{"path": "x"}', context)

    assert [(held.beside, held.pictures) for held in kept.held] == [(beside, pictures)]
