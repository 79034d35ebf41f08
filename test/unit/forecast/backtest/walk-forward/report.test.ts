import { describe, expect, it } from 'vitest';
import { CANARIES, formatCanaryName } from '../../../../../src/forecast/backtest/canaries.ts';
import { computeOutOfSampleFolds } from '../../../../../src/forecast/backtest/out-of-sample.ts';
import { buildWalkForwardReport, type WalkForwardReport } from '../../../../../src/forecast/backtest/walk-forward.ts';
import { parseDay } from '../../../../../src/forecast/day.ts';
import { computeResidualQuantiles, crps } from '../../../../../src/forecast/distribution.ts';
import { computeFeatures } from '../../../../../src/forecast/features.ts';
import { type InputFrame, sliceFrame } from '../../../../../src/forecast/inputs.ts';
import { WALK_FORWARD } from '../../../../../src/record/schemas/self-tests.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { syntheticFrame } from '../../synthetic-frame.ts';
import { simulatedFrame } from '../simulated-frame.ts';

const frame = await simulatedFrame();

/** The report on the first so many days of a history. */
function reportOn(history: InputFrame, rows = history.close.length): WalkForwardReport {
  const cut = sliceFrame(history, history.firstDay + rows - 1);
  return buildWalkForwardReport({ closes: cut.close, features: computeFeatures(cut), frame: cut });
}

describe('walk-forward of the simulated history', () => {
  const report = reportOn(frame);

  it('has all folds at every horizon and is healthy', () => {
    expect(report).toMatchObject({ folds: 19, note: null, healthy: true, firstDay: '2010-07-18', lastDay: '2026-08-20' });
    expect(report.horizons.map(({ folds, pooled }) => [folds.length, pooled!.n])).toEqual(new Array(4).fill([19, 3420]));
    expect(report.canaries.filter(({ passed }) => !passed)).toEqual([]);
    expect([...new Set(report.canaries.map(({ name }) => name))]).toEqual(CANARIES);
  });

  it('has fold figures that sum to the pooled ones', () => {
    for (const { folds, pooled } of report.horizons) {
      const sum = (numberOf: (fold: (typeof folds)[number]) => number) => folds.reduce((total, fold) => total + numberOf(fold), 0);
      const { statistics, direction, signals, directions, crpsSkill, recentCrpsSkill, coverage80 } = pooled!;
      expect(sum(({ calls }) => calls)).toBe(statistics.calls.n);
      expect(sum(({ hits }) => hits)).toBe(statistics.calls.hits);
      expect(sum(({ accuracy }) => accuracy * 180)).toBeCloseTo(direction.hits, 6);
      expect(signals.buy + signals.sell).toBe(statistics.calls.n);
      expect(directions.up + directions.down).toBe(direction.n);
      expect(sum(({ brier }) => brier) / 19).toBeCloseTo(statistics.probabilities!.brier, 12);
      expect(sum(({ logScore }) => logScore) / 19).toBeCloseTo(statistics.probabilities!.logScore, 12);
      expect(sum(({ crps }) => crps) / 19).toBeCloseTo(crpsSkill.ours, 12);
      expect(sum(({ climatologyCrps }) => climatologyCrps) / 19).toBeCloseTo(crpsSkill.theirs, 12);
      expect(crpsSkill.value).toBeCloseTo(1 - crpsSkill.ours / crpsSkill.theirs, 12);
      expect(sum(({ recentCrps }) => recentCrps) / 19).toBeCloseTo(recentCrpsSkill.theirs, 12);
      expect(recentCrpsSkill.ours).toBe(crpsSkill.ours);
      expect(sum((fold) => fold.coverage80) / 19).toBeCloseTo(coverage80.value, 12);
      expect(coverage80.low!).toBeLessThan(coverage80.value);
    }
  });

  it('matches its schema before and after JSON', () => {
    expect(WALK_FORWARD.parse(report)).toEqual(report);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    expect(undocumented(WALK_FORWARD, report)).toEqual([]);
  });
});

describe('walk-forward of a shorter history', () => {
  it('notes the number of folds and their requirements', () => {
    const report = reportOn(frame, 3200);
    expect(report.folds).toBe(4);
    expect(report.note).toBe(
      '4 of 19 folds: the history runs from 2010-07-18 to 2019-04-21 (scores begin on its day 210); a fold requires 730 training days, the embargo, 180 days and all their outcomes',
    );
    expect(report.horizons.map(({ folds }) => folds.length)).toEqual([4, 4, 4, 4]);
    expect(report.healthy).toBe(true);
    expect(WALK_FORWARD.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
  });

  it.each([400, 1372, 1374, 1500])('is healthy for %d days: a mutant without data for its leak is left out', (rows) => {
    expect(reportOn(frame, rows)).toMatchObject({ folds: 0, healthy: true });
  });

  it('is deterministic', () => {
    expect(reportOn(frame, 2800)).toEqual(reportOn(structuredClone(frame), 2800));
  });

  it('counts a fold once its last outcome is known', () => {
    const lastOutcome = parseDay('2017-09-29') + 7;
    const foldsUntil = (day: number) => {
      const cut = sliceFrame(frame, day);
      return computeOutOfSampleFolds({ closes: cut.close, features: computeFeatures(cut) }, 7).length;
    };
    expect([foldsUntil(lastOutcome - 1), foldsUntil(lastOutcome)]).toEqual([0, 1]);
  });

  it('starts with a later fold for a later start', () => {
    const late = syntheticFrame({ rows: 1700 });
    const { horizons, note } = reportOn(late);
    expect(horizons[0].folds.map(({ fold }) => fold)).toEqual([2, 3, 4]);
    expect(note).toMatch(/^3 of 19 folds: the history runs from 2015-01-01 /);
  });

  it.each([2600, 1000, 211, 210, 31, 1])('returns empty tables and lists the canaries not run for %d days', (rows) => {
    const report = reportOn(frame, rows);
    expect(report.folds).toBe(0);
    expect(report.note).toMatch(/^0 of 19 folds: /);
    for (const { folds, pooled, verdict } of report.horizons) {
      expect([folds, pooled, verdict]).toEqual([[], null, 'no complete fold: no result']);
    }
    const silent = report.canaries.filter(({ passed }) => passed === null);
    for (const canary of silent) {
      const { figure, limit, mutants, note } = canary;
      expect([figure, limit, mutants]).toEqual([null, null, []]);
      expect(note).toMatch(/^not run: /);
      if (silent.length < report.canaries.length) expect(report.verdict).toContain(formatCanaryName(canary));
    }
    expect(silent.length === report.canaries.length).toBe(rows <= 210);
    expect(WALK_FORWARD.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
  });
});

describe('recent-returns reference', () => {
  it('is the empirical distribution of the last 1461 training days', () => {
    const { length } = frame.close;
    const history = { closes: frame.close, features: computeFeatures(frame) };
    const returnAt = (row: number) => Math.log(frame.close[row + 7] / frame.close[row]);
    for (const { model, days } of computeOutOfSampleFolds(history, 7).filter(({ fold }) => fold === 1 || fold === 19)) {
      const to = model.trainTo - frame.firstDay;
      const returns = Array.from({ length: 1461 }, (_, index) => returnAt(to - index));
      const residualQuantiles = computeResidualQuantiles(Float64Array.from(returns));
      const [first] = days;
      expect(first.row).toBeLessThan(length);
      expect(first.recentCrps).toBe(crps({ scale: 1, shift: 0, residualQuantiles }, first.realised));
      expect(first.recentCrps).not.toBe(first.climatologyCrps);
    }
  });
});

describe('walk-forward of a longer history', () => {
  it('lists the added folds', () => {
    const longer = syntheticFrame({ rows: 6100, firstDay: parseDay('2010-07-18') });
    const features = computeFeatures(longer);
    const folds = computeOutOfSampleFolds({ closes: longer.close, features }, 7);
    expect(folds.map(({ fold }) => fold)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(folds[19].days).toHaveLength(180);
  });
});
