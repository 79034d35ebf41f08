import { appendFile, type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChainWrite, openWriteLog, readWriteLog } from '../../../../src/dev/local-chain/writes/write-log.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'write-log-'));
  path = join(folder, 'writes.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

const write = (height: number): ChainWrite => ({ method: 'evm_mine', params: [], height, blockTime: 1_700_000_000 + height });
const heights = async () => (await readWriteLog(path)).writes.map(({ height }) => height);

async function append(...of: number[]): Promise<void> {
  const log = await openWriteLog(path);
  for (const height of of) await log.append(write(height));
  await log.close();
}

describe('the log of writes', () => {
  it('has none before its file exists', async () => {
    expect(await readWriteLog(path)).toEqual({ writes: [], end: 0 });
  });

  it('returns writes in their order, also those of an earlier process', async () => {
    await append(0, 1);
    await append(2);
    expect((await readWriteLog(path)).writes).toEqual([write(0), write(1), write(2)]);
  });

  it.each(['{"method":"evm_mi', '{"method":"evm_mine"', '{"method":"evm_mi\n{}\n'])('ends before an incomplete line: %j', async (line) => {
    await append(0);
    await appendFile(path, line);
    expect(await heights()).toEqual([0]);
    await append(1);
    expect(await heights()).toEqual([0, 1]);
  });

  it('keeps the writes that a saved state does not contain', async () => {
    const log = await openWriteLog(path);
    for (const height of [0, 1, 2, 2, 3]) await log.append(write(height));
    await log.prune(2);
    expect([log.countWrites(), await heights()]).toEqual([3, [2, 2, 3]]);
    await log.append(write(4));
    expect([log.countWrites(), await heights()]).toEqual([4, [2, 2, 3, 4]]);
    await log.close();
  });

  it('writes all again after a sync that failed, and rejects writes until that succeeds', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const probe = await open(path, 'w');
    const handles = Object.getPrototypeOf(probe) as FileHandle;
    await probe.close();
    const datasync = vi.spyOn(handles, 'datasync').mockRejectedValue(new Error('I/O error'));
    const log = await openWriteLog(path);
    await log.append(write(0));
    await expect.poll(() => logged.mock.calls.flat()).toContainEqual(expect.stringContaining('I/O error'));
    const replaced = vi.spyOn(handles, 'sync').mockRejectedValue(new Error('still failing'));
    await expect(log.append(write(1))).rejects.toThrow('still failing');
    expect(await heights()).toEqual([0]);
    for (const mock of [datasync, replaced, logged]) mock.mockRestore();
    await log.append(write(1));
    expect([log.countWrites(), await heights()]).toEqual([2, [0, 1]]);
    await log.close();
  });
});
