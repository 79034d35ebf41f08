"""Live events over the WebSocket, each once and in order, through drops and restarts. Needs ``websockets`` 10.4 or later."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import logging
from typing import Any, AsyncIterator, Dict, Optional, Sequence, cast
from urllib.parse import urlencode

from .credentials import choose_credentials
from .errors import OracleError, ServiceProblem, TransportError, parse_problem
from .login import WalletLogin
from .responses import Event
from .transport import Transport

_LOG = logging.getLogger(__name__)
_TOKEN_ENDED = 4001
#: Too many messages, and a balance below the Basic tier: another connection would end the same way.
_FINAL_CLOSE_CODES = (1008, 4003)
_TRY_LATER = 1013
_OVERLOAD_SECONDS = 30.0
_PING_SECONDS = 30
#: A loop that is left with unread events holds the closing handshake up.
_CLOSE_SECONDS = 1


class StreamEnded(OracleError):
    """The service has closed the connection for good; ``code`` is the close code (docs/EVENTS.md)."""

    def __init__(self, code: Optional[int], reason: str) -> None:
        self.code = code
        super().__init__(f"The connection was closed with {code}: {reason}")


class EventStream:
    """Events of one subscription: ``async for event in stream``. One loop at a time.

    ``since`` is the ``id`` of the last event that you have, 0 for everything that is kept; None starts with new events.
    Store the ``id`` of an event with what you do with it, and pass it as ``since`` after a restart: nothing is lost or
    done twice. ``events`` and ``horizons`` are those of docs/EVENTS.md; without them every kind, of the 7-day forecast.
    With ``move_size``, such as ``["WILD"]``, of ``signal.new`` only those whose size has changed to one of these, by
    default of the 1-day forecast.
    Events older than 90 days are deleted: a gap is logged as a warning, and ``gap`` has its ``from`` and ``to``.
    """

    def __init__(
        self,
        base_url: str,
        login: Optional[WalletLogin] = None,
        *,
        api_key: Optional[str] = None,
        since: Optional[int] = None,
        events: Optional[Sequence[str]] = None,
        horizons: Optional[Sequence[str]] = None,
        move_size: Optional[Sequence[str]] = None,
        reconnect_seconds: float = 5.0,
    ) -> None:
        """Raises ImportError where ``websockets`` is not installed, ValueError without a login or key."""
        credentials = choose_credentials(login, api_key)
        if credentials is None:
            raise ValueError("EventStream needs a login or an api_key")
        self._credentials = credentials
        self.last_id = since
        self.gap: Optional[Dict[str, Any]] = None
        self._base_url = "ws" + Transport(base_url).base_url[len("http") :]
        self._filters = {"events": events, "horizons": horizons, "moveSize": move_size}
        self._reconnect_seconds = reconnect_seconds
        self._websockets = _load_websockets()

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Yields events without end. Raises StreamEnded, and ServiceProblem where another try would be rejected too."""
        while True:
            token: Optional[str] = None
            wait = self._reconnect_seconds
            try:
                token = await self._token()
                async with self._connect(token) as socket:
                    async for text in socket:
                        event = await self._take(socket, json.loads(text))
                        if event is not None:
                            yield event
            except (OSError, asyncio.TimeoutError, TransportError) as error:
                _LOG.info("connection lost: %s", error)
            except ServiceProblem as problem:
                wait = max(wait, _require_retryable(problem))
            except self._websockets.WebSocketException as error:
                wait = max(wait, self._require_transient(error, token))
            await asyncio.sleep(wait)

    def _connect(self, token: str) -> Any:
        given = {name: ",".join(values) for name, values in self._filters.items() if values is not None}
        since = {} if self.last_id is None else {"since": str(self.last_id)}
        query = urlencode({**given, **since})
        connect = self._websockets.connect
        # Renamed with version 14.
        is_new = "additional_headers" in inspect.signature(connect.__init__).parameters
        headers = {"additional_headers" if is_new else "extra_headers": {"Authorization": f"Bearer {token}"}}
        pings = {"ping_interval": _PING_SECONDS, "ping_timeout": _PING_SECONDS}
        return connect(f"{self._base_url}/ws/signal?{query}", close_timeout=_CLOSE_SECONDS, **pings, **headers)

    async def _take(self, socket: Any, message: Dict[str, Any]) -> Optional[Event]:
        """An event; None for a message about the connection, which is handled here."""
        kind, data = message["type"], message["data"]
        if "id" in message:
            self.last_id = message["id"]
            return cast(Event, message)
        if kind == "connected" and self.last_id is None:
            # From here on, also when the connection drops before the first event.
            self.last_id = data["lastEventId"]
        elif kind == "token.expiring" and isinstance(self._credentials, WalletLogin):
            await socket.send(json.dumps({"type": "authenticate", "data": {"token": await self._token()}}))
        elif kind == "replay.gap":
            self.gap = data
            _LOG.warning("events %s to %s are no longer kept", data.get("from"), data.get("to"))
        elif kind == "error":
            _LOG.warning("message rejected: %s", data)
        return None

    async def _token(self) -> str:
        return await asyncio.get_running_loop().run_in_executor(None, self._credentials.token)

    def _require_transient(self, error: Any, token: Optional[str]) -> float:
        """Seconds to wait at least. Raises StreamEnded or ServiceProblem for an end that another connection would have too."""
        close, problem = getattr(error, "rcvd", None), _handshake_problem(error)
        code: Optional[int] = getattr(close, "code", None)
        if code in _FINAL_CLOSE_CODES:
            raise StreamEnded(code, getattr(close, "reason", "")) from error
        if token is not None and (code == _TOKEN_ENDED or (problem is not None and problem.status == 401)):
            if not self._credentials.forget(token):
                raise problem or StreamEnded(code, getattr(close, "reason", "")) from error
        elif problem is not None and problem.status != 429 and problem.status < 500:
            raise problem from error
        _LOG.info("connection lost: %s", error)
        if problem is not None:
            return problem.retry_after or 0.0
        return _OVERLOAD_SECONDS if code == _TRY_LATER else 0.0


def _handshake_problem(error: Any) -> Optional[ServiceProblem]:
    """The response to a rejected handshake; versions of the library before 14 do not keep its body."""
    response = getattr(error, "response", error)
    status = getattr(response, "status_code", None)
    if status is None:
        return None
    return parse_problem(status, getattr(response, "body", None) or b"", response.headers.get("Retry-After"))


def _require_retryable(problem: ServiceProblem) -> float:
    """Seconds to wait at least. Raises the problem of a login that would be rejected again."""
    if not problem.retryable:
        raise problem
    _LOG.info("login: %s", problem)
    return problem.retry_after or 0.0


def _load_websockets() -> Any:
    try:
        return importlib.import_module("websockets")
    except ImportError as error:
        raise ImportError("EventStream needs websockets: pip install 'bitcoin-signal-oracle[stream]'") from error
