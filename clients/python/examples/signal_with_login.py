"""Login by a signature, then the signal: PRIVATE_KEY=0x... python signal_with_login.py    (with eth-account)"""

import os

from bitcoin_signal_oracle.client import OracleClient
from bitcoin_signal_oracle.login import WalletLogin
from bitcoin_signal_oracle.wallet import open_wallet

url = os.environ.get("SERVICE_URL", "http://127.0.0.1:3000")
wallet = open_wallet(os.environ["PRIVATE_KEY"])
login = WalletLogin(url, wallet.address, wallet.sign)
signal = OracleClient(url, login=login).oracle("7d")
print(f"Size of the move: {signal['moveSize']}, P(big) {signal['pBig']}")
print(f"{signal['signal']} for {signal['horizon']}: {signal['direction']} with probability {signal['confidence']}")
print(f"Verdict on the record: {signal['skill']['verdict']}")
login.log_out()
