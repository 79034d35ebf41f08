"""Payments at a running service, settled on its chain."""

from __future__ import annotations

import unittest
from typing import Any, Dict, Mapping, Optional

from bitcoin_signal_oracle.client import OracleClient
from bitcoin_signal_oracle.errors import ServiceProblem
from bitcoin_signal_oracle.payment import PaidAnswer, Payer, PaymentDeclined, PaymentUncertain
from bitcoin_signal_oracle.responses import Horizon

from .world import SERVICE_URL, STABLECOIN, WALLETS, login_of, needs_service, sign_typed_data_by

NETWORK = "eip155:84532"


class Signer:
    """Counts what it signs; ``change`` alters the message first."""

    def __init__(self, change: Optional[Mapping[str, Any]] = None) -> None:
        self.messages: list[Dict[str, Any]] = []
        self._change = change or {}

    def __call__(self, domain: Dict[str, Any], types: Dict[str, Any], message: Dict[str, Any]) -> str:
        self.messages.append(message)
        return sign_typed_data_by("buyer")(domain, types, {**message, **self._change})


def payer(signer: Signer, *, max_usd: Any = "0.001", assets: Optional[Mapping[str, str]] = None, url: str = SERVICE_URL) -> Payer:
    return Payer(url, WALLETS["buyer"], signer, max_usd=max_usd, assets=assets or {NETWORK: STABLECOIN})


@needs_service
class PaymentTest(unittest.TestCase):
    def assert_paid(self, bought: PaidAnswer) -> None:
        assert bought.settlement is not None
        self.assertEqual((bought.payment["usd"], bought.payment["payer"]), ("0.001", WALLETS["buyer"]))
        self.assertEqual(bought.receipt["message"]["txHash"], bought.payment["txHash"])
        self.assertEqual((bought.settlement["success"], bought.settlement["transaction"]), (True, bought.payment["txHash"]))
        self.assertTrue(bought.answer["skill"]["verdict"])

    def test_one_payment_buys_one_answer_however_often_it_is_sent(self) -> None:
        signer = Signer()
        till = payer(signer)
        payment = till.prepare("7d")
        self.assertEqual((payment.amount, payment.network), (1_000, NETWORK))
        self.assertNotIn(payment.header, repr(payment))
        first, second = till.send(payment), till.send(payment)
        self.assert_paid(first)
        self.assertEqual(first.answer, second.answer)
        self.assertEqual(len(signer.messages), 1)

    def test_buy_is_both_steps(self) -> None:
        self.assert_paid(payer(Signer(), max_usd="0.002").buy("7d"))

    def test_a_price_above_the_limit_is_declined_before_signing(self) -> None:
        signer = Signer()
        with self.assertRaisesRegex(PaymentDeclined, "price is 0.001 USD, the limit max_usd 0.0009 USD"):
            payer(signer, max_usd="0.0009").buy()
        self.assertEqual(signer.messages, [])

    def test_another_coin_or_network_is_declined_before_signing(self) -> None:
        signer = Signer()
        for assets in ({NETWORK: "0x" + "00" * 20}, {"eip155:1": STABLECOIN}):
            with self.assertRaisesRegex(PaymentDeclined, "No terms in a coin"):
                payer(signer, assets=assets).buy()
        self.assertEqual(signer.messages, [])

    def test_a_signature_over_other_values_is_rejected_and_costs_nothing(self) -> None:
        with self.assertRaises(ServiceProblem) as caught:
            payer(Signer({"value": 1})).buy()
        self.assertEqual((caught.exception.status, caught.exception.code), (402, "PAYMENT_REQUIRED"))

    def test_a_lost_answer_leaves_the_payment_to_send_again(self) -> None:
        till = payer(Signer())
        payment = till.prepare("7d")
        with self.assertRaises(PaymentUncertain) as caught:
            payer(Signer(), url="http://127.0.0.1:1").send(payment)
        self.assertGreater(caught.exception.retry_after, 0)
        self.assert_paid(till.send(caught.exception.payment))

    def test_an_invalid_horizon_is_a_problem_and_signs_nothing(self) -> None:
        signer = Signer()
        with self.assertRaises(ServiceProblem) as caught:
            payer(signer).buy("9d")  # type: ignore[arg-type]
        self.assertEqual((caught.exception.code, caught.exception.field), ("INPUT_INVALID", "horizon"))
        self.assertEqual(signer.messages, [])


class LimitTest(unittest.TestCase):
    def test_limit_must_be_exact_and_positive(self) -> None:
        for wrong in (0.002, "0", "-1", "NaN", "Infinity"):
            with self.assertRaises((TypeError, ValueError)):
                Payer("https://oracle.example.org", "0x", Signer(), max_usd=wrong)  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
