/** The signal, by a login or a key: PRIVATE_KEY=0x... node signal-with-login.js, or API_KEY=bso_... */

import { createOracleClient } from 'bitcoin-signal-oracle-client';
import { privateKeyToAccount } from 'viem/accounts';

const { SERVICE_URL: url = 'http://127.0.0.1:3000', API_KEY: apiKey, PRIVATE_KEY } = process.env;
const account = PRIVATE_KEY === undefined ? undefined : privateKeyToAccount(PRIVATE_KEY as `0x${string}`);
const client = createOracleClient({ url, apiKey, account });

const { moveSize, pBig, signal, horizon, direction, confidence, skill } = await client.oracle('7d');
console.log(`Size of the move: ${moveSize}, P(big) ${pBig}`);
console.log(`${signal} for ${horizon}: ${direction} with probability ${confidence}`);
console.log(`Verdict on the record: ${skill.verdict}`);
await client.logOut();
