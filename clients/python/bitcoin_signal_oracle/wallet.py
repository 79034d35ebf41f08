"""A wallet of a private key by ``eth_account``, where that is installed. Any other signer is two functions."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Callable, Dict, List

TypedDataTypes = Dict[str, List[Dict[str, str]]]
#: Signs EIP-712 typed data (domain, types without ``EIP712Domain``, message); returns ``0x`` and the hexadecimal signature.
SignTypedData = Callable[[Dict[str, Any], TypedDataTypes, Dict[str, Any]], str]


@dataclass(frozen=True)
class Wallet:
    """What login and payment need of a wallet: ``sign`` for a login, ``sign_typed_data`` for a payment."""

    address: str
    sign: Callable[[str], str]
    sign_typed_data: SignTypedData


def open_wallet(private_key: str) -> Wallet:
    """The wallet of a private key. Raises ImportError without ``eth_account``."""
    try:
        accounts = importlib.import_module("eth_account")
        messages = importlib.import_module("eth_account.messages")
    except ImportError as error:
        raise ImportError("open_wallet needs eth-account: pip install 'bitcoin-signal-oracle[wallet]'") from error
    account: Any = accounts.Account.from_key(private_key)

    def sign(message: str) -> str:
        return _hex(account.sign_message(messages.encode_defunct(text=message)).signature)

    def sign_typed_data(domain: Dict[str, Any], types: TypedDataTypes, message: Dict[str, Any]) -> str:
        return _hex(account.sign_typed_data(domain, types, _with_bytes(types, message)).signature)

    return Wallet(str(account.address), sign, sign_typed_data)


def _hex(signature: Any) -> str:
    # ``HexBytes.hex`` has a prefix or none, by its version.
    return "0x" + bytes(signature).hex()


def _with_bytes(types: TypedDataTypes, message: Dict[str, Any]) -> Dict[str, Any]:
    """``eth_account`` takes the values of ``bytes32`` as bytes."""
    fields = [field for members in types.values() for field in members if field["type"] == "bytes32"]
    return {**message, **{field["name"]: bytes.fromhex(message[field["name"]][2:]) for field in fields}}
