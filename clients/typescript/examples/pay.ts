/** One paid answer: PRIVATE_KEY=0x... node pay.js */

import { createOracleClient } from 'bitcoin-signal-oracle-client';
import { privateKeyToAccount } from 'viem/accounts';

const { SERVICE_URL: url = 'http://127.0.0.1:3000', PRIVATE_KEY } = process.env;
const client = createOracleClient({ url, account: privateKeyToAccount(PRIVATE_KEY as `0x${string}`) });

// Declined above the limit, and in any coin but USDC: name others in coins.
const { answer, checks } = await client.buy({ maxUsd: '0.002' });
console.log(`Size of the move: ${answer.moveSize}, P(big) ${answer.pBig}`);
console.log(`${answer.signal}: ${answer.direction}`);
if (answer.payment !== null) console.log(`Paid ${answer.payment.usd} USD in ${answer.payment.txHash}`);
for (const { what } of checks) console.log(`✓ ${what}`);
