/** The expected range and the record behind it, for everybody: node record.js */

import { createOracleClient } from 'bitcoin-signal-oracle-client';

const client = createOracleClient({ url: process.env.SERVICE_URL ?? 'http://127.0.0.1:3000' });
const percent = (share: number) => `${Math.round(share * 100)} %`;

const { moveSize, pBig, ranges, resolvesAt } = await client.expectedRange('7d');
console.log(`Size of the move in 7 days: ${moveSize}, P(big) ${pBig}`);
for (const { share, low, high } of ranges) console.log(`${percent(share)} until ${resolvesAt}: ${low} to ${high} USD`);
const { summary } = await client.scorecard('7d');
const interval = summary.accuracyInterval95;
if (interval !== null) {
  console.log(`Right: ${percent(summary.accuracy)}, 95 % interval ${percent(interval.low)} to ${percent(interval.high)}`);
}
console.log(`Verdict: ${summary.verdict}`);
