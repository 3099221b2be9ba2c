"""The root's map from a source to the child that gets what comes from it.

What is routed enters that child's log alone, and wakes it. A route stays when its child is gone: it is the
user's to take away, and the root gets what comes. A chat that has got another id is found by the old one
too, which the root may have in its log. Who gets a delivery: queue.py. What can be a source:
domain/routes.py. What the root is told of it: tools/routes.py.
"""

import json
from collections.abc import Callable

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.request_ids import once
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_rows, route_rows
from onechat_agent.domain.agent import Role
from onechat_agent.domain.routes import Changed, RouteRefused, source_fault
from onechat_agent.patience import committed


class Routes:
    """All routes. What was queued before a change stays where it is."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def all(self) -> list[tuple[str, str, bool]]:
        """Every route, by source: (source, the child's name, whether that child is there)."""
        return self._store.read(route_rows.every)

    async def set(self, source: str, name: str, *, request_id: str) -> Changed:
        """From now on the child of that name gets what comes from `source`.

        The same `request_id` changes nothing and gives the first answer. Raises RouteRefused.
        """
        if (fault := source_fault(source)) is not None:
            raise RouteRefused(fault)

        def change(db: apsw.Connection, in_use: str) -> str:
            child = agent_rows.named(db, name)
            if child is None or child.role is not Role.CHILD:
                names = ", ".join(one.name for one in agent_rows.of_role(db, Role.CHILD))
                raise RouteRefused(f"no child has that name; there is {names or 'none yet'}")
            route_rows.put(db, in_use, child.id, self._clock.now())
            return child.name

        return await self._change(source, f"route\0{source}\0{name}", request_id, change)

    async def remove(self, source: str, *, request_id: str) -> Changed:
        """From now on the root gets what comes from `source`; nothing else changes where it did before."""

        def change(db: apsw.Connection, in_use: str) -> str:
            route_rows.remove(db, in_use)
            return ""

        return await self._change(source, f"unroute\0{source}", request_id, change)

    async def _change(
        self, source: str, body: str, request_id: str, change: Callable[[apsw.Connection, str], str]
    ) -> Changed:
        def job(db: apsw.Connection) -> bytes:
            def answer() -> bytes:
                in_use = route_rows.in_use(db, source)
                before = route_rows.route(db, in_use)
                name = "" if before is None else agent_rows.name_of(db, before)
                return json.dumps([name, change(db, in_use), in_use]).encode()

            now = self._clock.now()
            return once(db, request_id=request_id, body=body.encode(), now=now, answer=answer)

        before, after, *rest = json.loads(await committed(self._store, self._clock, job))
        # An answer that was kept before there were two ids for a chat has none.
        return Changed(before=before, now=after, source=rest[0] if rest else source)
