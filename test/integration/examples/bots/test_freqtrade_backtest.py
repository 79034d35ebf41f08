"""Backtests of examples/freqtrade/oracle_range.py over the dataset of a service, candle by candle; freqtrade is a stand-in."""

import csv
import hashlib
import io
import json
import math
import threading
import unittest
import unittest.mock
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import oracle_range
from bitcoin_signal_oracle.client import OracleClient
from bitcoin_signal_oracle.daily import DailyHistory
from freqtrade.strategy import Trade
from pandas import DataFrame, date_range

from test_freqtrade import RunMode, strategy_at
from world import SERVICE_URL, needs_service

DAYS = 20
FIRST = datetime(2026, 9, 1, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)


class DatasetServer(ThreadingHTTPServer):
    """Serves rows as the dataset of a service."""

    def __init__(self, rows: "list[dict[str, str]]") -> None:
        super().__init__(("127.0.0.1", 0), DatasetHandler)
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        self.table = text.getvalue().encode()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


class DatasetHandler(BaseHTTPRequestHandler):
    server: DatasetServer

    def do_GET(self) -> None:
        file = {"format": "csv", "sha256": hashlib.sha256(self.server.table).hexdigest()}
        index = json.dumps({"tables": [{"name": "forecasts", "files": [file]}]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.server.table if self.path.endswith("/forecasts.csv") else index)

    def log_message(self, *_: object) -> None:
        pass


def stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def rows_of(template: "dict[str, str]") -> "list[dict[str, str]]":
    """A row of the service for each of some days, each with a width of its own."""
    return [{**template, **day_of(number)} for number in range(DAYS)]


def day_of(number: int) -> "dict[str, str]":
    made = FIRST + timedelta(days=number, hours=21, minutes=35)
    opens = FIRST + timedelta(days=number + 1)
    half = 0.01 + 0.0005 * number
    ends = {"05": -2, "10": -1, "25": -0.5, "50": 0, "75": 0.5, "90": 1, "95": 2}
    return {
        "date": made.strftime("%Y-%m-%d"),
        "predictionId": made.strftime("%Y-%m-%d:1d"),
        "horizonDays": "1",
        "signal": "SELL" if number % 2 else "HOLD",
        "btcPrice": "100",
        **{f"priceP{level}": f"{100 * math.exp(scale * half):.6f}" for level, scale in ends.items()},
        "signalAt": stamp(made),
        "attestedAt": stamp(made + timedelta(minutes=3, seconds=30)),
        "windowOpensAt": stamp(opens),
        "resolvesAt": stamp(opens + timedelta(days=1)),
        "revealedAt": stamp(opens + timedelta(days=1, minutes=10)),
        "replayed": "true" if number < 5 else "false",
    }


def candles() -> DataFrame:
    """Hours that rise with a dip every two days, so that trades end at targets and at stops."""
    dates = date_range(FIRST - 48 * HOUR, periods=24 * (DAYS + 4), freq="h", tz="UTC")
    close = [100 + 0.05 * hour - (6 if hour % 48 > 44 else 0) for hour in range(len(dates))]
    return DataFrame({"date": dates, "open": close, "high": close, "low": close, "close": close, "volume": 1.0})


def signals(strategy: oracle_range.OracleRange, frame: DataFrame) -> DataFrame:
    for populate in (strategy.populate_indicators, strategy.populate_entry_trend, strategy.populate_exit_trend):
        frame = populate(frame, {"pair": "BTC/USDT"})
    return frame


def backtest(strategy: oracle_range.OracleRange, frame: DataFrame) -> "list[tuple[object, ...]]":
    """Trades by the order of freqtrade: a signal of a closed candle enters at the open of the next one."""
    done: "list[tuple[object, ...]]" = []
    trade, entered, best_stop = None, None, 0.0
    rows = signals(strategy, frame.copy()).to_dict("records")
    for before, candle in zip(rows, rows[1:]):
        at, rate = candle["date"].to_pydatetime(), candle["open"]
        strategy.bot_loop_start(current_time=at)
        terms = {"pair": "BTC/USDT", "current_time": at, "current_rate": rate}
        if trade is not None:
            stop = strategy.custom_stoploss(trade=trade, current_profit=rate / trade.open_rate - 1, after_fill=False, **terms)
            best_stop = max(best_stop, rate * (1 - (stop or 0.3)))
            target = strategy.custom_roi(pair="BTC/USDT", trade=trade, current_time=at, trade_duration=0, entry_tag=None, side="long")
            if candle["low"] <= best_stop or candle["high"] >= trade.open_rate * (1 + (target or 10)):
                done.append((*entered, at, round(best_stop, 6), round(target or 0, 6)))
                trade, best_stop = None, 0.0
        elif before.get("enter_long") == 1:
            stake = strategy.custom_stake_amount(
                proposed_stake=1_000.0, min_stake=10.0, max_stake=5_000.0, leverage=1.0, entry_tag=before["enter_tag"], side="long", **terms
            )
            if stake > 0:
                trade, entered = Trade(rate), (at, before["enter_tag"], round(stake, 6))
    return done


def known_from(rows: "list[dict[str, str]]") -> "dict[str, datetime]":
    return {row["date"]: datetime.fromisoformat(row["attestedAt"].replace("Z", "+00:00")) for row in rows}


def ranged(frame: DataFrame) -> DataFrame:
    """Entries by a row; others have a fixed stake."""
    return frame[(frame["enter_long"] == 1) & (frame["enter_tag"] != "no range")]


def ahead(frame: DataFrame, rows: "list[dict[str, str]]") -> "list[object]":
    """Entries by a row that was not on chain when their candle closed."""
    known = known_from(rows)
    entries = ranged(frame)
    return [date for date, tag in zip(entries["date"], entries["enter_tag"]) if date + HOUR < known[tag.split()[1]]]


@needs_service
class BacktestTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        table = OracleClient(SERVICE_URL).dataset_table("forecasts").decode()
        cls.template = next(csv.DictReader(io.StringIO(table)))

    def setUp(self) -> None:
        self.rows = rows_of(self.template)
        self.frame = candles()

    def strategy(self, rows: "list[dict[str, str]]", **settings: object) -> oracle_range.OracleRange:
        server = DatasetServer(rows)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        for name, value in settings.items():
            patched = unittest.mock.patch.object(oracle_range.OracleRange, name, value)
            patched.start()
            self.addCleanup(patched.stop)
        return strategy_at(f"http://127.0.0.1:{server.server_port}", RunMode.BACKTEST)

    def days(self, frame: DataFrame) -> "dict[object, str]":
        """The row of each entry, by the end of its candle."""
        entries = ranged(frame)
        return {date + HOUR: tag.split()[1] for date, tag in zip(entries["date"], entries["enter_tag"])}

    def test_uses_a_row_from_the_first_candle_that_closes_after_its_attestation(self) -> None:
        frame = signals(self.strategy(self.rows), self.frame)
        self.assertEqual(ahead(frame, self.rows), [])
        days = self.days(frame)
        self.assertGreater(len(days), 300)
        tenth = FIRST + timedelta(days=10)
        self.assertEqual(days[tenth + 21 * HOUR], "2026-09-10")
        self.assertEqual(days[tenth + 22 * HOUR], "2026-09-11")

    def test_trades_by_it_end_at_stop_and_target(self) -> None:
        trades = backtest(self.strategy(self.rows), self.frame)
        self.assertGreater(len(trades), 5)
        self.assertEqual(trades, backtest(self.strategy(self.rows), self.frame))

    def test_a_later_attestation_is_used_later(self) -> None:
        moved = known_from(self.rows)["2026-09-11"] + timedelta(hours=12)
        rows = [{**row, "attestedAt": stamp(moved)} if row["date"] == "2026-09-11" else row for row in self.rows]
        frame = signals(self.strategy(rows), self.frame)
        self.assertEqual(ahead(frame, rows), [])
        days = self.days(frame)
        first = next(end for end, day in days.items() if day == "2026-09-11")
        self.assertEqual(first, datetime(2026, 9, 12, 10, tzinfo=timezone.utc))
        # The row before has grown stale meanwhile: 30 hours.
        self.assertNotIn(datetime(2026, 9, 12, 4, tzinfo=timezone.utc), days)

    def test_nothing_before_an_attestation_depends_on_the_rows_from_it_on(self) -> None:
        limit = FIRST + timedelta(days=12, hours=21, minutes=38)
        other = {"priceP10": "20", "priceP90": "500", "priceP05": "10", "priceP95": "900", "regime": "CRISIS", "btcPrice": "77", "signal": "SELL"}
        rows = [{**row, **other} if known_from([row])[row["date"]] > limit else row for row in self.rows]
        self.assertNotEqual(rows, self.rows)
        runs = [self.strategy(one) for one in (self.rows, rows)]
        ours, theirs = [signals(strategy, self.frame.copy()) for strategy in runs]
        closed = self.frame["date"] + HOUR <= limit
        self.assertTrue(ours[closed].equals(theirs[closed]))
        self.assertFalse(ours.equals(theirs))
        trades = [backtest(strategy, self.frame) for strategy in runs]
        early = [[trade for trade in run if trade[3] <= limit] for run in trades]
        self.assertGreater(len(early[0]), 2)
        self.assertEqual(early[0], early[1])
        self.assertNotEqual(trades[0], trades[1])

    def test_a_frame_that_ends_earlier_has_the_same_signals(self) -> None:
        strategy = self.strategy(self.rows)
        whole = signals(strategy, self.frame.copy())
        for length in range(60, len(self.frame), 7):
            self.assertTrue(signals(strategy, self.frame[:length].copy()).equals(whole[:length]), length)

    def test_these_checks_find_a_reader_that_takes_a_row_by_its_date(self) -> None:
        strategy = self.strategy(self.rows)
        by_date = [{**row, "attestedAt": f"{row['date']}T00:00:00.000Z", "signalAt": f"{row['date']}T00:00:00.000Z"} for row in self.rows]
        leaking = self.strategy(by_date)
        self.assertEqual(ahead(signals(strategy, self.frame.copy()), self.rows), [])
        self.assertGreater(len(ahead(signals(leaking, self.frame.copy()), self.rows)), 100)

    def test_marks_the_entries_by_replayed_rows(self) -> None:
        with self.assertLogs("oracle_range", "WARNING") as logged:
            strategy = self.strategy(self.rows)
        self.assertRegex(logged.output[0], r"5 of 20 .*replayed")
        frame = signals(strategy, self.frame)
        entries = ranged(frame)
        replayed = {row["date"] for row in self.rows if row["replayed"] == "true"}
        for tag, marked in zip(entries["enter_tag"], entries["oracle_replayed"]):
            self.assertEqual((tag.endswith(" replayed"), bool(marked)), (tag.split()[1] in replayed,) * 2)
        self.assertEqual({tag.endswith(" replayed") for tag in entries["enter_tag"]}, {True, False})

    def test_obeys_a_sell_as_a_holder_of_a_token_saw_it_and_only_then(self) -> None:
        sells = {row["date"] for row in self.rows if row["signal"] == "SELL"}
        anonymous = set(self.days(signals(self.strategy(self.rows), self.frame.copy())).values())
        self.assertTrue(sells & anonymous)
        holder = set(self.days(signals(self.strategy(self.rows, obey_sell=True), self.frame.copy())).values())
        self.assertEqual(holder, anonymous - sells)

    def test_reads_the_record_of_the_service(self) -> None:
        strategy = strategy_at(SERVICE_URL, RunMode.BACKTEST)
        self.assertIsInstance(strategy.oracle, DailyHistory)
        reader = csv.DictReader(io.StringIO(OracleClient(SERVICE_URL).dataset_table("forecasts").decode()))
        rows = [row for row in reader if row["horizonDays"] == "1"]
        self.assertGreater(len(rows), 3)
        known = known_from(rows)
        for row in rows:
            at = known[row["date"]]
            self.assertEqual(strategy.oracle.fresh(at).expected["date"], row["date"])
            below, above = strategy.oracle.fresh(at).distances(0.8)
            width = math.log(float(row["priceP90"]) / float(row["priceP10"]))
            self.assertAlmostEqual(math.log((1 + above) / (1 - below)), width)
            earlier = strategy.oracle.fresh(at - timedelta(seconds=1))
            self.assertNotEqual(earlier and earlier.expected["date"], row["date"])
