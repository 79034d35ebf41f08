"""Requests to a server that does not behave."""

from __future__ import annotations

import base64
import json
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from bitcoin_signal_oracle.errors import ServiceProblem, TransportError
from bitcoin_signal_oracle.payment import USDC, Payer
from bitcoin_signal_oracle.transport import Transport


class Misbehaving(BaseHTTPRequestHandler):
    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        getattr(self, f"answer_{urlsplit(self.path).path[1:]}")()

    def answer_redirect(self) -> None:
        self.start(302, Location="/elsewhere")

    def answer_long(self) -> None:
        self.start(200)
        self.wfile.write(b"[" + b" " * 2_000)

    def answer_slow(self) -> None:
        self.start(200)
        for _ in range(20):
            self.wfile.write(b" ")
            time.sleep(0.05)

    def answer_silent(self) -> None:
        time.sleep(1)

    def answer_html(self) -> None:
        self.start(200)
        self.wfile.write(b"<html>")

    def answer_proxy(self) -> None:
        self.start(503, **{"Retry-After": "7"})
        self.wfile.write(b"<html>")

    def answer_oracle(self) -> None:
        terms = {"scheme": "exact", "network": "eip155:8453", "asset": USDC["eip155:8453"], "amount": "1000"}
        required = json.dumps({"x402Version": 2, "accepts": [terms]})
        self.start(402, **{"PAYMENT-REQUIRED": base64.b64encode(required.encode()).decode()})

    def start(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Nothing: the tests read the responses."""


class TransportTest(unittest.TestCase):
    server: ThreadingHTTPServer
    url: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = ThreadingHTTPServer(("127.0.0.1", 0), Misbehaving)
        cls.server.daemon_threads = True
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.url = f"http://127.0.0.1:{cls.server.server_port}"

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.shutdown()
        cls.server.server_close()

    def fails(self, path: str, reason: str) -> None:
        with self.assertRaisesRegex(TransportError, reason):
            Transport(self.url, timeout=0.3, max_bytes=1_000).request("GET", path).json()

    def test_limits_the_size_of_a_response(self) -> None:
        self.fails("/long", "more than 1000 bytes")

    def test_limits_the_time_of_a_whole_response(self) -> None:
        self.fails("/slow", "longer than the timeout")

    def test_limits_the_time_of_silence(self) -> None:
        self.fails("/silent", "timed out")

    def test_rejects_what_is_not_json(self) -> None:
        self.fails("/html", "not JSON")

    def test_follows_no_redirect(self) -> None:
        with self.assertRaises(ServiceProblem) as caught:
            Transport(self.url).request("GET", "/redirect", headers={"Authorization": "Bearer secret"}).json()
        self.assertEqual((caught.exception.status, caught.exception.code), (302, "UNKNOWN"))
        self.assertNotIn("/elsewhere", Misbehaving.asked)

    def test_names_the_wait_of_an_error_that_is_not_of_the_service(self) -> None:
        with self.assertRaises(ServiceProblem) as caught:
            Transport(self.url).request("GET", "/proxy").json()
        self.assertEqual((caught.exception.code, caught.exception.retry_after), ("UNKNOWN", 7.0))

    def test_terms_that_are_incomplete_are_not_signed(self) -> None:
        payer = Payer(self.url, "0x", lambda *_: self.fail("signed"), max_usd=1)
        with self.assertRaisesRegex(TransportError, "not those of x402 version 2"):
            payer.prepare()

    def test_names_the_address_where_nothing_answers(self) -> None:
        with self.assertRaisesRegex(TransportError, "at http://127.0.0.1:1 failed: .*refused"):
            Transport("http://127.0.0.1:1").request("GET", "/health")

    def test_rejects_an_address_that_is_no_http_url(self) -> None:
        for url in ("file:///etc/passwd", "oracle.example.org", "https://oracle.example.org/?a=b"):
            with self.assertRaisesRegex(ValueError, "base_url must be"):
                Transport(url)


if __name__ == "__main__":
    unittest.main()
