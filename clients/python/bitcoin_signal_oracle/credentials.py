"""What a client authenticates with: a login that renews its tokens, or a long-lived API key."""

from __future__ import annotations

import re
from typing import Mapping, Optional, Union

from .login import WalletLogin
from .transport import Reply, Transport

_API_KEY = re.compile(r"bso_[0-9A-Za-z]{49}")


class ApiKey:
    """A key that the wallet's owner has made at ``/access``, or by ``svc access create``, and can revoke there."""

    def __init__(self, key: str) -> None:
        """Raises ValueError for a text that is no key; the error does not contain it."""
        if _API_KEY.fullmatch(key) is None:
            raise ValueError("api_key must be bso_ and 49 letters and digits, as it was shown when it was made")
        self._key = key

    def __repr__(self) -> str:
        """Without the key, which must not get into logs."""
        return "ApiKey()"

    def token(self) -> str:
        return self._key

    def forget(self, token: str) -> bool:
        """False: a rejected key has no successor."""
        return False

    def authorized(
        self, transport: Transport, method: str, path: str, *, query: Optional[Mapping[str, Optional[object]]] = None
    ) -> Reply:
        """A request with the key."""
        return transport.request(method, path, query=query, headers={"Authorization": f"Bearer {self._key}"})


Credentials = Union[WalletLogin, ApiKey]


def choose_credentials(login: Optional[WalletLogin], api_key: Optional[str]) -> Optional[Credentials]:
    """Raises ValueError for both, and for a malformed key."""
    if login is not None and api_key is not None:
        raise ValueError("Give a login or an api_key, not both")
    return login if api_key is None else ApiKey(api_key)
