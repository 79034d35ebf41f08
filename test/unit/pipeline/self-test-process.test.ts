import { afterEach, describe, expect, it, vi } from 'vitest';
import type { OracleError } from '../../../src/errors.ts';
import { parseDay } from '../../../src/forecast/day.ts';
import { sliceFrame } from '../../../src/forecast/inputs.ts';
import {
  type ComputeProcessOptions,
  computeInProcess,
  computeReports,
  SingleFlightQueue,
} from '../../../src/pipeline/self-test-process.ts';
import { syntheticFrame } from '../forecast/synthetic-frame.ts';

const frame = syntheticFrame({ rows: 400 });
const input = {
  frame,
  pointInTime: [{ day: frame.firstDay + 300, frame: sliceFrame(frame, frame.firstDay + 300) }],
  vintages: 'made' as const,
};
const NAMES = ['walk-forward', 'contamination'] as const;
const signal = new AbortController().signal;
const entry = (name: string) => new URL(`./children/${name}.ts`, import.meta.url);

const compute = (options: Partial<ComputeProcessOptions> = {}) => computeInProcess({ input, names: NAMES }, { signal, ...options });

afterEach(() => vi.unstubAllEnvs());

describe('the child process of the self-tests', () => {
  it('computes the same as the parent, yields each report when it is ready, and leaves the history intact', async () => {
    const reported: string[] = [];
    const digits = JSON.stringify([...frame.close, ...frame.sp500.values]);
    const reports = await compute({ onReport: ({ name }) => reported.push(name) });
    expect(reported).toEqual(NAMES);
    const here = [...computeReports(input, NAMES)];
    expect(reports.map(({ name, report }) => ({ name, report }))).toEqual(here.map(({ name, report }) => ({ name, report })));
    expect(JSON.stringify([...frame.close, ...frame.sp500.values])).toBe(digits);
  });

  it.each([
    ['throws', 'the child process failed; the log says why'],
    ['ends', 'the child process ended with code 7'],
    ['crashes', 'the child process ended by SIGKILL'],
  ])('that %s rejects with the reason', async (name, reason) => {
    await expect(compute({ entry: entry(name) })).rejects.toMatchObject({ code: 'INTERNAL', message: expect.stringContaining(reason) });
  });

  it('logs what was thrown and does not expose it', async () => {
    const error = await compute({ entry: entry('throws') }).catch((thrown: OracleError) => thrown);
    expect((error as OracleError).cause).toMatchObject({ message: 'the disk is full' });
    expect((error as OracleError).message).not.toContain('disk');
  });

  it('is killed at its timeout', async () => {
    const late = compute({ entry: entry('never'), timeoutMs: 50 });
    await expect(late).rejects.toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('not done within 0.05 s') });
  });

  it('ends with the process without failing the tests', async () => {
    const stop = new AbortController();
    const stopped = compute({ entry: entry('never'), signal: stop.signal });
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ code: 'SHUTTING_DOWN', retryable: true });
    await expect(compute({ signal: stop.signal })).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('does not get the settings, which hold secrets', async () => {
    vi.stubEnv('PRIVATE_KEY', 'secret');
    const [{ report }] = await computeInProcess({ input, names: ['stability'] }, { signal, entry: entry('environment') });
    expect(report).toContain('PATH');
    expect(report).not.toContain('PRIVATE_KEY');
  });
});

describe('reports of a history that is too short', () => {
  it.each([1, 30, 209])('have no folds and a note: %i days', (rows) => {
    const short = { frame: syntheticFrame({ rows }), pointInTime: [], vintages: 'made' as const };
    const reports = [...computeReports(short, ['walk-forward', 'overfitting', 'contamination', 'stability'])];
    for (const { name, report } of reports) expect(report, name).toMatchObject({ folds: 0, expectedFolds: 19, note: expect.any(String) });
  });
});

describe('the single-flight queue', () => {
  it('runs concurrent calls of one key once, and others in sequence', async () => {
    const queue = new SingleFlightQueue();
    const order: string[] = [];
    const work = (name: string) => async () => {
      order.push(`${name} begins`);
      await Promise.resolve();
      order.push(`${name} ends`);
      return name;
    };
    const results = await Promise.all([queue.run('a', work('a')), queue.run('b', work('b')), queue.run('a', work('again'))]);
    expect(results).toEqual(['a', 'b', 'a']);
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });

  it('continues after a failure, which a later call retries', async () => {
    const queue = new SingleFlightQueue();
    const fail = () => Promise.reject(new Error('no'));
    const [first, second] = await Promise.allSettled([queue.run('a', fail), queue.run('b', async () => 'b')]);
    expect([first.status, second]).toEqual(['rejected', { status: 'fulfilled', value: 'b' }]);
    expect(await queue.run('a', async () => parseDay('2026-01-01'))).toBe(parseDay('2026-01-01'));
  });
});
