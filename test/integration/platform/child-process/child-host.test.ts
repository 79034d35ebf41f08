import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startChildHost } from '../../../../src/platform/child-process.ts';
import { getProcessIdentity } from '../../../../src/platform/data-dir.ts';
import type { Behaviour } from './sample-host.ts';

const start = (payload: Behaviour, times: { readyTimeoutMs?: number; stopTimeoutMs?: number } = {}) =>
  startChildHost<{ behaviour: Behaviour; pid: number }>({
    module: new URL('./sample-host.ts', import.meta.url),
    name: 'The sample',
    failureCode: 'CHAIN_UNREACHABLE',
    payload,
    ...times,
  });

describe('startHost', () => {
  it('hands the payload over and the ready value back', async () => {
    const host = await start('well');
    expect(host.ready).toMatchObject({ behaviour: 'well', pid: host.pid });
    await host.stop();
    expect(getProcessIdentity(host.pid)).toBeUndefined();
  });

  it.runIf(process.platform === 'linux')('gives the host a process group of its own', async () => {
    const host = await start('well');
    // proc(5): pgrp is the fifth field.
    const [, , group] = readFileSync(`/proc/${host.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    expect(Number(group)).toBe(host.pid);
    await host.stop();
  });

  it('passes an OracleError of the host on with all it says', async () => {
    await expect(start('refuses')).rejects.toMatchObject({
      code: 'DATA_DIR_IN_USE',
      message: 'taken',
      field: 'DATA_DIR',
      suggestedAction: 'wait',
    });
  });

  it('puts any other error of the host under the failure code', async () => {
    await expect(start('throws')).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE', message: 'The sample failed: no such thing' });
  });

  it('reports the exit of a host that was never ready, with the end of its output', async () => {
    const error = await start('dies').catch((failure) => failure);
    expect(error.code).toBe('CHAIN_UNREACHABLE');
    expect(error.message).toMatch(/^The sample ended before it was ready \(exit code 3\); its last output: \.+ is near$/);
    expect(error.message.length).toBeLessThan(2_200);
  });

  it('gives up on a silent host and leaves no process', async () => {
    const before = performance.now();
    await expect(start('silent', { readyTimeoutMs: 500, stopTimeoutMs: 300 })).rejects.toMatchObject({
      code: 'CHAIN_UNREACHABLE',
      message: 'The sample was not ready within 0.5 s',
    });
    // A timer may end a millisecond early. On a machine under load the host ends at the first signal: it has no handler of its own yet.
    expect(performance.now() - before).toBeGreaterThanOrEqual(495);
  });

  it('kills a host that does not close in time', async () => {
    const host = await start('never closes', { stopTimeoutMs: 300 });
    await host.stop();
    expect(getProcessIdentity(host.pid)).toBeUndefined();
  });

  it('reports an unexpected end, also to later callers', async () => {
    const host = await start('dies later');
    const early = new Promise<Error>((resolve) => host.onExit(resolve));
    expect((await early).message).toMatch(/^The sample ended unexpectedly \(exit code 3\); its last output: /);
    const late = new Promise<Error>((resolve) => host.onExit(resolve));
    expect(await late).toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    await host.stop();
  });
});
