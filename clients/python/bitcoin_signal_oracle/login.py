"""Login of a wallet by a signature, and a token that is renewed before it expires."""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional

from .errors import ServiceProblem, TransportError
from .transport import Reply, Transport

#: Signs a text by EIP-191 (``personal_sign``) and returns ``0x`` and the hexadecimal signature.
Sign = Callable[[str], str]

#: The service announces the end of a token a minute before: then there must be a new one already.
_RENEW_BEFORE_SECONDS = 90.0
_ATTEMPTS = 3
_SPREAD_MS = 1_000


@dataclass(frozen=True)
class Session:
    """A token of 30 minutes. ``expires_at`` is ISO 8601, ``expires_in`` seconds from the login."""

    token: str
    tier: str
    wallet: str
    expires_at: str
    expires_in: float

    def __repr__(self) -> str:
        """Without the token, which must not get into logs."""
        return f"Session(tier={self.tier!r}, wallet={self.wallet!r}, expires_at={self.expires_at!r})"


class WalletLogin:
    """Sessions of one wallet at one service. Safe to share between threads.

    ``sign`` receives ``Verify svc balance: <wallet>:<timestamp>``. That text names no service: a service that receives
    the signature can log in with it elsewhere for 5 minutes, so log in at services that you trust.
    """

    def __init__(self, base_url: str, wallet: str, sign: Sign, *, timeout: float = 10.0) -> None:
        self._transport = Transport(base_url, timeout)
        self._wallet = wallet
        self._sign = sign
        self._lock = threading.Lock()
        self._session: Optional[Session] = None
        self._renew_at = 0.0
        self._last_timestamp = 0

    def session(self) -> Session:
        """The session; logs in where there is none, or where it ends within 90 seconds.

        Raises ServiceProblem ``TIER_REQUIRED`` for a wallet below the Basic tier, ``UNAUTHENTICATED`` for a wrong
        signature or clock.
        """
        with self._lock:
            if self._session is None or time.monotonic() >= self._renew_at:
                self._session = self._log_in()
                self._renew_at = time.monotonic() + self._session.expires_in - _RENEW_BEFORE_SECONDS
            return self._session

    def token(self) -> str:
        """The token of ``session``."""
        return self.session().token

    def forget(self, token: str) -> bool:
        """Drops a token that the service has rejected, unless another thread has renewed it already. True: there can be a new one."""
        with self._lock:
            if self._session is not None and self._session.token == token:
                self._session = None
        return True

    def authorized(
        self, transport: Transport, method: str, path: str, *, query: Optional[Mapping[str, Optional[object]]] = None
    ) -> Reply:
        """A request with the token. A rejected token, as after a revocation, is replaced once."""
        token = self.session().token
        reply = transport.request(method, path, query=query, headers=_bearer(token))
        if reply.status != 401:
            return reply
        self.forget(token)
        return transport.request(method, path, query=query, headers=_bearer(self.session().token))

    def log_out(self) -> None:
        """Ends the session at the service; without one does nothing."""
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            self._transport.request("DELETE", "/api/svc/oracle/session", headers=_bearer(session.token)).json()

    def _log_in(self) -> Session:
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._attempt()
            except ServiceProblem as problem:
                if problem.code != "CONFLICT":
                    raise
        return self._attempt()

    def _attempt(self) -> Session:
        # A signature opens one session: another process of this wallet may log in within the same millisecond.
        timestamp = max(time.time_ns() // 1_000_000, self._last_timestamp + 1 + secrets.randbelow(_SPREAD_MS))
        self._last_timestamp = timestamp
        signature = self._sign(f"Verify svc balance: {self._wallet}:{timestamp}")
        body = {"wallet": self._wallet, "signature": signature, "timestamp": timestamp}
        return _parse_session(self._transport.request("POST", "/api/svc/oracle/verify", body=body).json())


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _parse_session(answer: Mapping[str, Any]) -> Session:
    try:
        return Session(
            str(answer["token"]), str(answer["tier"]), str(answer["wallet"]), str(answer["expiresAt"]), float(answer["expires_in"])
        )
    except (KeyError, TypeError, ValueError) as error:
        raise TransportError("The response to the login has no token: is this the address of the service?") from error
