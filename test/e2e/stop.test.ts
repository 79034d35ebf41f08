import { once } from 'node:events';
import { truncate } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { generatePrivateKey } from 'viem/accounts';
import { describe, expect, it, vi } from 'vitest';
import { ownService } from '../support/service/own-service.ts';
import { spawnNode } from '../support/service/service.ts';

const DAYS = 1;
/** Days in the record of a first start: those replayed, and that of the start where it or the test came after its 21:35 UTC. */
const RECORDED_DAYS = [DAYS, DAYS + 1];
const { dataDir, environment, start, stop, refused, get } = ownService(DAYS);

describe('a start that cannot work', () => {
  it('names the setting', async () => {
    const [feeds, host] = await Promise.all([
      refused({ FEEDS: 'csv:/no/such/folder' }),
      refused({ HOST: '203.0.113.1', PORT: 'abc', CHAIN_RPC_URL: 'https://rpc.example.org' }),
    ]);
    expect(feeds).toMatch(/FEED_INVALID: .*\/no\/such\/folder/);
    expect(host).toContain('Setting PORT');
  });

  it('rejects to commit to simulated data on a real chain, and names each unsafe setting there without its value', async () => {
    const real = {
      PUBLIC_URL: 'https://oracle.example.org',
      CHAIN_RPC_URL: 'https://rpc.example.org',
      ATTESTER_PRIVATE_KEY: generatePrivateKey(),
      REPORTER_PRIVATE_KEY: generatePrivateKey(),
      PROVIDER_PRIVATE_KEY: generatePrivateKey(),
      FACILITATOR_PRIVATE_KEY: generatePrivateKey(),
      PAYEE_ADDRESS: `0x${'5'.repeat(40)}`,
      SALT_SECRET: '9f86d081884c7d659a2feaa0c55ad015',
      ENCRYPTION_SECRET: '60303ae22b998861bce3b28f33eec1be',
      GATE_TOKEN_ADDRESS: `0x${'1'.repeat(40)}`,
      STABLECOIN_ADDRESS: `0x${'2'.repeat(40)}`,
      IDENTITY_REGISTRY_ADDRESS: `0x${'3'.repeat(40)}`,
      REPUTATION_REGISTRY_ADDRESS: `0x${'4'.repeat(40)}`,
    };
    const output = await refused({ ...real, FEEDS: 'simulated' });
    expect(output).toContain('Setting FEEDS: simulated data is refused on a real chain');
    // An own node of the public testnet, which has the id of the local chain.
    expect(await refused({ ...real, CHAIN_RPC_URL: 'http://127.0.0.1:9', CHAIN_ID: '84532' })).toBe(output);
    const misspelt = await refused({ ...real, RATE_LIMIT_PUBLC: '5', CONFIRMATION: '12' });
    for (const name of ['RATE_LIMIT_PUBLC', 'CONFIRMATION'])
      expect(misspelt).toMatch(new RegExp(`CONFIG_INVALID[^]*Setting ${name}: is no setting`));
    const keys = [real.ATTESTER_PRIVATE_KEY, real.REPORTER_PRIVATE_KEY, real.PROVIDER_PRIVATE_KEY, real.FACILITATOR_PRIVATE_KEY];
    for (const key of keys) expect(output).not.toContain(key);

    const unsafe = {
      PUBLIC_URL: 'http://oracle.example.org',
      REPORTER_PRIVATE_KEY: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
      SALT_SECRET: 'changeme-changeme-changeme-please',
      ENCRYPTION_SECRET: real.ATTESTER_PRIVATE_KEY,
      ...{ ADMIN_USER: 'operator', ADMIN_PASSWORD: 'operator-password1' },
    };
    const message = await refused({ ...real, ...unsafe });
    const { ADMIN_USER: _, PUBLIC_URL: __, ...secrets } = unsafe;
    for (const name of ['PUBLIC_URL', ...Object.keys(secrets)]) expect(message).toContain(`Setting ${name}: `);
    for (const secret of Object.values(secrets)) expect(message).not.toContain(secret);
  });
});

/** A client that begins a request and never ends it. */
async function stall(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  await once(socket, 'connect');
  socket.write('GET /health HTTP/1.1\r\nHost: ');
  return socket;
}

describe('a folder of a record', () => {
  it('is rejected with its reason: in use, port taken, another feed, damaged; a signal ends its service whatever a client does', async () => {
    const { url, child } = await start();
    const [inUse, taken] = await Promise.all([refused({}), refused({ PORT: new URL(url).port })]);
    expect(inUse).toContain(`${child.pid}`);
    expect(taken).toContain('Setting PORT');
    const socket = await stall(url);
    expect(await stop('SIGTERM')).toBeLessThan(10_000);
    socket.destroy();
    expect(await refused({ SIMULATION_SEED: '7' })).toContain('this record was made from simulated (seed 2)');

    await truncate(join(dataDir(), 'keys.json'), 20);
    expect(await refused({})).toMatch(/DATA_DIR_DAMAGED: .*keys\.json.*\n.*npm run reset/);
    expect(await spawnNode(['bin/reset.mjs'], environment()).ended).toMatchObject({ code: 0 });
    const { url: again, child: last, ended, output } = await start();
    expect(RECORDED_DAYS).toContain((await get('/api/svc/scorecard')).predictions.length);

    // A second signal does not wait for clients.
    const other = await stall(again);
    last.kill('SIGINT');
    await vi.waitUntil(() => output().includes('stopping'), { timeout: 5_000, interval: 10 });
    const began = performance.now();
    last.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130 });
    expect(performance.now() - began).toBeLessThan(2_000);
    other.destroy();
  });
});

it('a signal ends a first start too, whatever that is at', async () => {
  const { child, ended } = spawnNode(['bin/start.mjs'], environment({ PORT: '0', FEEDS: 'simulated' }));
  const page = Promise.withResolvers<string>();
  child.stderr!.on('data', (text: string) => {
    const [, url] = /^Page +(http:\S+)/m.exec(text) ?? [];
    if (url !== undefined) page.resolve(url);
  });
  const at = async () => {
    const health = (await (await fetch(new URL('/health', await page.promise))).json()) as { setup: { what: string } | null };
    return health.setup?.what;
  };
  await vi.waitUntil(async () => (await at()) === 'running the self-tests', { timeout: 30_000, interval: 10 });
  child.kill('SIGINT');
  expect(await ended).toMatchObject({ code: 0, output: expect.not.stringMatching(/^ *at |Error/m) });
});
