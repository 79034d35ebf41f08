"""One answer for one payment with the request: x402 version 2, scheme ``exact``, an EIP-3009 authorization without gas."""

from __future__ import annotations

import base64
import json
import secrets
import time
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Dict, Mapping, Optional, Union, cast

from .errors import OracleError, ServiceProblem, TransportError
from .responses import Horizon, OracleSignal
from .transport import Reply, Transport
from .wallet import SignTypedData, TypedDataTypes

#: USDC by CAIP-2 network: the coins that are paid in unless ``assets`` names others. All must have six decimals.
USDC: Mapping[str, str] = {
    "eip155:8453": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "eip155:84532": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
}

AUTHORIZATION_TYPES: TypedDataTypes = {
    "TransferWithAuthorization": [
        {"name": "from", "type": "address"},
        {"name": "to", "type": "address"},
        {"name": "value", "type": "uint256"},
        {"name": "validAfter", "type": "uint256"},
        {"name": "validBefore", "type": "uint256"},
        {"name": "nonce", "type": "bytes32"},
    ]
}

_UNITS_PER_USD = 1_000_000
#: Of an authorization, whatever the terms say; the service asks for 300.
_MAX_VALID_SECONDS = 600
#: For a clock of the payer that is fast.
_VALID_BEFORE_NOW_SECONDS = 600


class PaymentDeclined(OracleError):
    """The terms exceed what this payer allows. Nothing was signed."""


@dataclass(frozen=True)
class SignedPayment:
    """A payment for one request: at most ``amount`` units of ``asset``, until ``valid_before`` (Unix seconds).

    Whoever has ``header`` can spend it with the payee alone; it is left out of ``repr``.
    """

    path: str
    horizon: Horizon
    amount: int
    asset: str
    network: str
    valid_before: int
    header: str = field(repr=False)


class PaymentUncertain(OracleError):
    """The payment was sent and its result is unknown. ``Payer.send(error.payment)`` asks again and never pays twice.

    ``retry_after`` is in seconds. Do not buy again before that: the answer may be paid for already.
    """

    def __init__(self, payment: SignedPayment, cause: OracleError) -> None:
        self.payment = payment
        self.retry_after = (cause.retry_after if isinstance(cause, ServiceProblem) else None) or 5.0
        super().__init__(f"The result of the payment is unknown; send the same payment again. {cause}")


@dataclass(frozen=True)
class PaidAnswer:
    """A bought forecast. Its direction has no demonstrated skill: ``answer["skill"]["verdict"]`` has the figures.

    A HOLD is charged and complete like any signal. ``receipt`` is EIP-712 typed data, signed by the seller, that binds
    payment and answer; its signature is not checked here. ``settlement`` is ``PAYMENT-RESPONSE``.
    """

    answer: OracleSignal
    payment: Dict[str, Any]
    receipt: Dict[str, Any]
    settlement: Optional[Dict[str, Any]]


class Payer:
    """Buys answers for one wallet, each for at most ``max_usd``.

    ``max_usd`` is a string, int or Decimal such as ``"0.002"``: money is no float. ``assets`` are the only coins that
    are paid in, by CAIP-2 network, whatever a service asks for.
    """

    def __init__(
        self,
        base_url: str,
        wallet: str,
        sign_typed_data: SignTypedData,
        *,
        max_usd: Union[str, int, Decimal],
        assets: Mapping[str, str] = USDC,
        timeout: float = 60.0,
    ) -> None:
        self._transport = Transport(base_url, timeout)
        self._wallet = wallet
        self._sign = sign_typed_data
        self._max_units = _to_units(max_usd)
        self._assets = dict(assets)

    def buy(self, horizon: Horizon = "7d") -> PaidAnswer:
        """Pays for the newest forecast of a horizon. Raises PaymentDeclined before signing, ServiceProblem for a rejected
        payment, which costs nothing, and PaymentUncertain where it may have been settled."""
        return self.send(self.prepare(horizon))

    def prepare(self, horizon: Horizon = "7d") -> SignedPayment:
        """Asks for the terms and signs a payment without sending it. Store it before ``send`` to survive a crash."""
        reply = self._transport.request("GET", "/oracle", query={"horizon": horizon})
        if reply.status != 402:
            reply.json()
            raise TransportError(f"/oracle answered {reply.status} instead of 402 with the terms")
        required = _decode(reply.headers.get("payment-required"), "PAYMENT-REQUIRED")
        try:
            terms = self._choose(required)
            domain, authorization = _domain(terms), self._authorize(terms)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise TransportError("The terms in PAYMENT-REQUIRED are not those of x402 version 2") from error
        signature = self._sign(domain, AUTHORIZATION_TYPES, authorization)
        payload = {"signature": signature, "authorization": _as_strings(authorization)}
        payment = {"x402Version": 2, "resource": required.get("resource"), "accepted": terms, "payload": payload}
        return SignedPayment(
            path="/oracle",
            horizon=horizon,
            amount=int(terms["amount"]),
            asset=terms["asset"],
            network=terms["network"],
            valid_before=authorization["validBefore"],
            header=_encode({**payment, **_identifier(required)}),
        )

    def send(self, payment: SignedPayment) -> PaidAnswer:
        """Sends a payment, or the same once more: it is settled once, and the answer is the same."""
        try:
            reply = self._transport.request(
                "GET", payment.path, query={"horizon": payment.horizon}, headers={"PAYMENT-SIGNATURE": payment.header}
            )
            return _to_paid_answer(reply.json(), reply)
        except ServiceProblem as problem:
            if problem.status < 500:
                raise
            raise PaymentUncertain(payment, problem) from problem
        except TransportError as error:
            raise PaymentUncertain(payment, error) from error

    def _choose(self, required: Mapping[str, Any]) -> Dict[str, Any]:
        """The terms that this payer accepts. Raises PaymentDeclined."""
        offered = [terms for terms in required.get("accepts", []) if self._is_own_coin(terms)]
        if not offered:
            raise PaymentDeclined(f"No terms in a coin of this payer; they are {required.get('accepts')}")
        terms = cast(Dict[str, Any], min(offered, key=lambda one: int(one["amount"])))
        amount = int(terms["amount"])
        if not 0 < amount <= self._max_units:
            limit = Decimal(self._max_units) / _UNITS_PER_USD
            raise PaymentDeclined(f"The price is {Decimal(amount) / _UNITS_PER_USD} USD, the limit max_usd {limit} USD")
        return terms

    def _is_own_coin(self, terms: Mapping[str, Any]) -> bool:
        own = self._assets.get(str(terms.get("network")))
        return terms.get("scheme") == "exact" and own is not None and own.lower() == str(terms.get("asset")).lower()

    def _authorize(self, terms: Mapping[str, Any]) -> Dict[str, Any]:
        now = int(time.time())
        return {
            "from": self._wallet,
            "to": terms["payTo"],
            "value": int(terms["amount"]),
            "validAfter": now - _VALID_BEFORE_NOW_SECONDS,
            "validBefore": now + min(int(terms["maxTimeoutSeconds"]), _MAX_VALID_SECONDS),
            "nonce": "0x" + secrets.token_hex(32),
        }


def _domain(terms: Mapping[str, Any]) -> Dict[str, Any]:
    return {
        "name": terms["extra"]["name"],
        "version": terms["extra"]["version"],
        "chainId": int(terms["network"].split(":")[1]),
        "verifyingContract": terms["asset"],
    }


def _identifier(required: Mapping[str, Any]) -> Dict[str, Any]:
    """The extension by which the answer can be fetched again from another address, where the terms declare it."""
    name = "payment-identifier"
    if name not in (required.get("extensions") or {}):
        return {}
    return {"extensions": {name: {"info": {"required": False, "id": f"pay_{secrets.token_hex(16)}"}}}}


def _as_strings(authorization: Mapping[str, Any]) -> Dict[str, str]:
    return {name: str(value) for name, value in authorization.items()}


def _to_paid_answer(answer: Dict[str, Any], reply: Reply) -> PaidAnswer:
    header = reply.headers.get("payment-response")
    if not isinstance(answer.get("payment"), dict) or not isinstance(answer.get("receipt"), dict):
        raise TransportError("The paid answer lacks its payment or its receipt")
    return PaidAnswer(
        answer=cast(OracleSignal, answer),
        payment=answer["payment"],
        receipt=answer["receipt"],
        settlement=None if header is None else _decode(header, "PAYMENT-RESPONSE"),
    )


def _to_units(usd: Union[str, int, Decimal]) -> int:
    if isinstance(usd, float):
        raise TypeError('max_usd must not be a float: write it as a string, such as "0.002"')
    units = Decimal(usd) * _UNITS_PER_USD
    if not units.is_finite() or units <= 0:
        raise ValueError(f"max_usd must be positive, not {usd}")
    return int(units)


def _encode(value: Mapping[str, Any]) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()


def _decode(header: Optional[str], name: str) -> Dict[str, Any]:
    try:
        value = json.loads(base64.b64decode(header or "", validate=True))
    except ValueError as error:
        raise TransportError(f"The header {name} is missing or not base64 of JSON") from error
    if not isinstance(value, dict):
        raise TransportError(f"The header {name} is not a JSON object")
    return value
