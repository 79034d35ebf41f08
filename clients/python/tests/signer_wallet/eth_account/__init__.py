"""In the place of ``eth_account`` where it is not installed: the private key is the name of a demonstration wallet."""

from __future__ import annotations

from typing import Any, Dict

from tests.world import WALLETS, sign_by, sign_typed_data_by


class Signed:
    def __init__(self, signature: str) -> None:
        self.signature = bytes.fromhex(signature[2:])


class Account:
    def __init__(self, name: str) -> None:
        self.address = WALLETS[name]
        self._name = name

    @classmethod
    def from_key(cls, private_key: str) -> "Account":
        return cls(private_key)

    def sign_message(self, signable: str) -> Signed:
        return Signed(sign_by(self._name)(signable))

    def sign_typed_data(self, domain_data: Dict[str, Any], message_types: Dict[str, Any], message_data: Dict[str, Any]) -> Signed:
        assert isinstance(message_data["nonce"], bytes), "the ABI encoder takes bytes32 as bytes"
        message = {**message_data, "nonce": "0x" + message_data["nonce"].hex()}
        return Signed(sign_typed_data_by(self._name)(domain_data, message_types, message))
