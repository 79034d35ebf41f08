import { expect, it } from 'vitest';
import { spawnNode } from '../../support/service/service.ts';

it('measures requests to a service while its self-tests run', async () => {
  const { code, output } = await spawnNode(['bin/dev/bench.mjs', 'api-under-self-tests', '--clients', '5', '--rounds', '1'], {}).ended;
  expect(code, output).toBe(0);
  expect(output).toContain('answers that were not as the first one: 0\n');
  expect(output).toMatch(/^answers\/s with self-tests in their thread \(the baseline: in another process\)/m);
  expect(output.match(/^ {2}ratio {5}\d+\.\d\d {3}(goal >= 0\.80: (met|MISSED)|no goal is set)$/gm)).toHaveLength(2);
  expect(output.match(/^ {2}ratio {5}\d+\.\d\d of the time of the baseline$/gm)).toHaveLength(1);
});

it('weighs an API process beside a bare one', async () => {
  const { code, output } = await spawnNode(['bin/dev/bench.mjs', 'memory'], {}).ended;
  expect(code, output).toBe(0);
  expect(output.match(/^ {2}when it is ready \d+ MB, 20 s later \d+ MB$/gm)).toHaveLength(2);
  expect(output.match(/^ {2}ours {6}\d+ \(\d+\.\.\d+\) {3}goal <= (150|250) MB: (met|MISSED)$/gm)).toHaveLength(2);
});

it('times a first start, empty and with a replay', async () => {
  const { code, output } = await spawnNode(['bin/dev/bench.mjs', 'start', '--rounds', '1'], {}).ended;
  expect(code, output).toBe(0);
  expect(output.match(/^ {2}ours {6}[\d,]+ \([\d,.]+\) {3}goal <= (3,000|12,000) ms: (met|MISSED)$/gm)).toHaveLength(2);
});

it('times the walk-forward, and holds its figures against those of numpy where there is any', async () => {
  const { code, output } = await spawnNode(['bin/dev/bench.mjs', 'walk-forward', '--rounds', '1'], {}).ended;
  expect(code, output).toBe(0);
  expect(output).toMatch(
    /simulated \(seed \d+\): \d+ days; baseline: (numpy [\d.]+, Python [\d.]+|none, python3 with numpy is not here)\n/,
  );
  expect(output).toMatch(/^ {2}ours {6}[\d,]+ \([\d,.]+\) {3}goal <= 1,000 ms: (met|MISSED)$/m);
  if (output.includes('baseline: numpy')) {
    expect(output).toMatch(/figures of both, largest difference: \d+e-\d+ of the figure/);
    expect(output.match(/^ {2}ratio {5}\d+\.\d\d of the time of the baseline( {3}goal <= 1\.00: (met|MISSED))?$/gm)).toHaveLength(2);
  } else expect(output).toContain('  baseline  none');
});
