"""The programs of ``examples/`` at a running service, with a wallet that signs by the test's signer."""

from __future__ import annotations

import socket
import time
import unittest
from typing import Any, Dict

from bitcoin_signal_oracle.client import OracleClient
from bitcoin_signal_oracle.transport import Transport
from bitcoin_signal_oracle.webhooks import verify_webhook

from .programs import run, start
from .receiver import receive_one
from .world import SERVICE_URL, STABLECOIN, login_of, make_key, needs_service, revoke_key

def post(path: str, body: Dict[str, Any], token: str) -> Dict[str, Any]:
    return Transport(SERVICE_URL, timeout=30).request("POST", path, body=body, headers={"Authorization": f"Bearer {token}"}).json()


@needs_service
class ExamplesTest(unittest.TestCase):
    def test_record_prints_ranges_and_verdict(self) -> None:
        output = run("record.py")
        client = OracleClient(SERVICE_URL)
        self.assertIn(f"Verdict: {client.scorecard()['summary']['verdict']}", output)
        self.assertEqual(output.count(" USD\n"), 3)
        expected = client.expected_range()
        self.assertTrue(output.startswith(f"Size of the move in 7 days: {expected['moveSize']}, P(big) {expected['pBig']}\n"))

    def test_signal_with_login_prints_direction_and_verdict(self) -> None:
        output = run("signal_with_login.py", PRIVATE_KEY="premium")
        signal = OracleClient(SERVICE_URL, login=login_of("basic")).oracle()
        self.assertIn(f"{signal['signal']} for 7d: {signal['direction']} with probability {signal['confidence']}\n", output)
        self.assertIn(signal["skill"]["verdict"], output)

    def test_signal_with_key_prints_the_same_as_a_login(self) -> None:
        made = make_key("basic")
        output = run("signal_with_key.py", ORACLE_TOKEN=made["key"])
        revoke_key("basic", made["id"])
        self.assertEqual(output, run("signal_with_login.py", PRIVATE_KEY="basic"))

    def test_pay_prints_the_payment(self) -> None:
        output = run("pay.py", PRIVATE_KEY="buyer", ASSET=STABLECOIN)
        self.assertRegex(output, r"^Size of the move: (CALM|USUAL|WILD), P\(big\) 0\.\d+\n(HOLD|BUY|SELL): (UP|DOWN)\nPaid 0\.001 USD in 0x[0-9a-f]{64}\n$")

    def test_receive_webhook_prints_the_delivery_of_the_service(self) -> None:
        token = login_of("basic").session().token
        port = free_port()
        webhook = post("/api/svc/webhooks/register", {"url": f"http://127.0.0.1:{port}/py", "events": ["signal.new"]}, token)
        with start("receive_webhook.py", PORT=str(port), WEBHOOK_SECRET=webhook["secret"]) as program:
            wait_for(port)
            tested = post(f"/api/svc/webhooks/{webhook['id']}/test", {}, token)
            assert program.stdout is not None
            output = program.stdout.readline()
            program.terminate()
        delete(webhook["id"], token)
        self.assertTrue(tested["delivered"])
        self.assertIn("'type': 'ping'", output)

    def test_a_delivery_during_a_rotation_verifies_with_either_secret(self) -> None:
        token = login_of("basic").session().token
        with receive_one() as receiver:
            body = {"url": f"http://127.0.0.1:{receiver.server_port}/", "events": ["signal.new"], "secret": "a text of my own, ü"}
            webhook = post("/api/svc/webhooks/register", body, token)
            rotated = post(f"/api/svc/webhooks/{webhook['id']}/secret", {}, token)
            post(f"/api/svc/webhooks/{webhook['id']}/test", {}, token)
        delete(webhook["id"], token)
        for secret in ("a text of my own, ü", rotated["secret"]):
            self.assertEqual(verify_webhook(receiver.body, receiver.headers, secret)["type"], "ping")


def delete(webhook_id: str, token: str) -> None:
    Transport(SERVICE_URL).request("DELETE", f"/api/svc/webhooks/{webhook_id}", headers={"Authorization": f"Bearer {token}"}).json()


def wait_for(port: int) -> None:
    """Returns when a program listens there."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError(f"Nothing listens on {port}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    unittest.main()
