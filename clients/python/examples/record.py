"""The expected range and the record behind it, for everybody: python record.py"""

import os

from bitcoin_signal_oracle.client import OracleClient

client = OracleClient(os.environ.get("SERVICE_URL", "http://127.0.0.1:3000"))
expected = client.expected_range("7d")
print(f"Size of the move in 7 days: {expected['moveSize']}, P(big) {expected['pBig']}")
for one in expected["ranges"]:
    print(f"{one['share']:.0%} until {expected['resolvesAt']}: {one['low']} to {one['high']} USD")
summary = client.scorecard("7d")["summary"]
interval = summary["accuracyInterval95"]
if interval is not None:
    print(f"Right: {summary['accuracy']:.0%}, 95 % interval {interval['low']:.0%} to {interval['high']:.0%}")
print(f"Verdict: {summary['verdict']}")
