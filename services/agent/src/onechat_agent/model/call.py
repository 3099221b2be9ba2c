"""One attempt at a model call over the network, with the `openai` package.

Importing that package takes two seconds, so it is loaded at first use or by `warm_up`, in a thread.
Retries: none here (retry.py). How a request looks on the wire: wire.py; how an answer is read: stream.py.
All times are seconds.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from onechat_runtime import logs

from onechat_agent.model.endpoint import Endpoint
from onechat_agent.model.failures import ModelFailure, Trouble, Unreachable
from onechat_agent.model.items import ModelAnswer, ModelRequest
from onechat_agent.model.stream import AnswerReader
from onechat_agent.model.verdict import Refusal, failed, retry_after_s, verdict
from onechat_agent.model.wire import Body, request_body

if TYPE_CHECKING:
    import openai

READ_TIMEOUT_S: Final = 60.0  # between two bytes of an answer
CONNECT_TIMEOUT_S: Final = 10.0
CALL_TIMEOUT_S: Final = 1200.0  # 16,000 tokens at a slow 15 a second
DRAIN_S: Final = 0.5  # for the end of a stream after its last event, so that the connection is used again
_LIBRARY_LOGS: Final = ("openai", "httpx2", "httpcore2", "httpx", "httpcore")  # at debug they show requests

log = logs.get("onechat.agent")

OnText = Callable[[int, str], None]  #: called with where a piece begins, in characters, and the piece
OnStart = Callable[[], None]  #: called once, when the answer's first part has come


class ModelClient:
    """Speaks to one endpoint. Calls may run side by side; each is its own stream."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        read_timeout_s: float = READ_TIMEOUT_S,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        call_timeout_s: float = CALL_TIMEOUT_S,
    ) -> None:
        self.endpoint = endpoint
        self._read_timeout_s = read_timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._call_timeout_s = call_timeout_s
        self._client: openai.AsyncOpenAI | None = None
        self._loading = asyncio.Lock()

    async def warm_up(self) -> None:
        """Load what the first call needs, off the event loop; needs no network, and raises nothing."""
        with suppress(ModelFailure):  # the first call says so again
            await self._ready()

    async def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def respond(
        self, request: ModelRequest, on_text: OnText, on_start: OnStart = lambda: None
    ) -> ModelAnswer:
        """The model's answer to `request`; text is passed to `on_text` as it comes.

        `on_start` is told once the model has read the request: with the first event of the answer itself,
        thoughts among them. Raises ModelFailure. When cancelled, it closes the stream and ends at once.
        """
        client = await self._ready()
        body = request_body(request, self.endpoint)
        reader = AnswerReader(body=body, endpoint=self.endpoint)
        deadline = asyncio.timeout(self._call_timeout_s)
        try:
            async with deadline:
                await self._read(client, body, reader, on_text, on_start)
        except TimeoutError:
            if deadline.expired():
                raise Unreachable(Trouble.SLOW, code="call_timeout") from None
            raise
        return reader.answer()

    async def _read(
        self,
        client: "openai.AsyncOpenAI",
        body: Body,
        reader: AnswerReader,
        on_text: OnText,
        on_start: OnStart,
    ) -> None:
        """Feed `reader` until its terminal event or the stream's end."""
        try:
            stream = await opened(client, body)
        except Exception as error:  # noqa: BLE001 whatever the library raises, the call gave no answer
            raise self._failure(error, body) from None
        try:
            events = aiter(stream)
            while not reader.over and (event := await self._next(events, body)) is not None:
                offset, started = reader.streamed, reader.started
                piece = reader.take(event)
                if reader.started and not started:
                    on_start()
                if piece:
                    on_text(offset, piece)
            await _drain(events)
        finally:
            await stream.close()

    async def _next(self, events: AsyncIterator[Any], body: Body) -> Any | None:
        """The next event; None at the stream's end."""
        try:
            return await anext(events)
        except StopAsyncIteration:
            return None
        except Exception as error:  # noqa: BLE001 malformed events raise what their parser raises
            raise self._failure(error, body) from None

    def _failure(self, error: Exception, body: Body) -> ModelFailure:
        """What an error of the library means; everything it does not name itself is a broken stream."""
        import openai

        if isinstance(error, openai.APITimeoutError):
            return Unreachable(Trouble.SLOW)
        if isinstance(error, openai.APIConnectionError):
            return Unreachable(Trouble.NETWORK)
        if isinstance(error, openai.APIStatusError):
            refusal = Refusal(
                status=error.status_code,
                code=str(error.code or ""),
                kind=str(error.type or ""),
                param=str(error.param or ""),
                words=str(error.message),
                retry_after_s=retry_after_s(error.response.headers),
            )
            return verdict(refusal, body=body, endpoint=self.endpoint)
        if isinstance(error, openai.APIError) and not isinstance(error, openai.APIResponseValidationError):
            code = str(error.code or error.type or "")
            return failed(code, error.message, body=body, endpoint=self.endpoint)
        return Unreachable(Trouble.BROKEN, code="malformed_stream")

    async def _ready(self) -> "openai.AsyncOpenAI":
        async with self._loading:
            if self._client is None:
                try:
                    self._client = await asyncio.to_thread(self._load)
                except Exception as error:  # noqa: BLE001 such as a proxy in the environment that is no address
                    log.warning("model_client_not_made", stack=logs.stack_of(error))
                    raise Unreachable(Trouble.NETWORK, code="client_not_made") from None
            return self._client

    def _load(self) -> "openai.AsyncOpenAI":
        import openai

        from onechat_agent.model.rehearsal import rehearse

        for name in _LIBRARY_LOGS:
            logging.getLogger(name).setLevel(logging.WARNING)
        rehearse()
        key = (
            self.endpoint.api_key.reveal() if self.endpoint.api_key else "none"
        )  # the package wants some key
        return openai.AsyncOpenAI(
            api_key=key,
            base_url=self.endpoint.base_url,
            max_retries=0,
            timeout=openai.Timeout(self._read_timeout_s, connect=self._connect_timeout_s),
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False, verify=self._authorities())
            if self.endpoint.is_loopback
            else None,
        )

    def _authorities(self) -> ssl.SSLContext | bool:
        """Whom TLS trusts; nobody where the server has none, as reading all takes 50 ms of a processor."""
        if self.endpoint.base_url.startswith("http:"):
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return True


async def opened(client: "openai.AsyncOpenAI", body: Body) -> "openai.AsyncStream[object]":
    """The answer to `body` as a stream of its events, plain JSON. Raises what the package raises.

    Past the package's own method: that looks through named parameters, which holds the event loop for 15 to
    120 ms, and makes an object of its types of each event, which takes most of a millisecond. Neither changes
    anything of ours.
    """
    import openai

    return await client.post(
        "/responses",
        body={"stream": True, **body},
        cast_to=object,
        stream=True,
        stream_cls=openai.AsyncStream[object],
    )


async def _drain(events: AsyncIterator[Any]) -> None:
    """Read what is left of a stream, nothing as a rule; errors no longer matter."""
    try:
        async with asyncio.timeout(DRAIN_S):
            async for _ in events:
                pass
    except Exception:  # noqa: BLE001 the answer is whole; a connection that is not can only be closed
        return
