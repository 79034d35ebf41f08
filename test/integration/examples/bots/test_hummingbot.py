"""examples/hummingbot/oracle_spread.py at a running service; Hummingbot itself is a stand-in."""

import csv
import io
import time
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
        reading = SimpleNamespace(distances=lambda share: (0.5, 0.5))
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
        self.assertEqual((bid.is_buy, bid.quantity), (True, Decimal("0.001")))
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

    def tick_until_read(self, script: OracleSpread) -> "list[object]":
        """The call is made in a thread: the tick that starts it does not wait for it."""
        self.assertEqual(self.tick(script, self.start), [])
        deadline = time.monotonic() + 30
        while script.oracle.latest is None and script.oracle.error is None and time.monotonic() < deadline:
            time.sleep(0.005)
        return self.tick(script, self.start + 1)

    def test_quotes_as_far_from_the_price_as_the_range_of_the_time_between_quotes(self) -> None:
        bid, ask = self.tick_until_read(script_at(SERVICE_URL, min_spread=Decimal(0)))
        [band] = [one for one in self.expected["ranges"] if one["share"] == 0.8]
        scale = sqrt(900 / 86_400)
        self.assertAlmostEqual(float(bid.price), 100 * (1 - (1 - band["low"] / self.expected["btcPrice"]) * scale))
        self.assertAlmostEqual(float(ask.price), 100 * (1 + (band["high"] / self.expected["btcPrice"] - 1) * scale))
        self.assertEqual((bid.is_buy, ask.is_buy, bid.quantity), (True, False, Decimal("0.001")))

    def test_quotes_no_closer_than_the_smallest_spread(self) -> None:
        bid, ask = self.tick_until_read(script_at(SERVICE_URL, min_spread=Decimal("0.5")))
        self.assertEqual((bid.price, ask.price), (Decimal(50), Decimal(150)))

    def test_replaces_its_quotes_when_their_time_is_over(self) -> None:
        script = script_at(SERVICE_URL)
        first = self.tick_until_read(script)
        self.assertEqual(self.tick(script, self.start + 900), first)
        second = self.tick(script, self.start + 901)
        self.assertEqual(len(second), 2)
        self.assertNotIn(second[0], first)

    def test_a_stale_range_takes_the_quotes_back(self) -> None:
        script = script_at(SERVICE_URL)
        self.assertEqual(len(self.tick_until_read(script)), 2)
        self.assertEqual(self.tick(script, (self.made_at + timedelta(hours=31)).timestamp()), [])

    def test_without_a_service_it_quotes_nothing_and_goes_on(self) -> None:
        script = script_at(closed_address())
        with self.assertLogs("bitcoin_signal_oracle.daily", "WARNING"):
            self.assertEqual(self.tick_until_read(script), [])

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
