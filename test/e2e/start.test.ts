import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPublicClient, erc20Abi, http, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { ownService } from '../support/service/own-service.ts';
import { startService } from '../support/service/running-service.ts';

const DAYS = 12;
/** Days in the record of a first start: those replayed, and that of the start where it or the test came after its 21:35 UTC. */
const RECORDED_DAYS = [DAYS, DAYS + 1];
const { dataDir, environment, start, stop, get } = ownService(DAYS);

/** The wallets of `demo.json` hold what each is for, and the contracts there are those of the record. */
async function expectDemoWallets(): Promise<void> {
  const demo = JSON.parse(await readFile(join(dataDir(), 'demo.json'), 'utf8'));
  const client = createPublicClient({ transport: http(demo.rpcUrl) });
  expect(await client.getChainId()).toBe(84532);
  const balance = (name: string, token: string) =>
    client.readContract({ address: demo.contracts[token], abi: erc20Abi, functionName: 'balanceOf', args: [demo.wallets[name].address] });
  expect(await balance('basic', 'gateToken')).toBe(500_000_000n * 10n ** 18n);
  expect(await balance('premium', 'gateToken')).toBe(1_000_000_000n * 10n ** 18n);
  expect(await balance('poor', 'gateToken')).toBe(0n);
  expect(await balance('buyer', 'stablecoin')).toBeGreaterThan(0n);
  expect(demo.contracts.stablecoin).not.toBe('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913');

  const { data } = await get('/api/svc/onchain-oracle/latest');
  const abi = parseAbi(['function isAttestationValid(bytes32 uid) view returns (bool)']);
  const valid = await client.readContract({ address: demo.contracts.eas, abi, functionName: 'isAttestationValid', args: [data.uid] });
  expect(valid).toBe(true);
}

/** A process with `ROLE=api` on the same folder serves the record of the same database and chain, and leaves the service running. */
async function expectSameRecordBeside(url: string): Promise<void> {
  const { rpcUrl } = JSON.parse(await readFile(join(dataDir(), 'demo.json'), 'utf8'));
  const paths = ['/api/svc/scorecard', '/api/svc/agent/identity'];
  const expected = await Promise.all(paths.map(get));
  // One service under one address, as behind a proxy.
  const beside = await startService(environment({ ROLE: 'api', CHAIN_RPC_URL: rpcUrl, CHAIN_LOCAL: '1', PUBLIC_URL: url }));
  expect(await Promise.all(paths.map(async (path) => (await fetch(beside.url + path)).json()))).toEqual(expected);
  expect(await (await fetch(`${beside.url}/api/status`)).json()).toMatchObject({ role: 'api', schedule: [] });
  beside.child.kill('SIGTERM');
  expect(await beside.ended).toMatchObject({ code: 0 });
  expect((await fetch(`${url}/ready`)).status).toBe(200);
}

describe('a first start', () => {
  it('has a record and wallets that verify on the chain, stops on Ctrl-C, and is continued by a second start and a process beside it', async () => {
    const { output } = await start();
    expect(output()).toMatch(
      new RegExp(
        [
          ...[
            '^(?:Database +ready in [\\d.]+ s|Chain +ready, contracts deployed in [\\d.]+ s)$',
            '^Page +http://[\\d.:]+/ \\(fills while history is replayed\\)$',
          ],
          ...[
            '^Market data: simulated',
            '^Replaying \\[.*12/12',
            '^Self-tests +.* in [\\d.]+ s$',
            '^Open http://[\\d.:]+/$',
            ' is up: http',
          ],
        ].join('[^]*'),
        'm',
      ),
    );
    for (const line of output().matchAll(/curl "?(http:[^\s"]+)/g)) expect((await fetch(line[1])).status, line[1]).toBe(200);

    const scorecard = await get('/api/svc/scorecard?horizon=7');
    expect(RECORDED_DAYS).toContain(scorecard.predictions.length);
    const { data } = await get('/api/svc/onchain-oracle/history?horizons=all&limit=100');
    for (const { uid } of data) expect((await get(`/api/svc/onchain-oracle/verify/${uid}`)).verified).toBe(true);
    const identity = await get('/api/svc/agent/identity');
    expect(identity.registered).toBe(true);
    await expectDemoWallets();
    expect(await stop('SIGINT')).toBeLessThan(10_000);

    const second = await start();
    expect(second.output()).not.toMatch(/Replaying \[|fills|deployed|Self-tests/);
    expect(await get('/api/svc/scorecard?horizon=7')).toEqual(scorecard);
    expect((await get('/api/svc/onchain-oracle/history?horizons=all&limit=100')).data).toEqual(data);
    expect((await get('/api/svc/agent/identity')).agentId).toBe(identity.agentId);
    expect((await get(`/api/svc/onchain-oracle/verify/${data[0].uid}`)).verified).toBe(true);
    await expectSameRecordBeside(second.url);
    expect(await stop('SIGTERM')).toBeLessThan(10_000);
  });

  it('without a replay is ready with an empty record', async () => {
    const { output } = await start({ REPLAY_DAYS: '0', RATE_LIMIT_PUBLC: '5' });
    expect(output()).toContain('RATE_LIMIT_PUBLC: is no setting and has no effect; did you mean RATE_LIMIT_PUBLIC?');
    expect((await get('/api/svc/scorecard')).summary.verdict).toBe('nothing resolved yet: no claim can be made');
    expect(await get('/api/svc/agent/reputation')).toMatchObject({ registered: true, totalFeedback: 0, score: 0 });
  });
});
