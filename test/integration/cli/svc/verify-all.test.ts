import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import { registerSchemas, type WrittenRecord, writeRecord } from '../../../support/record/audit-record.ts';
import { type CliOptions, cli, plain } from '../../../support/service/cli.ts';

let chain: TestChain;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oracle-verify-all-'));
  chain = await testChain();
  await registerSchemas(chain);
});
afterAll(async () => {
  await chain.stop();
  await removeFolder(folder);
});

function verifyAll({ attester, now }: WrittenRecord, options: CliOptions = {}, ...words: string[]) {
  const environment = { XDG_CONFIG_HOME: folder };
  return cli(['verify', 'all', '--rpc', chain.rpcUrl, '--attester', attester, ...words], { environment, now: () => now, ...options });
}

const kept = () => readdir(join(folder, 'bitcoin-signal-oracle')).catch(() => []);

it('checks the whole record and ends with one line', async () => {
  const written = await writeRecord(chain);
  const { code, out, err } = await verifyAll(written, { columns: 100 });
  expect(code, err).toBe(0);
  expect(plain(out)).toMatch(/^(Notes:\n( {2}.*\n)+\n)?\d{3} checks agree\.\n$/);
  expect(err).toContain('reading predictions: 12 of 12');
  expect(await kept()).toEqual([]);
  const json = await verifyAll(written, {}, '--json');
  expect(JSON.parse(json.out)).toMatchObject({
    verdict: 'agrees',
    summary: expect.stringContaining('checks agree'),
    differences: [],
    prices: null,
  });
});

it('continues where it was interrupted, with the same result', async () => {
  const written = await writeRecord(chain);
  const whole = await verifyAll(written, {}, '--json');
  const stop = new AbortController();
  const interrupted = await verifyAll(written, {
    columns: 100,
    createInterruptSignal: () => stop.signal,
    onErr: (text) => text.includes('reading predictions') && stop.abort(),
  });
  expect(interrupted).toMatchObject({ code: 3, out: '' });
  expect(interrupted.err).toContain('Not finished: 12 attestations were read. The same command continues');
  expect(await kept()).toHaveLength(1);
  const continued = await verifyAll(written, {}, '--json');
  expect(continued.err).toContain('Continues the reading that was interrupted');
  expect(JSON.parse(continued.out)).toEqual({ ...JSON.parse(whole.out), throughBlock: expect.any(Number) });
  expect(await kept()).toEqual([]);
});

it('lists what fails, with exit code 1', async () => {
  const written = await writeRecord(chain, { prediction: (item) => (item.sequence === 3 && item.horizonDays === 3 ? [] : [item]) });
  const { code, out } = await verifyAll(written, { columns: 100 });
  expect(code).toBe(1);
  expect(plain(out)).toMatch(/Failed:\n {2}\[sequence\] .*sequence 3 is missing on chain[\s\S]*\n1 of \d+ checks FAIL \(sequence\)\.\n$/);
});
