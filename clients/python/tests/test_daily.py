"""The daily reading, at servers of this test."""

from __future__ import annotations

import json
import threading
import unittest
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, Tuple

from bitcoin_signal_oracle.client import OracleClient
from bitcoin_signal_oracle.daily import DailyForecast
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

    def test_reads_in_the_background_once_at_a_time(self) -> None:
        self.service.may_answer.clear()
        for _ in range(3):
            self.daily.refresh_in_background(NOON)
        self.assertIsNone(self.daily.latest)
        [caller] = [thread for thread in threading.enumerate() if thread.name == "bitcoin_signal_oracle.daily"]
        self.service.may_answer.set()
        caller.join(30)
        self.assertEqual((self.daily.age(NOON), self.service.calls), (NOON - MADE, 1))


if __name__ == "__main__":
    unittest.main()
