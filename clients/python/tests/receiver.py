"""A receiver of one webhook delivery, which keeps what came."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Dict, Iterator


class Receiver(HTTPServer):
    body = b""
    headers: Dict[str, str] = {}


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.server.body = self.rfile.read(int(self.headers["content-length"]))
        self.server.headers = dict(self.headers)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Nothing: the tests read what came."""


@contextmanager
def receive_one() -> Iterator[Receiver]:
    """Listens on a free port of loopback (``server_port``); at the end has one delivery."""
    with Receiver(("127.0.0.1", 0), _Handler) as server:
        server.timeout = 30
        thread = threading.Thread(target=server.handle_request, daemon=True)
        thread.start()
        yield server
        thread.join()
