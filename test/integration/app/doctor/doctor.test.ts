import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDoctorCommand } from '../../../../src/cli/doctor.ts';
import { loadConfig } from '../../../../src/config.ts';
import type { Status } from '../../../../src/http/schemas/health.ts';
import { type DoctorTarget, openDoctor } from '../../../../src/ops/checks.ts';
import { type DoctorReport, requireReadyForFirstStart, runDoctor } from '../../../../src/ops/doctor.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { connectMongo } from '../../../../src/platform/mongo.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { testDatabase } from '../../../support/database/database.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { startBufferingProxy } from '../../../support/network/buffering-proxy.ts';
import { type TestService, testService } from '../../../support/service/service.ts';

const HOUR_S = 3_600;
async function examine(environment: Record<string, string>): Promise<DoctorReport> {
  const { deps, close } = await openDoctor(environment, null);
  try {
    return await runDoctor(deps);
  } finally {
    await close();
  }
}

const linesOf = ({ checks }: DoctorReport, level: string) =>
  checks.flatMap(({ id, findings }) => findings.filter((one) => one.level === level).map(({ detail }) => `${id}: ${detail}`));

async function run(args: string[], environment: Record<string, string>) {
  let text = '';
  const code = await runDoctorCommand(args, environment, { write: (part: string) => (text += part) } as never);
  return { code, text };
}

describe('beside a running demonstration', () => {
  let service: TestService;
  let served: Served;
  beforeAll(async () => {
    service = await testService(1, { CHAIN_CURRENCY_USD: '3000' });
    served = await serve(service);
  });
  afterAll(async () => {
    await served.close();
    await service.stop();
  });
  const environment = () => ({
    ...{ DATA_DIR: service.dataDir, MONGODB_URI: service.infrastructure.mongodbUri },
    ...{ FEEDS: 'simulated', PUBLIC_URL: served.url },
  });

  it('reports no failure, and writes nothing', async () => {
    const { db, close } = await connectMongo(service.infrastructure.mongodbUri);
    const countAll = async () => {
      const names = (await db.listCollections().toArray()).map(({ name }) => name).toSorted();
      return Promise.all(names.map(async (name) => [name, await db.collection(name).countDocuments()]));
    };
    // The service keeps figures of the record when they are first asked for.
    await examine(environment());
    const before = await countAll();
    const report = await examine(environment());
    expect(linesOf(report, 'fail')).toEqual([]);
    expect(linesOf(report, 'ok')).toEqual(
      expect.arrayContaining([
        'public-url: WebSocket handshakes reach the service',
        'public-url: limits are counted for 127.0.0.1, whatever X-Forwarded-For a client sends',
        'public-url: streams arrive as they are sent',
        'identity: the database knows everything that the attester has attested',
        expect.stringMatching(/^clock: this machine is \d+ ms (behind|ahead of) the database$/),
      ]),
    );
    // Requests to the public address are counted by the service itself.
    const others = (counts: unknown[][]) => counts.filter(([name]) => name !== 'request_counts');
    expect(others(await countAll())).toEqual(others(before));
    await close();
  });

  const GAS_DETAIL =
    /^wallets: a settlement costs about \d+\.\d+ USD now \(86,000 gas at [\d.e-]+ gwei .*, ether at 3000 USD\): x402_signal/;

  it('warns where a settlement costs more than its price, with what it costs beside each price, as the status says it', async () => {
    const report = await examine({ ...environment(), CHAIN_CURRENCY_USD: '3000' });
    expect(linesOf(report, 'warn')).toContainEqual(expect.stringMatching(GAS_DETAIL));
    const { settlement } = (await (await fetch(`${served.url}/api/status`)).json()) as Status;
    expect(settlement).toMatchObject({ settledBy: 'service', costMicros: expect.any(Number) });
    expect(settlement.margins.map(({ offering, priceMicros }) => [offering, priceMicros])).toEqual([
      ['x402_signal', 1_000],
      ['x402_premium_signal', 10_000],
    ]);
    for (const { priceMicros, marginMicros } of settlement.margins) expect(marginMicros).toBe(priceMicros - settlement.costMicros!);
    expect(settlement.margins[0]!.marginMicros).toBeLessThan(0);
  });

  it('says that gas and prices are not compared without the price of the currency on a local chain', async () => {
    expect(linesOf(await examine(environment()), 'ok')).toContainEqual(
      expect.stringMatching(/^wallets: what a settlement costs is not known: CHAIN_CURRENCY_USD is unset/),
    );
  });

  it.each([
    [
      '0.0004',
      'ok',
      /costs about 0\.0004 USD now \(the fee of the hosted facilitator\): x402_signal 0\.001 USD, margin 0\.0006; .* margin 0\.0096$/,
    ],
    ['0.002', 'warn', /costs about 0\.002 USD now \(the fee of the hosted facilitator\): x402_signal 0\.001 USD, margin -0\.001; /],
    ['', 'ok', /is not known: X402_FACILITATOR_FEE_USD is unset/],
  ] as const)('compares a fee of %s USD of a hosted facilitator with the prices: %s', async (fee, level, detail) => {
    const hosted = { X402_FACILITATOR_URL: 'http://127.0.0.1:9', X402_FACILITATOR_FEE_USD: fee };
    expect(linesOf(await examine({ ...environment(), ...hosted }), level)).toContainEqual(expect.stringMatching(detail));
  });

  it('warns of a proxy that buffers streams', async () => {
    const proxy = await startBufferingProxy(served.url);
    const report = await examine({ ...environment(), PUBLIC_URL: proxy.url });
    await proxy.close();
    expect(linesOf(report, 'warn')).toContain('public-url: a proxy buffers streams: events reach clients late or never');
  });

  it("warns where a client's X-Forwarded-For is believed", async () => {
    const trusting = await serve({ ...service, appOptions: { ...service.appOptions, trustProxy: 1 } });
    const report = await examine({ ...environment(), PUBLIC_URL: trusting.url });
    await trusting.close();
    expect(linesOf(report, 'warn')).toContainEqual(expect.stringMatching(/^public-url: X-Forwarded-For of a client is believed/));
  });

  it('exits with 0, and prints the same as JSON', async () => {
    expect(await run([], environment())).toMatchObject({
      code: 0,
      text: expect.stringMatching(/\n\d+ ok, \d warnings, 0 failures, \d skipped\n$/),
    });
    expect(JSON.parse((await run(['--json'], environment())).text)).toMatchObject({ chainMode: 'own', counts: { fail: 0 } });
  });

  it('fails where PUBLIC_URL leads to another service', async () => {
    const other = await testService(0);
    const elsewhere = await serve(other);
    const report = await examine({ ...environment(), PUBLIC_URL: elsewhere.url });
    await elsewhere.close();
    await other.stop();
    expect(linesOf(report, 'fail')).toEqual([expect.stringMatching(/^public-url: .* is another service/)]);
  });
});

it('skips what needs a service where none has been started', async () => {
  const report = await examine({ DATA_DIR: '/nowhere' });
  expect(linesOf(report, 'fail')).toEqual([]);
  expect(linesOf(report, 'skipped')).toContain('rpc: no service has been started on /nowhere');
});

it('names what looks like a setting: a warning in a demonstration, a failure on a real chain', async () => {
  const providers = { PROVIDER_URLS: '*=http://127.0.0.1:9/{provider}' };
  const misspelt = { ...providers, DATA_DIR: '/nowhere', RATE_LIMIT_PUBLC: '5', CONFIRMATION: '12' };
  const lines = [
    'settings: RATE_LIMIT_PUBLC: is no setting and has no effect; did you mean RATE_LIMIT_PUBLIC?',
    'settings: CONFIRMATION: is no setting and has no effect; did you mean CONFIRMATIONS?',
  ];
  const demo = await examine(misspelt);
  expect(linesOf(demo, 'warn')).toEqual(expect.arrayContaining(lines));
  expect(linesOf(demo, 'fail')).toEqual([]);
  expect(linesOf(await examine({ ...misspelt, CHAIN_RPC_URL: 'http://127.0.0.1:9' }), 'fail')).toEqual(expect.arrayContaining(lines));
});

it('names an unknown provider although FEEDS makes no use of it', async () => {
  const report = await examine({ DATA_DIR: '/nowhere', FEEDS: 'simulated', PROVIDER_URLS: 'krakken=https://mirror.example.org' });
  expect(linesOf(report, 'fail')).toEqual(['feeds: Setting PROVIDER_URLS: "krakken" is not a provider']);
});

it('names every fault of a broken environment in one run, and no secret', async () => {
  const broken = {
    ...{ PORT: 'abc', PUBLIC_URL: 'http://oracle.example.org', FEEDS: 'kraken', GATE_TOKEN_ADDRESS: '0x1234', ADMIN_PASSWORD: 'hunter2' },
    ...{ CHAIN_RPC_URL: 'http://127.0.0.1:9/very-secret-path', MONGODB_URI: 'mongodb://user:hunter3@127.0.0.1:9/oracle' },
    ATTESTER_PRIVATE_KEY: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
    REPORTER_PRIVATE_KEY: `0x${'12'.repeat(32)}`,
    PROVIDER_PRIVATE_KEY: `0x${'12'.repeat(32)}`,
    FACILITATOR_PRIVATE_KEY: `0x${'34'.repeat(32)}`,
    ...{ SALT_SECRET: 'changeme'.repeat(5), ENCRYPTION_SECRET: 'short', X402_FACILITATOR_URL: 'http://127.0.0.1:9' },
    STABLECOIN_ADDRESS: `0x${'56'.repeat(20)}`,
    IDENTITY_REGISTRY_ADDRESS: `0x${'78'.repeat(20)}`,
  };
  const { code, text } = await run([], broken);
  expect(code).toBe(1);
  const faults = [
    ...['PORT: ', 'FEEDS: ', 'PUBLIC_URL: ', 'GATE_TOKEN_ADDRESS: ', 'ADMIN_PASSWORD: ', 'ENCRYPTION_SECRET: ', 'SALT_SECRET: '],
    ...[
      'ATTESTER_PRIVATE_KEY: is one of the keys',
      'PROVIDER_PRIVATE_KEY: must not be the key of',
      'REPUTATION_REGISTRY_ADDRESS: is required',
    ],
    ...['PAYEE_ADDRESS: is required', 'Chain endpoint ', 'Connecting to the database failed', 'The facilitator of X402_FACILITATOR_URL'],
  ];
  for (const fault of faults) expect(text).toContain(fault);
  for (const secret of ['hunter2', 'hunter3', 'very-secret-path', 'changeme', 'ac0974be', '1212']) expect(text).not.toContain(secret);
});

describe('before a record on a real chain', () => {
  let chain: TestChain;
  let database: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    const genesisTimestamp = Math.floor(Date.now() / 1_000) - HOUR_S;
    [chain, database] = await Promise.all([testChain({ genesisTimestamp }), testDatabase()]);
  });
  afterAll(() => Promise.all([chain.stop(), database.drop()]));

  const environment = (change: Record<string, string> = {}) => ({
    CHAIN_RPC_URL: chain.rpcUrl,
    ...{
      CHAIN_ID: String(chain.chainId),
      FEEDS: 'live',
      PROVIDER_URLS: '*=http://127.0.0.1:9/{provider}',
      PUBLIC_URL: 'https://127.0.0.1:9',
    },
    MONGODB_URI: database.uri,
    ATTESTER_PRIVATE_KEY: chain.keys.attester,
    REPORTER_PRIVATE_KEY: chain.keys.reporter,
    PROVIDER_PRIVATE_KEY: chain.keys.provider,
    FACILITATOR_PRIVATE_KEY: chain.keys.facilitator,
    PAYEE_ADDRESS: chain.accounts.stranger.address,
    SALT_SECRET: '9f86d081884c7d659a2feaa0c55ad015',
    ENCRYPTION_SECRET: '60303ae22b998861bce3b28f33eec1be',
    GATE_TOKEN_ADDRESS: chain.addresses.gateToken,
    STABLECOIN_ADDRESS: chain.addresses.stablecoin,
    IDENTITY_REGISTRY_ADDRESS: chain.addresses.identityRegistry,
    REPUTATION_REGISTRY_ADDRESS: chain.addresses.reputationRegistry,
    ...change,
  });

  it('is the case on an own node at a loopback address with the id of the local chain', async () => {
    const published = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
    expect(environment()).toMatchObject({ CHAIN_RPC_URL: expect.stringContaining('//127.0.0.1:'), CHAIN_ID: '84532' });
    const unsafe = { ATTESTER_PRIVATE_KEY: published, PUSH_LOCAL_TARGETS: 'allow', PUBLIC_URL: 'http://127.0.0.1:9' };
    const report = await examine(environment(unsafe));
    expect(report.chainMode).toBe('real');
    expect(linesOf(report, 'fail').filter((line) => line.startsWith('settings: '))).toEqual([
      expect.stringContaining('PUSH_LOCAL_TARGETS: allow is for a local chain only'),
      expect.stringContaining('ATTESTER_PRIVATE_KEY: is one of the keys'),
      expect.stringContaining('PUBLIC_URL: must begin with https'),
    ]);
  });

  it('names a stale node, silent venues and the address that does not answer', async () => {
    const report = await examine(environment());
    expect(linesOf(report, 'fail')).toEqual([
      expect.stringMatching(/^rpc: block \d+ is \d+ minutes old: the RPC endpoint is stalled/),
      'feeds: 0 of 4 venues answer: without 3 no outcome is settled',
    ]);
    expect(linesOf(report, 'warn')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^database: a single server/),
        expect.stringMatching(/^feeds: Coinbase Exchange, Kraken, .*: cannot be reached \(ECONNREFUSED\)$/),
        'public-url: 127.0.0.1 cannot be reached (ECONNREFUSED)',
        'backup: none has been made',
      ]),
    );
  });

  it('refuses a first start for what cannot be repaired later, naming all of it', async () => {
    const config = loadConfig(environment({ ATTESTER_PRIVATE_KEY: `0x${'9a'.repeat(32)}` }));
    const { deps, close } = await openDoctor(environment({ ATTESTER_PRIVATE_KEY: `0x${'9a'.repeat(32)}` }), null);
    const opened = { config, target: deps.target as DoctorTarget, database: deps.database, chain: deps.chain, roles: deps.roles };
    const refused = requireReadyForFirstStart({ ...opened, log: createLog({ level: 'silent', secrets: [] }), now: () => new Date() });
    await expect(refused).rejects.toThrow(
      /Wallets: too little ether: attester 0x\w{40} has 0 ether[\s\S]*Chain endpoint: block \d+ is \d+ minutes old/,
    );
    await close();
  });
});
