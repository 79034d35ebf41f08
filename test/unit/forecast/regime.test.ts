import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/forecast/day.ts';
import { computeFeatures } from '../../../src/forecast/features.ts';
import { FEATURE_NAMES, type FeatureName, type FeatureTable } from '../../../src/forecast/inputs.ts';
import {
  classifyRegimes,
  classifyRow,
  describeRegimeFactors,
  REGIME_NAMES,
  REGIME_THRESHOLDS,
  REGIMES,
  type Regime,
} from '../../../src/forecast/regime.ts';
import { describeGolden, readGolden, readGoldenFrame, readGoldenRows } from './golden-frame.ts';

function factorsOf(gap200: number, ret30: number, fg7: number, vratio: number) {
  const column = (value: number) => Float64Array.of(value);
  return describeRegimeFactors(
    { gap200: column(gap200), ret30: column(ret30), fg7: column(fg7), vratio: column(vratio) } as FeatureTable,
    0,
  );
}

describe('describeRegimeFactors', () => {
  it('formats the figures', () => {
    expect(factorsOf(Math.log(1.123), Math.log(0.95), 61.8, 1.3)).toEqual({
      trendPosition: '12.3 % above the 200-day average',
      momentum: '-5.0 % in 30 days',
      sentiment: 'greed (Fear & Greed 62, 7-day mean)',
      volatility: '1.30 times its one-year median',
    });
    expect(factorsOf(Math.log(0.9), Math.log(1.2), 24.9, 0.8)).toMatchObject({
      trendPosition: '10.0 % below the 200-day average',
      momentum: '+20.0 % in 30 days',
      sentiment: 'extreme fear (Fear & Greed 25, 7-day mean)',
    });
  });

  it.each([
    [30, 'fear'],
    [50, 'neutral'],
    [80, 'extreme greed'],
  ])('names a reading of %d', (fearGreed, name) => {
    expect(factorsOf(0, 0, fearGreed, 1).sentiment).toMatch(new RegExp(`^${name} \\(`));
  });

  it('formats unknown inputs', () => {
    const missing = Number.NaN;
    for (const factor of Object.values(factorsOf(missing, missing, missing, missing))) expect(factor).toMatch(/^unknown: /);
  });
});
type Row = Partial<Record<FeatureName, number>>;

const CALM: Row = { gap200: 0.2, gap50: 0.1, cross: 0.1, ret7: 0, ret30: 0, vratio: 1, fg7: 50 };

/** Rows that meet one rule each. */
const ROWS: Record<Regime, Row> = {
  CRISIS: { ...CALM, ret7: -0.2 },
  EUPHORIA: { ...CALM, gap200: 0.25, fg7: 75 },
  CHOP: { ...CALM, gap200: 0.1, ret30: -0.1, vratio: 1.25 },
  BEAR_RECOVERY: { ...CALM, gap200: -0.05, gap50: 0.01, ret30: 0.05, vratio: 2 },
  BEAR_TREND: { ...CALM, gap200: -0.03, gap50: 0, ret30: -0.2 },
  BULL_TREND: CALM,
  DEFAULT: { ...CALM, ret30: -0.2 },
};

function tableOf(rows: Row[]): FeatureTable {
  const columns = FEATURE_NAMES.map((name) => [name, Float64Array.from(rows, (row) => row[name] ?? Number.NaN)]);
  return { firstDay: 0, length: rows.length, ...Object.fromEntries(columns) } as FeatureTable;
}

const rawOf = (row: Row) => classifyRow(tableOf([row]), 0);

const labelsOf = (...runs: [Regime, number][]) =>
  classifyRegimes(tableOf(runs.flatMap(([regime, days]) => Array.from({ length: days }, () => ROWS[regime]))));

const runsOf = (labels: Regime[]) => {
  const runs: [Regime, number][] = [];
  for (const label of labels) {
    if (runs.at(-1)?.[0] === label) runs.at(-1)![1]++;
    else runs.push([label, 1]);
  }
  return runs;
};

describe('classifyRow', () => {
  it.each(REGIME_NAMES)('meets the rule of %s at its limits', (regime) => {
    expect(rawOf(ROWS[regime])).toBe(regime);
  });

  it('applies the first matching rule', () => {
    expect(rawOf({ ...ROWS.EUPHORIA, ret30: -0.35 })).toBe('CRISIS');
    expect(rawOf({ ...CALM, gap200: 0.45, ret30: 0.2, fg7: Number.NaN })).toBe('EUPHORIA');
    expect(rawOf({ ...ROWS.BEAR_RECOVERY, vratio: 1 })).toBe('CHOP');
  });

  it('is DEFAULT where the long average or the volatility ratio is missing', () => {
    expect(rawOf({ ...ROWS.CRISIS, gap200: Number.NaN })).toBe('DEFAULT');
    expect(rawOf({ ...ROWS.CRISIS, vratio: Number.NaN })).toBe('DEFAULT');
  });

  it('uses the given limits', () => {
    expect(classifyRow(tableOf([ROWS.CRISIS]), 0, { ...REGIME_THRESHOLDS, crisisRet7: -0.24 })).toBe('BULL_TREND');
  });
});

describe('classifyRegimes', () => {
  it('enters a crisis at once, euphoria on the second day, others on the third', () => {
    expect(runsOf(labelsOf(['DEFAULT', 4], ['CRISIS', 6]))).toEqual([
      ['DEFAULT', 4],
      ['CRISIS', 6],
    ]);
    expect(runsOf(labelsOf(['DEFAULT', 4], ['EUPHORIA', 3]))).toEqual([
      ['DEFAULT', 5],
      ['EUPHORIA', 2],
    ]);
    expect(runsOf(labelsOf(['DEFAULT', 4], ['CHOP', 3]))).toEqual([
      ['DEFAULT', 6],
      ['CHOP', 1],
    ]);
  });

  it('drops a candidate that does not last', () => {
    expect(new Set(labelsOf(['DEFAULT', 3], ['CHOP', 2], ['DEFAULT', 1], ['CHOP', 2], ['BEAR_TREND', 2]))).toEqual(new Set(['DEFAULT']));
  });

  it('keeps a crisis for five days while its successor counts', () => {
    expect(runsOf(labelsOf(['CRISIS', 1], ['CHOP', 10]))).toEqual([
      ['CRISIS', 5],
      ['CHOP', 6],
    ]);
    expect(runsOf(labelsOf(['CRISIS', 4], ['CHOP', 10]))).toEqual([
      ['CRISIS', 6],
      ['CHOP', 8],
    ]);
  });

  it('has no rows to label in an empty table', () => {
    expect(classifyRegimes(tableOf([]))).toEqual([]);
  });

  it('describes every regime', () => {
    expect(Object.fromEntries(REGIME_NAMES.map((name) => [name, [REGIMES[name].riskLevel, REGIMES[name].theta]]))).toEqual({
      CRISIS: ['Extreme', 0.06],
      EUPHORIA: ['Elevated', 0.05],
      CHOP: ['Moderate', 0.06],
      BEAR_RECOVERY: ['Elevated', 0.04],
      BEAR_TREND: ['High', 0.04],
      BULL_TREND: ['Low', 0.03],
      DEFAULT: ['Moderate', 0.05],
    });
    for (const name of REGIME_NAMES) expect(REGIMES[name].description).toMatch(/^[A-Z].*\.$/);
  });
});

describeGolden('regimes on real history', () => {
  const frame = readGoldenFrame();
  const labels = classifyRegimes(computeFeatures(frame));
  const labelOn = (date: string) => labels[parseDay(date) - frame.firstDay];
  const golden = readGolden<{ labels: Record<string, Regime>; thresholds: Record<string, number> }>('regimes.json');

  it('equal the reference labels', () => {
    const dates = Object.keys(golden.labels);
    expect(dates.map((date) => [date, labelOn(date)])).toEqual(Object.entries(golden.labels));
  });

  it('equal the label of every forecast day', () => {
    const wrong = readGoldenRows('oos_predictions.csv').filter((row) => row.regime !== labelOn(row.date));
    expect(wrong).toEqual([]);
  });

  it('use the reference limits', () => {
    expect(Object.values(REGIME_THRESHOLDS).sort()).toEqual(Object.values(golden.thresholds).sort());
  });

  it('have not changed since 2012', () => {
    const since = labels.slice(parseDay('2012-01-01') - frame.firstDay);
    const digest = createHash('sha256').update(since.join('\n')).digest('hex');
    expect(digest).toBe('f36a7539cb86cf61db7dfb03db830cba4081bb2c2afa536523ab358bfbef77f4');
  });
});
