"""One paid answer: PRIVATE_KEY=0x... python pay.py    (with eth-account; ASSET: the coin of a local chain)"""

import os

from bitcoin_signal_oracle.payment import USDC, Payer
from bitcoin_signal_oracle.wallet import open_wallet

url = os.environ.get("SERVICE_URL", "http://127.0.0.1:3000")
wallet = open_wallet(os.environ["PRIVATE_KEY"])
assets = {"eip155:84532": os.environ["ASSET"]} if "ASSET" in os.environ else USDC
payer = Payer(url, wallet.address, wallet.sign_typed_data, max_usd="0.002", assets=assets)
bought = payer.buy("7d")
print(f"Size of the move: {bought.answer['moveSize']}, P(big) {bought.answer['pBig']}")
print(f"{bought.answer['signal']}: {bought.answer['direction']}")
print(f"Paid {bought.payment['usd']} USD in {bought.payment['txHash']}")
