"""The signal with an API key of /access, without a wallet: ORACLE_TOKEN=bso_... python signal_with_key.py"""

import os

from bitcoin_signal_oracle.client import OracleClient

url = os.environ.get("SERVICE_URL", "http://127.0.0.1:3000")
signal = OracleClient(url, api_key=os.environ["ORACLE_TOKEN"]).oracle("7d")
print(f"Size of the move: {signal['moveSize']}, P(big) {signal['pBig']}")
print(f"{signal['signal']} for {signal['horizon']}: {signal['direction']} with probability {signal['confidence']}")
print(f"Verdict on the record: {signal['skill']['verdict']}")
