"""The daily reading, at servers of this test."""

from __future__ import annotations

import json
import math
import threading
import unittest
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, Tuple

from bitcoin_signal_oracle.client import OracleClient
from bitcoin_signal_oracle.daily import DailyForecast, DailyHistory
from bitcoin_signal_oracle.errors import ServiceProblem

MADE = datetime(2026, 11, 27, 21, 35, tzinfo=timezone.utc)
NOON = datetime(2026, 11, 28, 12, 0, tzinfo=timezone.utc)
RANGE: Dict[str, Any] = {"timestamp": "2026-11-27T21:35:00.000Z", "btcPrice": 100.0, "ranges": [{"share": 0.8, "low": 90.0, "high": 112.0}]}
LATER = {**RANGE, "timestamp": "2026-11-28T21:35:00.000Z"}


class Service(ThreadingHTTPServer):
    """Answers with ``reply``; ``calls`` counts ranges. ``may_answer`` holds answers back while it is cleared."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.calls = 0
        self.reply: Tuple[int, Dict[str, Any], Dict[str, str]] = (200, RANGE, {})
        self.may_answer = threading.Event()
        self.may_answer.set()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_GET(self) -> None:
        if "/open/signal" in self.path:
            return self.answer(200, {"signal": "GATED"}, {})
        self.server.calls += 1
        self.server.may_answer.wait(30)
        self.answer(*self.server.reply)

    def answer(self, status: int, body: Dict[str, Any], headers: Dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: Any) -> None:
        pass


class DailyForecastTest(unittest.TestCase):
    def setUp(self) -> None:
        self.service = Service()
        self.addCleanup(self.service.server_close)
        self.addCleanup(self.service.shutdown)
        self.daily = DailyForecast(OracleClient(f"http://127.0.0.1:{self.service.server_port}"))

    def refresh(self, now: datetime, *, fails: bool = False) -> int:
        """Calls that the service has got afterwards."""
        if fails:
            with self.assertLogs("bitcoin_signal_oracle.daily", "WARNING"):
                self.daily.refresh(now)
        else:
            self.daily.refresh(now)
        return self.service.calls

    def test_one_call_serves_until_the_next_forecast_is_due(self) -> None:
        self.assertEqual([self.refresh(NOON + timedelta(hours=hour)) for hour in range(9)], [1] * 9)
        self.service.reply = (200, LATER, {})
        self.assertEqual(self.refresh(MADE + timedelta(days=1)), 2)
        self.assertEqual(self.daily.age(MADE + timedelta(days=1, hours=2)), timedelta(hours=2))

    def test_a_late_forecast_is_asked_for_again_after_a_while(self) -> None:
        due = MADE + timedelta(days=1)
        self.refresh(NOON)
        self.assertEqual([self.refresh(due + timedelta(minutes=minute)) for minute in range(11)], [2] * 5 + [3] * 5 + [4])

    def test_a_failed_call_keeps_the_latest_until_it_is_stale(self) -> None:
        self.refresh(NOON)
        self.service.reply = (503, {"code": "STEP_WAITING", "detail": "waits"}, {})
        self.refresh(MADE + timedelta(hours=29), fails=True)
        self.assertIsInstance(self.daily.error, ServiceProblem)
        self.assertIs(self.daily.fresh(MADE + timedelta(hours=30)), self.daily.latest)
        self.assertIsNone(self.daily.fresh(MADE + timedelta(hours=30, seconds=1)))
        self.assertIsNotNone(self.daily.latest)

    def test_waits_as_long_as_the_service_says(self) -> None:
        self.service.reply = (429, {"code": "RATE_LIMITED", "detail": "slow down"}, {"Retry-After": "900"})
        self.assertEqual(self.refresh(NOON, fails=True), 1)
        self.service.reply = (200, RANGE, {})
        self.assertEqual(self.refresh(NOON + timedelta(seconds=899)), 1)
        self.assertEqual(self.refresh(NOON + timedelta(seconds=900)), 2)
        self.assertIsNone(self.daily.error)

    def test_an_answer_of_another_shape_is_an_error_and_no_reading(self) -> None:
        replies: Tuple[Dict[str, Any], ...] = ({}, {**RANGE, "timestamp": 1}, {**RANGE, "ranges": []})
        for reply in replies:
            self.service.reply = (200, reply, {})
            self.refresh(NOON + self.service.calls * timedelta(hours=1), fails=True)
            self.assertIsNone(self.daily.latest)

    def test_the_distances_are_ratios_of_the_price_at_forecast_time(self) -> None:
        self.refresh(NOON)
        assert self.daily.latest is not None
        below, above = self.daily.latest.distances()
        self.assertAlmostEqual(below, 0.1)
        self.assertAlmostEqual(above, 0.12)
        self.assertRaisesRegex(ValueError, r"one of \[0\.8\], not 0\.7", self.daily.latest.distances, 0.7)

    def test_the_distances_of_a_stop_are_of_half_the_width_or_of_the_range_where_there_is_none(self) -> None:
        half = math.log(1 / 0.95)
        ninety = {"share": 0.9, "low": 80.0, "high": 125.0}
        for limits, expected in (({"width90": 2 * half}, (0.05, 1 / 0.95 - 1)), (None, (0.2, 0.25))):
            reply = {**RANGE, "ranges": [*RANGE["ranges"], ninety], "moveLimits": limits}
            self.service.reply = (200, reply, {})
            self.daily = DailyForecast(OracleClient(f"http://127.0.0.1:{self.service.server_port}"))
            self.refresh(NOON)
            assert self.daily.latest is not None
            for found, wanted in zip(self.daily.latest.stop_distances(), expected):
                self.assertAlmostEqual(found, wanted)

    def test_reads_in_the_background_once_at_a_time(self) -> None:
        self.service.may_answer.clear()
        for _ in range(3):
            self.daily.refresh_in_background(NOON)
        self.assertIsNone(self.daily.latest)
        [caller] = [thread for thread in threading.enumerate() if thread.name == "bitcoin_signal_oracle.daily"]
        self.service.may_answer.set()
        caller.join(30)
        self.assertEqual((self.daily.age(NOON), self.service.calls), (NOON - MADE, 1))


def row(day: int, **changes: str) -> Dict[str, str]:
    """A row of the dataset, with the quantiles of a width that is its day in percent of a log return."""
    half = {"50": 0.005 * day, "80": 0.01 * day, "90": 0.02 * day}
    levels = {"50": ("25", "75"), "80": ("10", "90"), "90": ("05", "95")}
    quantiles = {f"priceP{level}": f"{110 * math.exp(sign * half[key]):.6f}" for key, ends in levels.items() for level, sign in zip(ends, (-1, 1))}
    made = {"signalAt": f"2026-10-{day:02}T21:35:00.000Z", "attestedAt": f"2026-10-{day:02}T21:38:30.000Z"}
    ends = {"windowOpensAt": f"2026-10-{day + 1:02}T00:00:00.000Z", "resolvesAt": f"2026-10-{day + 8:02}T00:00:00.000Z"}
    known = {"date": f"2026-10-{day:02}", "horizonDays": "7", "predictionId": f"2026-10-{day:02}:7d", "btcPrice": "100", "regime": "CHOP"}
    values = {"signal": "SELL", "direction": "DOWN", "confidence": "0.56", "modelVersion": "m0-d1", "replayed": "false"}
    return {**known, **values, **quantiles, **made, **ends, "revealedAt": f"2026-10-{day + 8:02}T00:10:00.000Z", **changes}


def table_of(*rows: Dict[str, str]) -> bytes:
    return "\n".join([",".join(rows[0]), *(",".join(one.values()) for one in rows)]).encode()


def at(day: int, hour: int, minute: int = 0, second: int = 0) -> datetime:
    return datetime(2026, 10, day, hour, minute, second, tzinfo=timezone.utc)


class DailyHistoryTest(unittest.TestCase):
    history = DailyHistory(table_of(row(6), row(5), row(5, horizonDays="1", predictionId="2026-10-05:1d")))

    def id_at(self, now: datetime, history: "DailyHistory | None" = None) -> "str | None":
        reading = (history or self.history).fresh(now)
        return None if reading is None else reading.signal["predictionId"]

    def test_a_row_counts_from_its_attestation_on_and_until_the_next_one(self) -> None:
        times = [at(5, 21, 35), at(5, 21, 38, 29), at(5, 21, 38, 30), at(6, 21, 38, 29), at(6, 21, 38, 30)]
        expected = [None, None, "2026-10-05:7d", "2026-10-05:7d", "2026-10-06:7d"]
        self.assertEqual([self.id_at(now) for now in times], expected)

    def test_a_row_grows_stale_as_a_reading_does(self) -> None:
        self.assertEqual(self.id_at(at(6, 21, 35) + timedelta(hours=30)), "2026-10-06:7d")
        self.assertIsNone(self.id_at(at(6, 21, 35) + timedelta(hours=30, seconds=1)))
        self.history.refresh(at(20, 0))
        assert self.history.latest is not None
        self.assertEqual(self.history.age(at(20, 0)), at(20, 0) - at(6, 21, 35))

    def test_the_latest_is_that_of_the_refreshed_time_also_of_an_earlier_one(self) -> None:
        for now, expected in ((at(7, 0), at(6, 21, 35)), (at(6, 0), at(5, 21, 35))):
            self.history.refresh_in_background(now)
            assert self.history.latest is not None
            self.assertEqual(self.history.latest.made_at, expected)
        self.history.refresh(at(5, 0))
        self.assertIsNone(self.history.latest)

    def test_the_range_is_the_public_one_around_the_price_at_forecast_time(self) -> None:
        reading = self.history.fresh(at(6, 0))
        assert reading is not None
        for share, half in ((0.5, 0.025), (0.8, 0.05), (0.9, 0.1)):
            below, above = reading.distances(share)
            self.assertAlmostEqual(below, 1 - math.exp(-half), 6)
            self.assertAlmostEqual(above, math.exp(half) - 1, 6)

    def test_values_are_hidden_until_the_reveal_except_from_a_holder_of_a_token(self) -> None:
        old = DailyHistory(table_of(row(5)), max_age=timedelta(days=30))
        holder = DailyHistory(table_of(row(5)), sees_values=True, max_age=timedelta(days=30))

        def values(history: DailyHistory, now: datetime) -> Tuple[object, ...]:
            reading = history.fresh(now)
            assert reading is not None
            return reading.signal["signal"], reading.signal["direction"], reading.signal["confidence"]

        self.assertEqual(values(old, at(13, 0, 9, 59)), ("GATED", None, None))
        self.assertEqual(values(old, at(13, 0, 10)), ("SELL", "DOWN", 0.56))
        self.assertEqual(values(holder, at(5, 21, 38, 30)), ("SELL", "DOWN", 0.56))

    def test_marks_replayed_rows(self) -> None:
        history = DailyHistory(table_of(row(5, replayed="true"), row(6)))
        found = [reading.expected["replayed"] for reading in (history.fresh(at(6, 0)), history.fresh(at(7, 0))) if reading]
        self.assertEqual(found, [True, False])

    def test_another_table_and_a_time_without_a_zone_are_errors_that_say_what_to_give(self) -> None:
        self.assertRaisesRegex(ValueError, "attestedAt.*forecasts", DailyHistory, b"date,horizonDays\n2026-10-05,7\n")
        self.assertRaisesRegex(ValueError, "time zone", self.history.fresh, datetime(2026, 10, 6))
        self.assertIsNone(DailyHistory(table_of(row(5)), "2d").fresh(at(6, 0)))


if __name__ == "__main__":
    unittest.main()
