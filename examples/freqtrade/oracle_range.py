"""A freqtrade strategy whose stop, target and stake follow the expected range of BTC over 7 days.

The direction of these forecasts has no demonstrated skill, and the service says so: here it opens no position. The part
with skill is the width of the range. Not investment advice; the rule of entry is a placeholder for your own.

    SERVICE_URL=https://oracle.example.org freqtrade trade --strategy OracleRange --dry-run
"""

from __future__ import annotations

import os
from datetime import datetime

from bitcoin_signal_oracle.client import OracleClient
from bitcoin_signal_oracle.daily import DailyForecast, DailyReading
from freqtrade.strategy import IStrategy, Trade, stoploss_from_absolute
from pandas import DataFrame


class OracleRange(IStrategy):
    INTERFACE_VERSION = 3
    timeframe = "1h"
    startup_candle_count = 48
    stoploss = -0.30  # the limit of a trade while no range is known
    minimal_roi = {"0": 10.0}  # never reached: custom_roi decides
    use_custom_stoploss = True
    use_custom_roi = True

    #: The price is expected to end in the range with this probability.
    share = 0.8
    #: The whole stake is put in where the stop is this close or closer; at twice the distance half of it.
    full_stake_distance = 0.05
    obey_sell = False  # where the caller may see a SELL, as with a login: whether it prevents an entry
    fresh: DailyReading | None = None

    def bot_start(self, **kwargs) -> None:
        self.oracle = DailyForecast(OracleClient(os.environ.get("SERVICE_URL") or "http://127.0.0.1:3000"), "7d")

    def bot_loop_start(self, current_time: datetime, **kwargs) -> None:
        # The range of today says nothing of the past: a backtest opens no position.
        if self.config["runmode"].value in ("live", "dry_run"):
            self.oracle.refresh(current_time)
            self.fresh = self.oracle.fresh(current_time)

    def populate_indicators(self, dataframe: DataFrame, metadata: dict) -> DataFrame:
        dataframe["mean"] = dataframe["close"].rolling(self.startup_candle_count).mean()
        return dataframe

    def populate_entry_trend(self, dataframe: DataFrame, metadata: dict) -> DataFrame:
        reading = self.fresh
        if reading is None or not is_bitcoin(metadata["pair"]) or (self.obey_sell and reading.signal["signal"] == "SELL"):
            return dataframe
        above = (dataframe["close"] > dataframe["mean"]) & (dataframe["volume"] > 0)
        dataframe.loc[above, ["enter_long", "enter_tag"]] = (1, f"{reading.signal['regime']} {reading.expected['date']}")
        return dataframe

    def populate_exit_trend(self, dataframe: DataFrame, metadata: dict) -> DataFrame:
        return dataframe

    def custom_stake_amount(self, pair: str, current_time: datetime, proposed_stake: float, **kwargs) -> float:
        # 0 opens nothing, also where the range has grown stale since the candle of the entry.
        reading = self.oracle.fresh(current_time)
        if reading is None or not is_bitcoin(pair):
            return 0
        return proposed_stake * min(1, self.full_stake_distance / reading.distances(self.share)[0])

    def custom_stoploss(self, pair: str, trade: Trade, current_rate: float, **kwargs) -> float | None:
        # An open position keeps the latest range, however old. freqtrade only ever tightens a stop.
        if self.oracle.latest is None or not is_bitcoin(pair):
            return None
        stop = trade.open_rate * (1 - self.oracle.latest.distances(self.share)[0])
        return stoploss_from_absolute(stop, current_rate, is_short=trade.is_short, leverage=trade.leverage)

    def custom_roi(self, pair: str, **kwargs) -> float | None:
        known = self.oracle.latest is not None and is_bitcoin(pair)
        return self.oracle.latest.distances(self.share)[1] if known else None


def is_bitcoin(pair: str) -> bool:
    return pair.split("/")[0] == "BTC"
