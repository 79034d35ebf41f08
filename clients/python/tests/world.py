"""The running service and the signer that the tests are given by their environment.

``SERVICE_URL`` is the service, ``SIGNER_URL`` a loopback server that signs for its demonstration wallets, ``WALLETS``
their addresses as JSON, ``STABLECOIN`` the coin of its chain.
"""

from __future__ import annotations

import json
import os
import unittest
from typing import Any, Callable, Dict

from bitcoin_signal_oracle.login import WalletLogin
from bitcoin_signal_oracle.transport import Transport

SERVICE_URL = os.environ.get("SERVICE_URL", "")
WALLETS: Dict[str, str] = json.loads(os.environ.get("WALLETS", "{}"))
STABLECOIN = os.environ.get("STABLECOIN", "")

needs_service = unittest.skipUnless(SERVICE_URL, "SERVICE_URL names no service")


def sign_by(wallet: str) -> Callable[[str], str]:
    """Signs texts as a demonstration wallet."""
    return lambda message: _signature(wallet, {"message": message})


def sign_typed_data_by(wallet: str) -> Callable[[Dict[str, Any], Dict[str, Any], Dict[str, Any]], str]:
    """Signs EIP-712 typed data as a demonstration wallet."""
    return lambda domain, types, message: _signature(wallet, {"domain": domain, "types": types, "message": message})


def login_of(wallet: str) -> WalletLogin:
    return WalletLogin(SERVICE_URL, WALLETS[wallet], sign_by(wallet))


def make_key(wallet: str) -> Dict[str, Any]:
    """A new API key of a demonstration wallet: ``key`` and ``id``."""
    path = "/api/svc/oracle/keys"
    body = {"wallet": WALLETS[wallet], "label": "test of the Python client", "tier": "basic", "expiresInDays": 1}
    message = Transport(SERVICE_URL).request("POST", f"{path}/message", body=body).json()["message"]
    signed = {"message": message, "signature": sign_by(wallet)(message)}
    return Transport(SERVICE_URL).request("POST", path, body=signed).json()


def revoke_key(wallet: str, key_id: str) -> None:
    Transport(SERVICE_URL).request("DELETE", f"/api/svc/oracle/access/{key_id}", headers=_bearer(wallet)).json()


def _bearer(wallet: str) -> Dict[str, str]:
    return {"Authorization": f"Bearer {login_of(wallet).token()}"}


def _signature(wallet: str, body: Dict[str, Any]) -> str:
    answer = Transport(os.environ["SIGNER_URL"]).request("POST", f"/{wallet}", body=body).json()
    return str(answer["signature"])
