"""examples/freqtrade/oracle_range.py at a running service; freqtrade itself is a stand-in."""

import importlib.util
import math
import os
import sys
import unittest
from datetime import timedelta
from enum import Enum
from types import SimpleNamespace
from unittest import mock

# Frames are tested by test_freqtrade_frames, which needs it; the strategy names it in annotations besides.
if importlib.util.find_spec("pandas") is None:
    sys.modules["pandas"] = SimpleNamespace(DataFrame=None)

import oracle_range
from freqtrade.strategy import Trade

from world import SERVICE_URL, closed_address, needs_service, range_of


class RunMode(Enum):
    DRY_RUN = "dry_run"
    BACKTEST = "backtest"


def strategy_at(url: str, mode: RunMode = RunMode.DRY_RUN) -> oracle_range.OracleRange:
    strategy = oracle_range.OracleRange({"runmode": mode})
    with mock.patch.dict(os.environ, SERVICE_URL=url):
        strategy.bot_start()
    return strategy


@needs_service
class StrategyTest(unittest.TestCase):
    def setUp(self) -> None:
        self.expected, self.made_at = range_of("1d")
        self.now = self.made_at + timedelta(hours=1)
        half = self.expected["moveLimits"]["width90"] / 2
        self.below, self.above = 1 - math.exp(-half), math.exp(half) - 1
        self.strategy = strategy_at(SERVICE_URL)
        self.strategy.bot_loop_start(current_time=self.now)

    def stake(self, **terms: object) -> float:
        given = {"pair": "BTC/USDT", "current_time": self.now, "current_rate": 100.0, "proposed_stake": 1_000.0, **terms}
        return self.strategy.custom_stake_amount(**given, min_stake=10.0, max_stake=5_000.0, leverage=1.0, entry_tag=None, side="long")

    def stop(self, pair: str = "BTC/USDT", rate: float = 100.0) -> "float | None":
        terms = {"current_time": self.now, "current_rate": rate, "current_profit": rate / 100 - 1}
        return self.strategy.custom_stoploss(pair=pair, trade=Trade(100.0), **terms, after_fill=False)

    def target(self, pair: str = "BTC/USDT") -> "float | None":
        terms = {"current_time": self.now, "trade_duration": 60, "entry_tag": None, "side": "long"}
        return self.strategy.custom_roi(pair=pair, trade=Trade(100.0), **terms)

    def fixed_stake(self) -> float:
        with self.assertLogs("oracle_range", "WARNING") as logged:
            stake = round(self.stake(), 9)
        self.assertRegex(logged.output[0], r"No fresh range at .*: a fixed stake, for a stop at 10 %")
        return stake

    def test_stop_and_target_of_a_trade_are_the_size_of_the_move(self) -> None:
        self.assertAlmostEqual(self.stop() or 0, self.below)
        self.assertAlmostEqual(self.stop(rate=110.0) or 0, 1 - (1 - self.below) / 1.1)
        self.assertAlmostEqual(self.target() or 0, self.above)

    def test_the_stake_loses_the_risk_at_the_stop_and_is_never_more_than_the_proposed_one(self) -> None:
        self.strategy.risk = self.below / 4
        self.assertAlmostEqual(self.stake() * self.below, 1_000 * self.below / 4)
        self.strategy.risk = self.below * 2
        self.assertEqual(self.stake(), 1_000)

    def test_another_pair_gets_neither_stake_nor_stop(self) -> None:
        self.assertEqual((self.stake(pair="ETH/USDT"), self.stop("ETH/USDT"), self.target("ETH/USDT")), (0, None, None))

    def test_a_stale_range_gives_a_fixed_stake_and_says_so_and_keeps_the_stop_of_what_is_open(self) -> None:
        self.now = self.made_at + timedelta(hours=31)
        self.strategy.bot_loop_start(current_time=self.now)
        self.assertEqual(self.strategy.oracle.age(self.now), timedelta(hours=31))
        self.assertEqual((self.strategy.fresh, self.fixed_stake()), (None, 200))
        self.assertAlmostEqual(self.stop() or 0, self.below)

    def test_without_a_service_the_loop_goes_on_with_a_fixed_stake_and_stop(self) -> None:
        self.strategy = strategy_at(closed_address())
        with self.assertLogs("bitcoin_signal_oracle.daily", "WARNING"):
            self.strategy.bot_loop_start(current_time=self.now)
        self.assertEqual((self.fixed_stake(), self.target()), (200, 10))
        self.assertAlmostEqual(self.stop() or 0, 0.1)

    def test_a_backtest_does_not_get_the_range_of_today(self) -> None:
        self.strategy = strategy_at(SERVICE_URL, RunMode.BACKTEST)
        self.strategy.bot_loop_start(current_time=self.now)
        # At most that of the day before, which is resolved.
        self.assertNotEqual(self.strategy.fresh and self.strategy.fresh.expected["date"], self.expected["date"])
