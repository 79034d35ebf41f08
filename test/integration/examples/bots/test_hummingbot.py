"""examples/hummingbot/oracle_spread.py at a running service; Hummingbot itself is a stand-in."""

import csv
import io
import unittest
from datetime import datetime, timedelta
from decimal import Decimal
from math import exp, log, sqrt
from types import SimpleNamespace

from bitcoin_signal_oracle.client import OracleClient
from hummingbot.core.data_type.common import TradeType
from hummingbot.core.data_type.order_candidate import OrderCandidate
from oracle_spread import OracleSpread, OracleSpreadConfig

from world import SERVICE_URL, closed_address, needs_service, range_of

PRICE = Decimal(100)


def script_at(url: str, **settings: object) -> OracleSpread:
    config = OracleSpreadConfig(service_url=url, **settings)
    connector = SimpleNamespace(
        get_price_by_type=lambda pair, kind: PRICE,
        budget_checker=SimpleNamespace(adjust_candidates=lambda orders, all_or_none: orders),
    )
    assert config.update_markets({}) == {"binance_paper_trade": {"BTC-USDT"}}
    return OracleSpread({config.exchange: connector}, config)


class AffordabilityTest(unittest.TestCase):
    """The money of cancelled orders is free some ticks later: until then the checker sets amounts to 0."""

    def setUp(self) -> None:
        self.script = script_at("http://127.0.0.1:9")
        reading = SimpleNamespace(distances=lambda share: (0.5, 0.5), stop_distances=lambda: (0.04, 0.04), made_at=None)
        self.script.oracle = SimpleNamespace(refresh_in_background=lambda now: None, fresh=lambda now: reading)
        self.connector = self.script.connectors["binance_paper_trade"]
        self.unaffordable: "set[TradeType]" = set()
        self.connector.budget_checker.adjust_candidates = self.adjust
        self.now = 1_000.0

    def adjust(self, orders: "list[OrderCandidate]", all_or_none: bool) -> "list[OrderCandidate]":
        for order in orders:
            if order.order_side in self.unaffordable:
                order.amount = Decimal(0)
        return orders

    def tick(self) -> "list[object]":
        self.now += 1
        self.script.current_timestamp = self.now
        self.script.on_tick()
        return self.script.get_active_orders("binance_paper_trade")

    def test_sends_no_order_of_amount_0_and_tries_again_at_the_next_tick(self) -> None:
        self.unaffordable = {TradeType.BUY, TradeType.SELL}
        self.assertEqual((self.tick(), self.tick()), ([], []))
        self.unaffordable = set()
        self.assertEqual([order.is_buy for order in self.tick()], [True, False])

    def test_keeps_the_quote_of_one_side_while_it_tries_the_other_again(self) -> None:
        self.unaffordable = {TradeType.SELL}
        [bid] = self.tick()
        self.assertEqual((bid.is_buy, bid.quantity), (True, Decimal("0.001") * Decimal(0.5)))
        self.assertEqual(self.tick(), [bid])
        self.unaffordable = set()
        both = self.tick()
        self.assertEqual((both[0], [order.is_buy for order in both]), (bid, [True, False]))
        self.assertEqual(self.tick(), both)

    def test_waits_for_a_price(self) -> None:
        self.connector.get_price_by_type = lambda pair, kind: Decimal("NaN")
        self.assertEqual(self.tick(), [])
        self.connector.get_price_by_type = lambda pair, kind: PRICE
        self.assertEqual(len(self.tick()), 2)


@needs_service
class ScriptTest(unittest.TestCase):
    def setUp(self) -> None:
        self.expected, self.made_at = range_of("1d")
        self.start = (self.made_at + timedelta(hours=1)).timestamp()

    def tick(self, script: OracleSpread, at: float) -> "list[object]":
        script.current_timestamp = at
        script.on_tick()
        return script.get_active_orders("binance_paper_trade")

    def test_quotes_as_far_from_the_price_as_the_range_of_the_time_between_quotes(self) -> None:
        bid, ask = self.tick(script_at(SERVICE_URL, min_spread=Decimal(0)), self.start)
        [band] = [one for one in self.expected["ranges"] if one["share"] == 0.8]
        scale = sqrt(900 / 86_400)
        self.assertAlmostEqual(float(bid.price), 100 * (1 - (1 - band["low"] / self.expected["btcPrice"]) * scale))
        self.assertAlmostEqual(float(ask.price), 100 * (1 + (band["high"] / self.expected["btcPrice"] - 1) * scale))
        self.assertEqual((bid.is_buy, ask.is_buy), (True, False))

    def test_the_amount_is_a_constant_risk_over_the_move_of_a_day_and_never_above_the_order_amount(self) -> None:
        move = 1 - exp(-self.expected["moveLimits"]["width90"] / 2)
        for risk, amount in ((move / 4, 0.00025), (move * 2, 0.001)):
            for quote in self.tick(script_at(SERVICE_URL, risk=risk), self.start):
                self.assertAlmostEqual(float(quote.quantity), amount, 12)

    def test_quotes_no_closer_than_the_smallest_spread(self) -> None:
        bid, ask = self.tick(script_at(SERVICE_URL, min_spread=Decimal("0.5")), self.start)
        self.assertEqual((bid.price, ask.price), (Decimal(50), Decimal(150)))

    def test_replaces_its_quotes_when_their_time_is_over(self) -> None:
        script = script_at(SERVICE_URL)
        first = self.tick(script, self.start)
        self.assertEqual(self.tick(script, self.start + 899), first)
        second = self.tick(script, self.start + 900)
        self.assertEqual(len(second), 2)
        self.assertNotIn(second[0], first)

    def tick_without_range(self, script: OracleSpread, at: float) -> "list[object]":
        with self.assertLogs("oracle_spread", "WARNING") as logged:
            quotes = self.tick(script, at)
        self.assertRegex(logged.output[0], "No fresh range at .*: a fixed amount, for a move of 10 %")
        self.assertEqual([float(quote.price) for quote in quotes], [100 - sqrt(900 / 86_400) * 10, 100 + sqrt(900 / 86_400) * 10])
        self.assertEqual([round(float(quote.quantity), 12) for quote in quotes], [0.0002, 0.0002])
        return quotes

    def test_a_stale_range_replaces_the_quotes_by_fixed_ones_and_says_so(self) -> None:
        script = script_at(SERVICE_URL)
        stale = (self.made_at + timedelta(hours=30)).timestamp()
        first = self.tick(script, stale)
        second = self.tick_without_range(script, stale + 1)
        self.assertNotIn(first[0], second)
        self.assertEqual(self.tick(script, stale + 2), second)

    def test_without_a_service_it_goes_on_with_fixed_quotes_until_there_is_a_range(self) -> None:
        with self.assertLogs("bitcoin_signal_oracle.daily", "WARNING"):
            script = script_at(closed_address())
        fixed = self.tick_without_range(script, self.start)
        script.oracle = script_at(SERVICE_URL).oracle
        self.assertNotIn(self.tick(script, self.start + 1)[0], fixed)

    def test_over_the_past_it_quotes_by_what_was_known_then(self) -> None:
        script = script_at(SERVICE_URL, from_dataset=True, min_spread=Decimal(0))
        table = OracleClient(SERVICE_URL).dataset_table("forecasts").decode()
        *_, before, row = [one for one in csv.DictReader(io.StringIO(table)) if one["horizonDays"] == "1"]
        attested = datetime.fromisoformat(row["attestedAt"].replace("Z", "+00:00")).timestamp()
        scale = sqrt(900 / 86_400)
        for at, known in ((attested - 1, before), (attested + 900, row)):
            bid, ask = self.tick(script, at)
            half = log(float(known["priceP90"]) / float(known["priceP10"])) / 2
            self.assertAlmostEqual(float(bid.price), 100 * (1 - (1 - exp(-half)) * scale))
            self.assertAlmostEqual(float(ask.price), 100 * (1 + (exp(half) - 1) * scale))
