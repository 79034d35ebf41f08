/** Events after an id, one line each: PRIVATE_KEY=0x... node stream.js [id] */

import { createOracleClient } from 'bitcoin-signal-oracle-client';
import { privateKeyToAccount } from 'viem/accounts';

const { SERVICE_URL: url = 'http://127.0.0.1:3000', PRIVATE_KEY } = process.env;
const client = createOracleClient({ url, account: privateKeyToAccount(PRIVATE_KEY as `0x${string}`) });

const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort());
const since = process.argv[2] === undefined ? undefined : Number(process.argv[2]);
for await (const event of client.stream({ since, signal: stopping.signal })) {
  const said = event.type === 'signal.new' ? event.data.signal : '';
  console.log(event.id, event.timestamp, event.type, said);
}
