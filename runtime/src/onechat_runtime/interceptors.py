"""The one door of a server: who calls, how long it may take, what errors become, what is logged and counted.

Every rpc runs inside Gate's `_at_work`. A handler's ServiceError becomes its status, another service that is
away becomes UNAVAILABLE; any other exception becomes INTERNAL without its text, with its stack in the log.
Times are seconds. The other end: channels.py.
"""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import grpc
import grpc.aio
from google.rpc import status_pb2
from grpc_status import rpc_status

from onechat_runtime import logs
from onechat_runtime.errors import (
    Bug,
    CallerNotAllowed,
    CallTooLong,
    NeighbourAway,
    RemoteError,
    ServiceEnding,
    ServiceError,
    TokenMissing,
    TokenUnknown,
    retriable,
)
from onechat_runtime.metrics import RPC_SECONDS, RPCS, RPCS_AT_WORK
from onechat_runtime.tokens import HEADER, Callers, caller_at_work

_BEARER: Final = "bearer "
_NOBODY: Final = "-"  # the caller of an rpc that needs no token

_Context: TypeAlias = Any  # grpc.aio.ServicerContext, which has no types
_Continuation = Callable[[grpc.HandlerCallDetails], Awaitable[Any]]

log = logs.get("onechat.rpc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What holds for one rpc."""

    allow: frozenset[str] | None  #: who may call; None: anybody, without a token
    cap_s: float | None = None  #: how long a call without a deadline may take; None: as long as it likes
    ends_at_drain: bool = False  #: it is ended when the service ends, for it would not end by itself
    quiet: bool = False  #: neither logged nor counted


class Gate(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Applies `rules` (by full method name) to every rpc; one without a rule is refused."""

    def __init__(self, *, name: str, rules: Mapping[str, Rule], callers: Callers) -> None:
        self._domain = f"{name}.onechat"
        self._rules = rules
        self._callers = callers
        self._ended_at_drain: set[asyncio.Timeout] = set()
        self._draining = False
        self._wrapped: dict[str, tuple[object, Any]] = {}

    def drain(self) -> None:
        """End the calls that would not end by themselves, with UNAVAILABLE: their callers call again."""
        self._draining = True
        now = asyncio.get_running_loop().time()
        for limit in self._ended_at_drain:
            limit.reschedule(now)

    async def intercept_service(
        self, continuation: _Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Any:
        """The handler of the rpc, wrapped; None when there is no such rpc."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        method = handler_call_details.method
        known = self._wrapped.get(method)
        if known is None or known[0] is not handler:
            known = (handler, self._wrap(method, handler))
            self._wrapped[method] = known
        return known[1]

    def _wrap(self, method: str, handler: Any) -> Any:
        rule = self._rules.get(method, Rule(allow=frozenset()))
        name = method.rpartition(".")[2]
        serve = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
        yields = inspect.isasyncgenfunction(serve)

        async def answer(request: Any, context: _Context) -> Any:
            async with self._at_work(name, rule, context):
                if not yields:
                    return await serve(request, context)
                # Written here, not yielded on, so that the handler's stream is closed in this very task.
                responses = serve(request, context)
                try:
                    async for response in responses:
                        await context.write(response)
                finally:
                    await responses.aclose()
                return None

        kind = {
            (False, False): grpc.unary_unary_rpc_method_handler,
            (False, True): grpc.unary_stream_rpc_method_handler,
            (True, False): grpc.stream_unary_rpc_method_handler,
            (True, True): grpc.stream_stream_rpc_method_handler,
        }[(handler.request_streaming, handler.response_streaming)]
        make: Any = kind
        return make(answer, handler.request_deserializer, handler.response_serializer)

    @asynccontextmanager
    async def _at_work(self, rpc: str, rule: Rule, context: _Context) -> AsyncIterator[None]:
        started = time.monotonic()
        outcome = _Outcome()
        RPCS_AT_WORK.inc()
        try:
            self._admit(rule, context, outcome)
            caller_at_work.set(outcome.caller)
            async with self._limited(rule, context):
                yield
        except grpc.aio.AbortError:
            outcome.code = _code_of(context)
            raise
        except asyncio.CancelledError:
            outcome.code = grpc.StatusCode.CANCELLED
            raise
        except ServiceError as error:
            await self._abort(context, outcome, error)
        except Exception as error:  # noqa: BLE001 - the boundary: whatever it is, its text stays here
            if isinstance(error, RemoteError) and retriable(error.code):
                refusal: ServiceError = NeighbourAway(retry_after_s=error.retry_after_s)
            else:
                log.error("rpc_failed", rpc=rpc, stack=logs.stack_of(error))
                refusal = Bug()
            await self._abort(context, outcome, refusal)
        finally:
            RPCS_AT_WORK.dec()
            if not rule.quiet:
                _note(rpc, outcome, time.monotonic() - started)

    def _admit(self, rule: Rule, context: _Context, outcome: "_Outcome") -> None:
        """Note who calls; raises when nobody we know does, or one who may not."""
        if rule.allow is None:
            return
        token = _token_in(context)
        if token is None:
            raise TokenMissing()
        caller = self._callers.who(token)
        if caller is None:
            raise TokenUnknown()
        outcome.caller = caller
        if caller not in rule.allow:
            raise CallerNotAllowed(caller=caller)

    @asynccontextmanager
    async def _limited(self, rule: Rule, context: _Context) -> AsyncIterator[None]:
        """End the call at the cap, if its caller gave no deadline, or when the service ends."""
        cap_s = rule.cap_s if context.time_remaining() is None else None
        limit = asyncio.timeout(0 if rule.ends_at_drain and self._draining else cap_s)
        if rule.ends_at_drain:
            self._ended_at_drain.add(limit)
        try:
            async with limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise  # the handler's own
            if rule.ends_at_drain and self._draining:
                raise ServiceEnding() from None
            raise CallTooLong(
                f"The call had no deadline and took over {cap_s:g} s: pass one that is longer."
            ) from None
        finally:
            self._ended_at_drain.discard(limit)

    async def _abort(self, context: _Context, outcome: "_Outcome", error: ServiceError) -> None:
        outcome.code, outcome.reason = error.code, error.reason
        await abort_with(context, error.to_status(self._domain))


async def abort_with(context: _Context, status: status_pb2.Status) -> None:
    """End the rpc with `status`, its details in the trailing metadata; always raises."""
    made: Any = rpc_status.to_status(status)
    await context.abort(made.code, made.details, made.trailing_metadata)


@dataclass(slots=True)
class _Outcome:
    caller: str = _NOBODY
    code: grpc.StatusCode = grpc.StatusCode.OK
    reason: str = ""


def _note(rpc: str, outcome: _Outcome, seconds: float) -> None:
    RPCS.labels(rpc, outcome.caller, outcome.code.name).inc()
    RPC_SECONDS.labels(rpc).observe(seconds)
    about = {"reason": outcome.reason} if outcome.reason else {}
    log.info("rpc", rpc=rpc, caller=outcome.caller, code=outcome.code.name, took_s=round(seconds, 4), **about)


def _code_of(context: _Context) -> grpc.StatusCode:
    code: Any = context.code()
    if isinstance(code, grpc.StatusCode):
        return code
    return next((one for one in grpc.StatusCode if one.value[0] == code), grpc.StatusCode.UNKNOWN)


def _token_in(context: _Context) -> str | None:
    """The bearer token of the rpc's metadata; metadata of others may hold anything, also bytes."""
    for key, value in context.invocation_metadata() or ():
        if key == HEADER:
            text = value if isinstance(value, str) else bytes(value).decode("ascii", "replace")
            if text[: len(_BEARER)].lower() == _BEARER:
                return text[len(_BEARER) :].strip()
    return None
