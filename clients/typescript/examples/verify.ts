/** Checks yesterday's forecast on the chain, by an endpoint of yours: RPC_URL=https://... node verify.js [2026-11-14:7d] */

import { createOracleClient } from 'bitcoin-signal-oracle-client';

const { SERVICE_URL: url = 'http://127.0.0.1:3000', RPC_URL: rpcUrl = 'http://127.0.0.1:3000/rpc' } = process.env;
const yesterday = new Date(Date.now() - 24 * 3_600_000).toISOString().slice(0, 10);
const id = process.argv[2] ?? `${yesterday}:7d`;

const { verdict, words, checks, differences } = await createOracleClient({ url }).verifyForecast(id, { rpcUrl });
for (const { what, ok } of checks) console.log(`${ok ? '✓' : '✗'} ${what}`);
for (const { message } of differences) console.log(message);
console.log(words);
process.exitCode = verdict === 'differs' ? 1 : 0;
