"""The agent service as group chats see it, and the owner's chat: what was handed over, asked and told."""

from collections.abc import Callable
from datetime import datetime

from onechat_telegram.groups.domain.addressing import Judgement
from onechat_telegram.groups.domain.ids import AgentId, ChatId, MessageKey, Source
from onechat_telegram.groups.ports import GroupAgent, GroupDelivery, ModelAway, Question

from tests.fakes.group_platform import Step, on_we_go


class GroupAgentsInMemory:
    """Keeps each group's log; judges by a rule of the test's. Fails on demand."""

    def __init__(self) -> None:
        self.agents: dict[Source, AgentId] = {}
        self.logs: dict[AgentId, list[GroupDelivery]] = {}
        self.kept: dict[str, list[GroupDelivery]] = {}
        self.asked: list[Question] = []
        self.meant: Callable[[str], bool] = lambda text: False
        self.model_away = False
        self.fails: Exception | None = None  #: raised by every call while it is set
        self.last_turn: datetime | None = None
        self.step: Step = on_we_go  #: called before each effect, and after those that a repeat could double
        self._resets: dict[MessageKey, str] = {}

    async def create(self, source: Source, title: str) -> AgentId:
        self._fail()
        agent = self.agents.setdefault(source, AgentId(f"agent-{len(self.agents) + 1}"))
        self.logs.setdefault(agent, [])
        return agent

    async def deliver(self, delivery: GroupDelivery) -> None:
        self._fail()
        if delivery.key not in {known.key for log in self._all() for known in log}:
            self.logs[delivery.agent].append(delivery)
        self.step()

    async def judge(self, question: Question) -> Judgement:
        self._fail()
        self.asked.append(question)
        if self.model_away:
            raise ModelAway
        return Judgement(mentions=self.meant(question.text))

    async def look(self, agent: AgentId) -> GroupAgent:
        self._fail()
        number = list(self.logs).index(agent) + 1
        return GroupAgent(
            id=agent, name=f"Group{number}", messages=len(self.logs[agent]), last_turn=self.last_turn
        )

    async def reset(self, agent: AgentId, request_id: MessageKey) -> str:
        self._fail()
        if request_id not in self._resets:
            name = self._resets[request_id] = f"kept-{len(self._resets) + 1}"
            self.kept[name], self.logs[agent] = self.logs[agent], []
        self.step()
        return self._resets[request_id]

    def log(self, source: str) -> list[GroupDelivery]:
        """What the agent of a group has been given since its memory began."""
        return self.logs[self.agents[Source(source)]]

    def answered(self, source: str) -> list[str]:
        """The last lines of what the agent of a group took a turn for."""
        return [each.text.splitlines()[-1] for each in self.log(source) if each.wakes]

    def _all(self) -> list[list[GroupDelivery]]:
        return [*self.logs.values(), *self.kept.values()]

    def _fail(self) -> None:
        self.step()
        if self.fails is not None:
            raise self.fails


class OwnerInMemory:
    """The owner's chat: what was asked and told, once for each key."""

    def __init__(self) -> None:
        self.asked: dict[MessageKey, ChatId] = {}
        self.told: dict[MessageKey, str] = {}

    async def ask(self, key: MessageKey, chat: ChatId, title: str) -> None:
        self.asked.setdefault(key, chat)

    async def tell(self, key: MessageKey, text: str) -> None:
        self.told.setdefault(key, text)
