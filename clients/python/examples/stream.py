"""Events after an id, one line each: PRIVATE_KEY=0x... python stream.py [id]    (with eth-account and websockets)"""

import asyncio
import os
import sys

from bitcoin_signal_oracle.login import WalletLogin
from bitcoin_signal_oracle.stream import EventStream
from bitcoin_signal_oracle.wallet import open_wallet


async def main() -> None:
    url = os.environ.get("SERVICE_URL", "http://127.0.0.1:3000")
    wallet = open_wallet(os.environ["PRIVATE_KEY"])
    since = int(sys.argv[1]) if len(sys.argv) > 1 else None
    async for event in EventStream(url, WalletLogin(url, wallet.address, wallet.sign), since=since):
        print(event["id"], event["timestamp"], event["type"], event["data"].get("signal", ""), flush=True)


asyncio.run(main())
