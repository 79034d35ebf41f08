"""The entries of examples/freqtrade/oracle_range.py, in frames of pandas."""

import unittest
from datetime import timedelta

from pandas import DataFrame

from test_freqtrade import strategy_at
from world import SERVICE_URL, needs_service, range_of

HOURS = 60


@needs_service
class EntryTest(unittest.TestCase):
    def setUp(self) -> None:
        self.expected, self.made_at = range_of("1d")
        self.strategy = strategy_at(SERVICE_URL)
        self.strategy.bot_loop_start(current_time=self.made_at + timedelta(hours=1))

    def entries(self, pair: str = "BTC/USDT") -> "list[str]":
        frame = DataFrame({"close": [100.0 + hour for hour in range(HOURS)], "volume": [1.0] * (HOURS - 1) + [0.0]})
        for populate in (self.strategy.populate_indicators, self.strategy.populate_entry_trend, self.strategy.populate_exit_trend):
            frame = populate(frame, {"pair": pair})
        self.assertNotIn("exit_long", frame)
        return list(frame["enter_tag"][frame["enter_long"] == 1]) if "enter_long" in frame else []

    def test_enters_above_the_mean_with_regime_and_day_of_the_range_in_the_tag(self) -> None:
        mark = " replayed" if self.expected["replayed"] else ""
        tag = f"{self.strategy.fresh.signal['regime']} {self.expected['date']}{mark}"
        # The first candles have no mean, the last one no volume.
        self.assertEqual(self.entries(), [tag] * (HOURS - self.strategy.startup_candle_count))

    def test_does_not_enter_with_another_pair(self) -> None:
        self.assertEqual(self.entries("ETH/USDT"), [])

    def test_enters_without_a_range_where_it_is_stale_and_says_so_in_the_tag(self) -> None:
        self.strategy.bot_loop_start(current_time=self.made_at + timedelta(hours=31))
        self.assertEqual(self.entries(), ["no range"] * (HOURS - self.strategy.startup_candle_count))

    def test_a_sell_prevents_an_entry_only_where_it_is_to_be_obeyed(self) -> None:
        self.strategy.fresh.signal["signal"] = "SELL"
        self.assertNotEqual(self.entries(), [])
        self.strategy.obey_sell = True
        self.assertEqual(self.entries(), [])
