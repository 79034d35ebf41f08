"""examples/hummingbot/oracle_spread.py at a running service; Hummingbot itself is a stand-in."""

import time
import unittest
from datetime import timedelta
from decimal import Decimal
from math import sqrt
from types import SimpleNamespace

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
