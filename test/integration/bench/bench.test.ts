import { expect, it } from 'vitest';
import { median } from '../../../bench/benchmark.ts';
import { reportOf } from '../../../bench/report.ts';
import { spawnNode } from '../../support/service.ts';

const bench = (...words: string[]) => spawnNode(['bin/bench.mjs', ...words], {}).ended;

it('broadcasts to real sockets of both sides, and tells the ratio', async () => {
  const { code, output } = await bench('websocket-broadcast', '--clients', '50', '--rounds', '2');
  expect(code, output).toBe(0);
  expect(output).toContain('50 sockets of 10 wallets on either side');
  expect(output).toMatch(/warming up, 2 of 2\n {2}round 1 of 2\n {2}round 2 of 2\n/);
  expect(output).toContain('every socket got each of the 10 events once, in order: yes');
  expect(output.match(/^ {2}ratio {5}\d+\.\d\d {3}goal >= 0\.80: (met|MISSED)$/gm)).toHaveLength(2);
});

it.each(['--help', '-h'])('says with %s what there is, and measures nothing', async (word) => {
  const { code, output } = await bench(word);
  expect(code).toBe(0);
  expect(output).toMatch(/^Usage: npm run bench -- /);
  expect(output).toContain('http-signal:');
});

it('refuses what it does not know, and says what there is', async () => {
  for (const words of [['nothing'], ['--clients', '0'], ['--clients', 'many'], ['--speed']]) {
    const { code, output } = await bench(...words);
    expect(code, output).toBe(2);
    expect(output).toContain('websocket-broadcast:');
  }
});

it('compares medians, and says where a goal is missed', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  const side = { unit: 'a/s', meaning: 'What it says.', baseline: [90, 100, 1_100], ours: [60, 79, 5] };
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
