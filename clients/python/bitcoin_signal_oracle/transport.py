"""One HTTP request by the standard library: with a time limit, of bounded size, without redirects."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any, Mapping, Optional
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .errors import TransportError, parse_problem

_CHUNK_BYTES = 65_536
_MAX_PROBLEM_BYTES = 65_536
_USER_AGENT = "bitcoin-signal-oracle-python"


class _NoRedirects(HTTPRedirectHandler):
    """urllib would send ``Authorization`` to the host of the redirect."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


@dataclass(frozen=True)
class Reply:
    """A response of any status. Names of ``headers`` are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> dict[str, Any]:
        """The JSON object of a 2xx response. Raises ServiceProblem for another status, TransportError for other content."""
        if not 200 <= self.status < 300:
            raise parse_problem(self.status, self.content, self.headers.get("retry-after"))
        try:
            value = json.loads(self.content)
        except ValueError as error:
            raise TransportError("The response is not JSON: is this the address of the service?") from error
        if not isinstance(value, dict):
            raise TransportError("The response is not a JSON object: is this the address of the service?")
        return value


class Transport:
    """Requests of one service. ``timeout`` limits connecting, each wait, and reading the body, in seconds; ``max_bytes`` the body."""

    def __init__(self, base_url: str, timeout: float = 10.0, max_bytes: int = 16_000_000) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
            raise ValueError(f"base_url must be an http or https URL such as https://oracle.example.org, not {base_url!r}")
        self.base_url = base_url.rstrip("/")
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._opener = build_opener(_NoRedirects)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Optional[object]]] = None,
        body: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Reply:
        """Sends one request; query parameters that are None are left out. Raises TransportError without a response."""
        url = self.base_url + path + _query_string(query or {})
        sent = {"Accept": "application/json", "User-Agent": _USER_AGENT, **(headers or {})}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        deadline = time.monotonic() + self._timeout
        try:
            return self._exchange(Request(url, data=data, headers=sent, method=method), deadline)
        except (OSError, http.client.HTTPException) as error:
            raise TransportError(f"{method} {path} at {self.base_url} failed: {_reason(error)}") from error

    def _exchange(self, request: Request, deadline: float) -> Reply:
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return Reply(response.status, _lower_names(response.headers), _read(response, self._max_bytes, deadline))
        except HTTPError as error:
            with error:
                return Reply(error.code, _lower_names(error.headers), _read(error, _MAX_PROBLEM_BYTES, deadline))


def _query_string(query: Mapping[str, Optional[object]]) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _lower_names(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _read(response: Any, max_bytes: int, deadline: float) -> bytes:
    """The body. The timeout of a socket restarts with each byte, so that the whole has a deadline besides."""
    chunks: list[bytes] = []
    size = 0
    while chunk := response.read1(_CHUNK_BYTES) if hasattr(response, "read1") else response.read(_CHUNK_BYTES):
        size += len(chunk)
        if size > max_bytes:
            raise TransportError(f"The response has more than {max_bytes} bytes: raise max_bytes, or ask for less")
        if time.monotonic() > deadline:
            raise TransportError("The response took longer than the timeout: raise timeout, or ask for less")
        chunks.append(chunk)
    return b"".join(chunks)


def _reason(error: Exception) -> object:
    return error.reason if isinstance(error, URLError) else error
