import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeFolder } from '../support/docs/folders.ts';
import { killProcessTree } from '../support/kills/process-tree.ts';
import { type RunningService, startService } from '../support/service/running-service.ts';
import { spawnNode } from '../support/service/service.ts';

/** Of a service without any settings. */
const LIMITS = { RATE_LIMIT_PUBLIC: '60', RATE_LIMIT_WALLET: '300', RATE_LIMIT_RPC: '10' };

let dataDir: string;
let service: RunningService;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'oracle-demo-agent-'));
  service = await startService({ DATA_DIR: dataDir, REPLAY_DAYS: '10', LOG_LEVEL: 'warn', ...LIMITS });
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  await removeFolder(dataDir);
});

const play = (url: string) => spawnNode(['bin/dev/demo-agent.mjs', '--url', url, '--data-dir', dataDir], {}).ended;
const reconcile = (...words: string[]) => spawnNode(['bin/reconcile.mjs', ...words], { DATA_DIR: dataDir, FEEDS: 'simulated' }).ended;

describe('the demo agent', () => {
  it('pays in every way there is and checks what it gets; ledger and chain are equal afterwards', async () => {
    const { code, output } = await play(service.url);
    expect(code, output).toBe(0);
    const steps = ['card', 'price', 'x402', 'on chain', 'MCP', 'A2A', 'document', 'ERC-8183', 'books'];
    for (const [index, words] of steps.entries()) expect(output).toMatch(new RegExp(`\\n${index + 1}\\. .*${words}.*\\n {3}`));
    expect(output).not.toContain('✗');
    expect(output).not.toContain('waiting');
    // From 21:35 to 21:38 UTC the newest forecast is not attested yet.
    expect(output).toMatch(/the sold values and salt hash to the commitment on chain|not on chain yet/);
    expect(output).toMatch(/ {3}✓ to the unit\n\nDone in [\d.]+ s: \d+ payments, 0\.76\d USD spent, all of it checked\.\n$/);

    const { code: equal, output: report } = await reconcile('--json');
    expect(equal, report).toBe(0);
    const { channels, ...ledger } = JSON.parse(report);
    expect(ledger).toMatchObject({ equal: true, differences: [], underWay: [], unclaimed: [] });
    expect(channels.map(({ channel, payments }: { channel: string; payments: number }) => [channel, payments > 0])).toEqual([
      ['purchase', true],
      ['agent-commerce', true],
      ['x402', true],
    ]);
    const spent = /payments, ([\d.]+) USD spent/.exec(output)![1];
    expect(ledger.receivedMicros).toBe(String(Math.round(Number(spent) * 1e6)));
  });

  it('says what to do where it cannot go on', async () => {
    const { code, output } = await play('http://127.0.0.1:9');
    expect(code).toBe(1);
    expect(output).toMatch(/✗ No service answers at .*\n +Run npm start first/);
  });
});

describe('a reconciliation without a service', () => {
  it('starts database and chain for itself, and finds the same', async () => {
    // Where processes can be listed, all of them die at once, as after a power cut.
    if (process.platform === 'linux') killProcessTree(service.child.pid!);
    else service.child.kill('SIGTERM');
    await service.ended;
    const { code, output } = await reconcile();
    expect(code, output).toBe(0);
    expect(output).toMatch(/Equal to the unit\.\n$/);
  });
});
