"""Puts the agent service together: which model answers, which tools the root has, what turns work with."""

import os
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from onechat_runtime.clock import Clock
from onechat_runtime.errors import StartRefused
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store

from onechat_agent import sentences
from onechat_agent.adapters import usage_rows
from onechat_agent.adapters.agent_folder import SETTINGS_FILE, AgentFolder
from onechat_agent.adapters.demo_model import DemoModel, demo_model
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.config import EFFORTS, AgentSettings
from onechat_agent.domain.consent import Confirm
from onechat_agent.model.call import ModelClient
from onechat_agent.model.endpoint import Endpoint
from onechat_agent.prompts.state import state_block
from onechat_agent.prompts.system import Head, root_prompt
from onechat_agent.seat import Seat
from onechat_agent.tools.fence import Fence
from onechat_agent.tools.files import EditTool, ReadTool, WriteTool
from onechat_agent.tools.landlock import landlock_version
from onechat_agent.tools.memory import DateTool, ZoomTool
from onechat_agent.tools.shell import ShellTool
from onechat_agent.tools.toolbox import Role, Toolbox

DEMO_MODEL = "demo"
_OURS = ("OPENAI_", "TELEGRAM_", "ONECHAT_")  # whose _FILE variables name files with secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAtHand:
    """The model that answers, and the names that records and nodes carry."""

    client: ModelClient
    model: str
    compact_model: str | None  #: None: the one of turns
    demo: DemoModel | None = None


@asynccontextmanager
async def model_at_hand(
    settings: AgentSettings, store: Store, clock: Clock, board: HealthBoard
) -> AsyncIterator[ModelAtHand]:
    """The model of the settings; without a key or another server the demo model, as a child.

    Raises StartRefused where rules would go on with a memory that a real model has written.
    """
    async with AsyncExitStack() as stack:
        if settings.wants_demo:
            if not settings.demo and store.read(lambda db: usage_rows.other_model_than(db, DEMO_MODEL)):
                raise StartRefused(sentences.DEMO_REFUSED)
            demo = await stack.enter_async_context(demo_model(clock))
            board.remark("demo", sentences.DEMO_ANSWERS)
            client = ModelClient(Endpoint.of(url=demo.address, api_key=None))
            found = ModelAtHand(client=client, model=DEMO_MODEL, compact_model=DEMO_MODEL, demo=demo)
        else:
            try:
                endpoint = Endpoint.of(
                    url=settings.base_url, api_key=settings.api_key, lacking=settings.lacks
                )
            except ValueError as error:
                raise StartRefused(str(error)) from None
            found = ModelAtHand(
                client=ModelClient(endpoint),
                model=settings.model,
                compact_model=settings.compact_model,
            )
        stack.push_async_callback(found.client.close)
        yield found


def fence(settings: AgentSettings) -> Fence:
    """What no tool may touch: every service's data, the tokens, .env, files that hold secrets."""
    closed = [settings.data, Path(".env"), settings.token_file, settings.callers_file]
    closed += [
        Path(value)
        for name, value in os.environ.items()
        if value and name.startswith(_OURS) and name.endswith("_FILE")
    ]
    return Fence(
        closed=tuple(path.absolute() for path in closed if path is not None),
        agent_folders=(settings.agents_folder.absolute(),),
    )


def root_seat(
    settings: AgentSettings,
    folder: AgentFolder,
    model: ModelAtHand,
    memory: MemoryClient,
    clock: Clock,
    zone: str,
    board: HealthBoard,
) -> Seat:
    """The root with its tools and its words."""
    if folder.effort is not None and folder.effort not in EFFORTS:
        raise StartRefused(
            f"{folder.path / SETTINGS_FILE} cannot be used: effort is one of {', '.join(EFFORTS)}. "
            "Mend it and start again."
        )
    turn_model = DEMO_MODEL if model.demo else folder.model or model.model
    landlock = landlock_version()
    if not landlock:
        board.remark("landlock", sentences.NO_LANDLOCK)
    closed = fence(settings)
    toolbox = Toolbox(
        Role.ROOT,
        [
            ZoomTool(memory),
            DateTool(memory, zone),
            ShellTool(closed, environ=os.environ, clock=clock, landlock=landlock),
            ReadTool(closed),
            WriteTool(closed),
            EditTool(closed),
        ],
        confirm=Confirm(settings.confirm),
        outside=folder.outside,
    )
    workdir = (folder.workdir or settings.workdir).absolute()

    def system() -> str:
        return root_prompt(
            Head(
                name=settings.name,
                instructions_file=folder.instructions.absolute(),
                instructions=folder.instructions_text(),
                tools=_names(toolbox),
            )
        )

    def state(now: datetime) -> str:
        return state_block(now, zone=zone, workdir=workdir)

    return Seat(
        id=folder.id,
        name=settings.name,
        limits=folder.limits,
        model=turn_model,
        compact_model=model.compact_model or turn_model,
        effort=folder.effort or settings.effort,
        workdir=workdir,
        protected=tuple(path.absolute() for path in folder.protected),
        toolbox=toolbox,
        system=system,
        state=state,
    )


def make_workdir(settings: AgentSettings, folder: AgentFolder) -> None:
    """The working directory, made where it is missing. Raises StartRefused."""
    workdir = folder.workdir or settings.workdir
    try:
        workdir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartRefused(
            f"The working directory {workdir} cannot be made: {error.strerror}. Set ONECHAT_WORKDIR."
        ) from None
    if fence(settings).refuses(workdir.resolve()):
        raise StartRefused(
            f"The working directory {workdir} lies in the services' data, which is closed to tools. "
            "Set ONECHAT_WORKDIR to another folder."
        )


def _names(toolbox: Toolbox) -> Sequence[str]:
    return [str(schema["name"]) for schema in toolbox.schemas]


def chance() -> random.Random:
    """The one source of chance of the running service; tests bring their own."""
    return random.Random(os.urandom(16))  # noqa: S311 - it spreads retries; nothing secret hangs on it
