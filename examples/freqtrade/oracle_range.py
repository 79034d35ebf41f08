"""A freqtrade strategy whose stake, stop and target follow the size of the move that BTC is expected to make in a day.

The direction of these forecasts has no demonstrated skill, and the service says so: here it opens no position. The part
with skill is the width of the range. Not investment advice; the rule of entry is a placeholder for your own. What such
sizes did on past days, and what they did not: examples/README.md. A backtest reads the resolved record, each forecast from
the block time of its commitment on (`attestedAt`).

    SERVICE_URL=https://oracle.example.org freqtrade trade --strategy OracleRange --dry-run    # or: backtesting
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
    stoploss = -0.30  # the limit of a trade before the first stop
    minimal_roi = {"0": 10.0}  # never reached: custom_roi decides
    use_custom_stoploss = True
    use_custom_roi = True

    horizon = "1d"
    #: What a stop costs, as a ratio of the proposed stake, which is never exceeded: the stake is the risk / the distance of the stop.
    risk = 0.02
    #: The distance while no fresh range is known: then the stake is a fixed one.
    fixed_stop = 0.10
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
        past = [is_replayed(reading) for reading in self.oracle.readings()]
        if any(past):
            logger.warning("%s of %s forecasts were replayed: made afterwards, they prove nothing", sum(past), len(past))

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
        used = [(up and self.may_enter(reading), reading) for up, reading in zip(above, self.readings(dataframe))]
        dataframe["enter_long"] = [int(enters) for enters, _ in used]
        dataframe["enter_tag"] = [tag_of(reading) if enters else None for enters, reading in used]
        dataframe["oracle_replayed"] = [enters and is_replayed(reading) for enters, reading in used]
        return dataframe

    def readings(self, dataframe: DataFrame) -> list[DailyReading | None]:
        """What was known when each candle had closed, at which freqtrade acts on it. Live only the last one counts."""
        if isinstance(self.oracle, DailyForecast):
            return [self.fresh] * len(dataframe)
        length = timedelta(minutes=timeframe_to_minutes(self.timeframe))
        return [self.oracle.fresh(date.to_pydatetime() + length) for date in dataframe["date"]]

    def may_enter(self, reading: DailyReading | None) -> bool:
        return reading is None or not (self.obey_sell and reading.signal["signal"] == "SELL")

    def populate_exit_trend(self, dataframe: DataFrame, metadata: dict) -> DataFrame:
        return dataframe

    def custom_stake_amount(self, pair: str, current_time: datetime, proposed_stake: float, **kwargs) -> float:
        if not is_bitcoin(pair):
            return 0
        reading = self.oracle.fresh(current_time)
        stop, _ = self.distances(reading)
        if reading is None:
            logger.warning("No fresh range at %s: a fixed stake, for a stop at %.0f %%", current_time, 100 * stop)
        return proposed_stake * min(1, self.risk / stop)

    def distances(self, reading: DailyReading | None) -> tuple[float, float]:
        """Of stop and target from the price of the entry, as ratios."""
        return (self.fixed_stop, 10.0) if reading is None else reading.stop_distances()

    def custom_stoploss(self, pair: str, trade: Trade, current_rate: float, **kwargs) -> float | None:
        if not is_bitcoin(pair):
            return None
        # An open position keeps the latest range, however old. freqtrade only ever tightens a stop.
        stop = trade.open_rate * (1 - self.distances(self.oracle.latest)[0])
        return stoploss_from_absolute(stop, current_rate, is_short=trade.is_short, leverage=trade.leverage)

    def custom_roi(self, pair: str, **kwargs) -> float | None:
        return self.distances(self.oracle.latest)[1] if is_bitcoin(pair) else None


def is_bitcoin(pair: str) -> bool:
    return pair.split("/")[0] == "BTC"


def is_replayed(reading: DailyReading | None) -> bool:
    return reading is not None and reading.expected["replayed"]


def tag_of(reading: DailyReading | None) -> str:
    if reading is None:
        return "no range"
    return f"{reading.signal['regime']} {reading.expected['date']}{' replayed' if is_replayed(reading) else ''}"
