import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { testChain } from './support/chain/chain.ts';
import { testDatabase } from './support/database/database.ts';
import { mongoProxy } from './support/database/mongo-proxy.ts';
import { startLiveHost } from './support/market/live-host.ts';

/**
 * What a real deployment finds outside its image: a database, a chain with all contracts, providers of live data. Writes the settings for
 * them into the file that is named, and ends with its standard input.
 */
const [chain, database, host] = await Promise.all([testChain(), testDatabase(), startLiveHost()]);
// The embedded engine listens on a socket of this user; the image runs as another one.
const proxy = await mongoProxy(database.uri, { command: 'insert', collection: 'of-no-service' }, () => {});
const { addresses, keys } = chain;
const secretOf = (name: string) => createHash('sha256').update(name).digest('hex');
const settings = {
  // Each transaction has a block of its own here, and nothing follows it.
  ...{ CHAIN_RPC_URL: chain.rpcUrl, CHAIN_ID: chain.chainId, CONFIRMATIONS: 1, MONGODB_URI: proxy.uri },
  ...{ FEEDS: 'live', PROVIDER_URLS: host.providerUrls, PUBLIC_URL: 'https://oracle.example.org' },
  ...{ ATTESTER_PRIVATE_KEY: keys.attester, REPORTER_PRIVATE_KEY: keys.reporter },
  ...{ FACILITATOR_PRIVATE_KEY: keys.facilitator, PROVIDER_PRIVATE_KEY: keys.provider, PAYEE_ADDRESS: chain.deployer.address },
  ...{ SALT_SECRET: secretOf('salt'), ENCRYPTION_SECRET: secretOf('encryption') },
  ...{ GATE_TOKEN_ADDRESS: addresses.gateToken, STABLECOIN_ADDRESS: addresses.stablecoin },
  ...{ IDENTITY_REGISTRY_ADDRESS: addresses.identityRegistry, REPUTATION_REGISTRY_ADDRESS: addresses.reputationRegistry },
};
const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
await writeFile(process.argv[2]!, lines.join(''));
await once(process.stdin.resume(), 'end');
await proxy.close();
await Promise.all([chain.stop(), database.drop(), host.close()]);
process.exit();
