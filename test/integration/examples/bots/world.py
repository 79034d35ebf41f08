"""The service that these tests are given by their environment, and an address at which there is none."""

import os
import socket
import unittest
from datetime import datetime

from bitcoin_signal_oracle.client import OracleClient
from bitcoin_signal_oracle.responses import ExpectedRange, Horizon

SERVICE_URL = os.environ.get("SERVICE_URL", "")
needs_service = unittest.skipUnless(SERVICE_URL, "SERVICE_URL names no service")


def range_of(horizon: Horizon) -> tuple[ExpectedRange, datetime]:
    """What the service says, asked for by another call, and when it was forecast."""
    expected = OracleClient(SERVICE_URL).expected_range(horizon)
    return expected, datetime.fromisoformat(expected["timestamp"].replace("Z", "+00:00"))


def closed_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"
