import { expect, it, onTestFinished, vi } from 'vitest';
import { differenceOf } from '../../../bench/headlines.ts';
import { type MemoryComparison, median, type RateComparison, reportOf, type TimeComparison } from '../../../bench/lib.ts';
import { main } from '../../../bench/run.ts';
import { spawnNode } from '../../support/service/service.ts';

const bench = (...words: string[]) => spawnNode(['bin/dev/bench.mjs', ...words], {}).ended;

it('broadcasts to real sockets of both sides, and reports the ratio', async () => {
  const { code, output } = await bench('websocket-broadcast', '--clients', '50', '--rounds', '2');
  expect(code, output).toBe(0);
  expect(output).toContain('50 sockets of 10 wallets on either side');
  expect(output).toMatch(/warming up, 2 of 2\n {2}round 1 of 2\n {2}round 2 of 2\n/);
  expect(output).toContain('every socket got each of the 10 events once, in order: yes');
  expect(output.match(/^ {2}ratio {5}\d+\.\d\d {3}goal >= 0\.90: (met|MISSED)$/gm)).toHaveLength(2);
});

it('says that figures of two sides are not the same, and where one lacks something', () => {
  const figures = { n: 10, accuracy: 0.5, brier: 0.25, climatologyBrier: 0.25, crps: 0.02, climatologyCrps: 0.021, recentCrps: 0.021 };
  expect(differenceOf({ 2: figures, 7: figures }, { 2: figures, 7: figures })).toBe(0);
  expect(differenceOf({ 2: figures, 7: { ...figures, crps: 0.022 } }, { 2: figures, 7: figures })).toBeCloseTo(0.1, 12);
  expect(differenceOf({ 2: figures }, { 2: figures, 7: figures })).toBeNaN();
  expect(differenceOf({ 2: figures, 7: figures }, { 2: figures })).toBeNaN();
});

it('compares sizes by the width with both references', async () => {
  const { code, output } = await bench('sizing');
  expect(code, output).toBe(0);
  expect(output).toMatch(/^simulated .*\n\nSize by the width: .* on 3420 days/m);
  expect(output).toMatch(/^\| volatility +\| 0\.0 % +(\| [\d.]+ +){3}(\| -?[\d.]+ \(.+?\) +){2}\|$/m);
});

it('says with --help what there is, and measures nothing', async () => {
  const { code, output } = await bench('--help');
  expect(code).toBe(0);
  expect(output).toMatch(/^Usage: npm run bench -- /);
  expect(output).toContain('http-signal:');
});

it.each([['nothing'], ['--clients', '0'], ['--clients', 'many'], ['--speed']])(
  'rejects what it does not know, and says what there is: %s %s',
  async (...words) => {
    const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Error(`exit ${code}`);
    });
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => {
      exit.mockRestore();
      written.mockRestore();
    });
    await expect(main(words)).rejects.toThrow('exit 2');
    expect(written.mock.calls.join('')).toContain('websocket-broadcast:');
  },
);

it('compares medians, and says where a goal is missed', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  const side: RateComparison = { kind: 'rate', unit: 'a/s', meaning: 'What it says.', baseline: [90, 100, 1_100], ours: [60, 79, 5] };
  expect(reportOf({ ...side, goal: 0.8 })).toEqual([
    'a/s, median (min..max) of 3 rounds',
    '  What it says.',
    '  baseline  100 (90..1,100)',
    '  ours      60 (5..79)',
    '  ratio     0.60   goal >= 0.80: MISSED',
  ]);
  expect(reportOf({ ...side, ours: [80, 80, 80], goal: 0.8 }).at(-1)).toBe('  ratio     0.80   goal >= 0.80: met');
  expect(reportOf(side).at(-1)).toBe('  ratio     0.60   no goal is set');
});

it('takes less time for better where time is compared', () => {
  const side: TimeComparison = { kind: 'time', work: 'a', meaning: 'What it says.', baseline: [300, 200, 400], ours: [150, 90, 1_500] };
  expect(reportOf({ ...side, goalMs: 150 })).toEqual([
    'a, ms, median (min..max) of 3 rounds, less is better',
    '  What it says.',
    '  baseline  300 (200..400)',
    '  ours      150 (90..1,500)   goal <= 150 ms: met',
    '  ratio     0.50 of the time of the baseline',
  ]);
  expect(reportOf({ ...side, goalMs: 149 })[3]).toMatch(/goal <= 149 ms: MISSED$/);
  expect(reportOf({ ...side, baseline: null }).slice(2)).toEqual(['  baseline  none', '  ours      150 (90..1,500)   no goal is set']);
});

it('takes less memory for better, and says where it is too much', () => {
  const side: MemoryComparison = { kind: 'memory', what: 'a', meaning: 'What it says.', baseline: [60], ours: [200], goalMb: 200 };
  expect(reportOf(side)).toEqual([
    'resident memory of a, MB, less is better',
    '  What it says.',
    '  baseline  60 (60..60)',
    '  ours      200 (200..200)   goal <= 200 MB: met',
  ]);
  expect(reportOf({ ...side, ours: [201] }).at(-1)).toMatch(/goal <= 200 MB: MISSED$/);
});
