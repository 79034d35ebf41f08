"""A freqtrade strategy whose stop, target and stake follow the expected range of BTC over 7 days.

The direction of these forecasts has no demonstrated skill, and the service says so: here it opens no position. The part
with skill is the width of the range. Not investment advice; the rule of entry is a placeholder for your own.

    SERVICE_URL=https://oracle.example.org freqtrade trade --strategy OracleRange --dry-run
    SERVICE_URL=https://oracle.example.org freqtrade backtesting --strategy OracleRange

A backtest reads the resolved record, each forecast from the block time of its commitment on (`attestedAt`).
"""

from __future__ import annotations

import logging
import os
from datetime import datetime, timedelta

from bitcoin_signal_oracle.client import OracleClient
from bitcoin_signal_oracle.daily import DailyForecast, DailyHistory, DailyReading
from freqtrade.strategy import IStrategy, Trade, stoploss_from_absolute, timeframe_to_minutes
from pandas import DataFrame

logger = logging.getLogger(__name__)


class OracleRange(IStrategy):
    INTERFACE_VERSION = 3
    timeframe = "1h"
    startup_candle_count = 48
    stoploss = -0.30  # the limit of a trade while no range is known
    minimal_roi = {"0": 10.0}  # never reached: custom_roi decides
    use_custom_stoploss = True
    use_custom_roi = True

    horizon = "7d"
    #: The price is expected to end in the range with this probability.
    share = 0.8
    #: The whole stake is put in where the stop is this close or closer; at twice the distance half of it.
    full_stake_distance = 0.05
    #: Whether a SELL prevents an entry: where the caller may see it, as with a login. A backtest then sees what a login saw.
    obey_sell = False
    fresh: DailyReading | None = None

    def bot_start(self, **kwargs) -> None:
        client = OracleClient(os.environ.get("SERVICE_URL") or "http://127.0.0.1:3000")
        if self.config["runmode"].value in ("live", "dry_run"):
            self.oracle = DailyForecast(client, self.horizon)
            return
        # The range of today says nothing of the past.
        self.oracle = DailyHistory(client.dataset_table("forecasts"), self.horizon, sees_values=self.obey_sell)
        past = self.oracle.readings()
        replayed = sum(reading.expected["replayed"] for reading in past)
        if replayed > 0:
            logger.warning("%s of %s forecasts were replayed: made afterwards, they prove nothing", replayed, len(past))

    def bot_loop_start(self, current_time: datetime, **kwargs) -> None:
        self.oracle.refresh(current_time)
        self.fresh = self.oracle.fresh(current_time)

    def populate_indicators(self, dataframe: DataFrame, metadata: dict) -> DataFrame:
        dataframe["mean"] = dataframe["close"].rolling(self.startup_candle_count).mean()
        return dataframe

    def populate_entry_trend(self, dataframe: DataFrame, metadata: dict) -> DataFrame:
        if not is_bitcoin(metadata["pair"]):
            return dataframe
        above = (dataframe["close"] > dataframe["mean"]) & (dataframe["volume"] > 0)
        used = [reading if up and self.may_enter(reading) else None for up, reading in zip(above, self.readings(dataframe))]
        dataframe["enter_long"] = [int(reading is not None) for reading in used]
        dataframe["enter_tag"] = [None if reading is None else tag_of(reading) for reading in used]
        dataframe["oracle_replayed"] = [reading is not None and is_replayed(reading) for reading in used]
        return dataframe

    def readings(self, dataframe: DataFrame) -> list[DailyReading | None]:
        """What was known when each candle had closed, at which freqtrade acts on it. Live only the last one counts."""
        if isinstance(self.oracle, DailyForecast):
            return [self.fresh] * len(dataframe)
        length = timedelta(minutes=timeframe_to_minutes(self.timeframe))
        return [self.oracle.fresh(date.to_pydatetime() + length) for date in dataframe["date"]]

    def may_enter(self, reading: DailyReading | None) -> bool:
        return reading is not None and not (self.obey_sell and reading.signal["signal"] == "SELL")

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


def is_replayed(reading: DailyReading) -> bool:
    return reading.expected["replayed"]


def tag_of(reading: DailyReading) -> str:
    mark = " replayed" if is_replayed(reading) else ""
    return f"{reading.signal['regime']} {reading.expected['date']}{mark}"
