import { describe, expect, it } from 'vitest';
import { formatSelfTests, parseSelfTestCommand } from '../../../src/cli/self-test.ts';
import { computeReports } from '../../../src/pipeline/self-test-process.ts';
import { syntheticFrame } from '../forecast/synthetic-frame.ts';

const ALL = ['walk-forward', 'overfitting', 'contamination', 'stability'] as const;

describe('parseSelfTestCommand', () => {
  it.each([
    [[], { names: ['walk-forward'], json: false }],
    [['--json'], { names: ['walk-forward'], json: true }],
    [['stability', 'overfitting'], { names: ['overfitting', 'stability'], json: false }],
    [['all', '--json'], { names: [...ALL], json: true }],
    [['all', 'stability'], { names: [...ALL], json: false }],
  ])('parses %j', (words, command) => {
    expect(parseSelfTestCommand(words)).toEqual(command);
  });

  it.each([
    [['everything'], 'test'],
    [['--jsonl'], '--jsonl'],
    [['all', 'everything'], 'test'],
  ])('rejects %j and names "%s"', (words, field) => {
    expect(() => parseSelfTestCommand(words)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID', field }));
  });
});

describe('formatSelfTests', () => {
  const frame = syntheticFrame({ rows: 2_200 });
  const reports = [...computeReports({ frame, pointInTime: [], vintages: 'made' }, ALL)];
  const text = formatSelfTests('History: test', reports);

  it('prints the history first, then each report with its verdict and duration', () => {
    expect(text.startsWith('History: test\n\n')).toBe(true);
    for (const { report, durationMs } of reports) {
      expect(text.replaceAll('\n', ' ')).toContain(report.verdict);
      expect(text).toContain(`(${durationMs} ms)`);
    }
  });

  it('prints a line for each fold of each horizon, each canary and each trial', () => {
    const [walk, overfitting] = reports.map(({ report }) => report) as unknown as [
      { horizons: { folds: { from: string; brier: number }[] }[]; canaries: { name: string; mutants: { what: string }[] }[] },
      { ledger: { id: string }[] },
    ];
    const lines = text.split('\n');
    const folds = walk.horizons.flatMap((horizon) => horizon.folds);
    expect(folds.length).toBeGreaterThan(8);
    for (const { from, brier } of folds) {
      expect(lines.some((line) => line.includes(from) && line.includes(brier.toFixed(5)))).toBe(true);
    }
    const beginnings = [
      ...walk.canaries.flatMap(({ name, mutants }) => [name, ...mutants.map(({ what }) => `  ${what}`)]),
      ...overfitting.ledger.map(({ id }) => id),
    ];
    for (const beginning of beginnings) expect(lines.filter((line) => line.startsWith(beginning)).length, beginning).toBeGreaterThan(0);
  });

  it('aligns columns with their titles and prints no undefined figure', () => {
    expect(text).not.toMatch(/undefined|NaN|\[object/);
    const [titles, ...rows] = text.slice(text.indexOf('fold  ')).split('\n').slice(0, 4);
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(titles.length + 1);
  });
});
