import { describe, expect, it } from 'vitest';
import {
  buildContaminationReport,
  type ContaminationSource,
  chooseAuditDays,
  compareEras,
  computeKnownFeatures,
  ETF_START,
  findFeatureDifferences,
  findSuspicions,
  measureDays,
  measureEraDifference,
  type PointInTimeFrame,
  reduceLag,
  runLagMutants,
} from '../../../../src/forecast/backtest/contamination.ts';
import type { OutOfSampleDay } from '../../../../src/forecast/backtest/out-of-sample.ts';
import { parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import { type FeatureName, getLastDay, type InputFrame, sliceFrame } from '../../../../src/forecast/inputs.ts';
import { openCsvFeed } from '../../../../src/market/csv.ts';
import { type Feed, getSignalTimeMs } from '../../../../src/market/feed.ts';
import { createMarket } from '../../../../src/market/market.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';
import { getVintages } from '../../../../src/pipeline/pipeline.ts';
import { CONTAMINATION } from '../../../../src/record/schemas/self-tests.ts';
import { undocumented } from '../../../support/http/reply-schema.ts';
import { describeWithShared, sharedPath } from '../../../support/record/shared.ts';
import { seededRandom, syntheticFrame } from '../synthetic-frame.ts';
import { LENGTHS_WITHOUT_FOLDS } from './short-histories.ts';

describe('audit days', () => {
  const frame = syntheticFrame();
  const last = getLastDay(frame);

  it('ascend over two years up to the last day with resolved forecasts', () => {
    const days = chooseAuditDays(frame);
    expect(days.length).toBeGreaterThanOrEqual(24);
    expect(days).toEqual([...new Set(days)].sort((a, b) => a - b));
    expect(days[0]).toBeGreaterThan(last - 8 - 730);
    expect(days.at(-1)).toBe(last - 8);
  });

  it('include the day before the newest monthly release', () => {
    const release = 1433;
    const monthly = { ...frame, pmi: frame.pmi.map((_, row) => (row < release ? 50 : 51)) };
    expect(chooseAuditDays(monthly)).toContain(frame.firstDay + release - 1);
  });

  it('include the newest observation of each business-day series', () => {
    const days = Int32Array.of(last - 300, last - 41);
    const sparse = { ...frame, etfFlow: { days, values: Float64Array.of(1, 2) } };
    expect(chooseAuditDays(sparse)).toContain(last - 41);
  });

  it('ignore series that ended before the period', () => {
    const ended = { ...frame, etfFlow: { days: Int32Array.of(last - 900), values: Float64Array.of(1) } };
    expect(Math.min(...chooseAuditDays(ended))).toBeGreaterThan(last - 8 - 730);
  });

  it('cover all days of a short history', () => {
    expect(chooseAuditDays(syntheticFrame({ rows: 12 }))).toEqual([0, 1, 2, 3].map((index) => frame.firstDay + index));
    expect(chooseAuditDays(syntheticFrame({ rows: 8 }))).toEqual([]);
  });
});
const FIRST = parseDay('2023-01-01');
const DAYS = 800;

/** Days on which the price rises by chance; `pUpOf` is what was said. */
function daysWith(pUpOf: (day: number, rose: boolean) => number): OutOfSampleDay[] {
  const random = seededRandom(11);
  return Array.from({ length: DAYS }, (_, index) => {
    const rose = random() < 0.53;
    const day = FIRST + index;
    const pUp = pUpOf(day, rose);
    return {
      day,
      row: index,
      fold: 1,
      regime: index % 2 === 0 ? 'CHOP' : 'DEFAULT',
      signal: 'HOLD',
      call: null,
      rose,
      pUp,
      climatology: 0.53,
      realised: rose ? 0.01 : -0.01,
      distribution: { crps: 0.01, pit: 0.5 },
      predictive: { scale: 0.03, shift: 0, residualQuantiles: [] },
      climatologyCrps: 0.0125,
      recentCrps: 0.0105,
    };
  });
}

const erasOf = (days: OutOfSampleDay[]) => compareEras(1, [{ days }]);

describe('era figures', () => {
  const days = daysWith((_, rose) => (rose ? 0.6 : 0.55));
  const eras = erasOf(days);

  it('split at the first ETF trading day and sum to the whole', () => {
    expect(eras.preEtf).toMatchObject({ from: '2023-01-01', to: '2024-01-10', n: 375 });
    expect(eras.postEtf).toMatchObject({ from: '2024-01-11', to: '2025-03-10', n: DAYS - 375 });
    expect(eras.regimes.map(({ regime, n }) => [regime, n]).filter(([, n]) => n !== 0)).toEqual([
      ['CHOP', 400],
      ['DEFAULT', 400],
    ]);
    expect(eras.regimes).toHaveLength(7);
  });

  it('match figures computed by hand', () => {
    const before = days.filter(({ day }) => day < ETF_START);
    const rises = before.filter(({ rose }) => rose).length / before.length;
    // Always UP: right as often as it rose, so that there is no edge.
    expect(eras.preEtf.accuracy).toBeCloseTo(rises, 12);
    expect(eras.preEtf.alwaysUp).toBeCloseTo(rises, 12);
    expect(eras.preEtf.edge).toEqual({ value: 0, low: null, high: null });
    expect(eras.preEtf.downs).toBe(0);
    expect(eras.preEtf.crpsSkill!.value).toBeCloseTo(0.2, 12);
    const brier = rises * 0.4 ** 2 + (1 - rises) * 0.55 ** 2;
    const base = rises * 0.47 ** 2 + (1 - rises) * 0.53 ** 2;
    expect(eras.preEtf.brierSkill!.value).toBeCloseTo(1 - brier / base, 12);
    const { low, high } = eras.preEtf.accuracy95!;
    expect(low).toBeLessThan(rises);
    expect(high).toBeGreaterThan(rises);
  });

  it('have differences of the later minus the earlier era', () => {
    const { difference, postEtf, preEtf } = eras;
    for (const name of ['edge', 'brierSkill', 'crpsSkill'] as const) {
      expect(difference[name]!.value).toBeCloseTo(postEtf[name]!.value - preEtf[name]!.value, 12);
    }
    expect(difference.accuracy!.value).toBeCloseTo(postEtf.accuracy! - preEtf.accuracy!, 12);
    expect(difference.accuracy!.low!).toBeLessThan(difference.accuracy!.value);
    expect(difference.accuracy!.high!).toBeGreaterThan(difference.accuracy!.value);
  });

  it('are null without days, without differences for a single era', () => {
    expect(measureDays([], 'accuracy')).toBeNull();
    const early = days.filter(({ day }) => day < ETF_START);
    expect(measureEraDifference(early, ETF_START, 'brierSkill')).toBeNull();
    expect(erasOf(early).postEtf).toMatchObject({ n: 0, effectiveN: 0, from: null, accuracy: null, accuracy95: null, edge: null });
  });
});

describe('suspicions', () => {
  it('are empty for a constant model', () => {
    expect(findSuspicions([erasOf(daysWith(() => 0.54))])).toEqual([]);
  });

  it('name the era in which a model has lookahead', () => {
    const knowsLater = daysWith((day, rose) => (day >= ETF_START && day % 3 === 0 ? (rose ? 0.7 : 0.3) : 0.54));
    const found = findSuspicions([erasOf(knowsLater)]);
    expect(found.map(({ where, why }) => [where, why.slice(0, 11)])).toContainEqual(['since the ETFs', 'Brier skill']);
    const knowsEarlier = daysWith((day, rose) => (day < ETF_START && day % 3 === 0 ? (rose ? 0.7 : 0.3) : 0.54));
    expect(findSuspicions([erasOf(knowsEarlier)]).map(({ where }) => where)).toContain('before the ETFs');
  });

  it('name an era and a regime in which a model is worse than always-UP', () => {
    const wrongEarly = daysWith((day, rose) => (day < ETF_START && day % 5 === 0 ? (rose ? 0.3 : 0.54) : 0.54));
    const found = findSuspicions([erasOf(wrongEarly)]).filter(({ why }) => why.includes('below always-UP'));
    expect(found.map(({ where }) => where)).toEqual(expect.arrayContaining(['before the ETFs', 'CHOP', 'DEFAULT']));
    expect(found.map(({ where }) => where)).not.toContain('since the ETFs');
  });

  it('name a regime with too high an accuracy', () => {
    const found = findSuspicions([erasOf(daysWith((day, rose) => ((day - FIRST) % 2 === 0 ? (rose ? 0.7 : 0.3) : 0.54)))]);
    expect(found.filter(({ where }) => where === 'CHOP')).toHaveLength(1);
    expect(found.filter(({ where }) => where === 'DEFAULT')).toEqual([]);
  });
});
const frame = syntheticFrame({ rows: 1700, firstDay: parseDay('2020-06-01') });
const features = computeFeatures(frame);

function reportOf(source: Omit<ContaminationSource, 'vintages'> & Partial<ContaminationSource>) {
  return buildContaminationReport({ vintages: 'made', ...source });
}

/** What was known on days of a history; the price of the evening is not yet the close. */
function knownOn(history: InputFrame, days: readonly number[]): PointInTimeFrame[] {
  return days.map((day) => {
    const known = sliceFrame(history, day);
    const close = known.close.slice();
    close[close.length - 1] *= 1.01;
    return { day, frame: { ...known, close } };
  });
}

const pointInTime = knownOn(frame, chooseAuditDays(frame));
const report = reportOf({ frame, features, pointInTime });

describe('contamination report of a sound pipeline', () => {
  it('finds nothing and catches every input read a day early', () => {
    expect(report).toMatchObject({ healthy: true, pointInTime: { differences: [] } });
    expect(report.pointInTime.days).toHaveLength(pointInTime.length);
    expect(report.lagMutants).toHaveLength(12);
    for (const { input, applicable, caught, reason } of report.lagMutants) {
      expect([input, applicable, caught, reason]).toEqual([input, true, true, null]);
    }
    const flows = report.lagMutants.find(({ input }) => input === 'etfFlow');
    expect(flows!.features).toEqual(['flow', 'etf']);
    expect(report.verdict).toContain('All 12 mutants');
  });

  it('lists both eras and all regimes of every horizon', () => {
    expect(report.horizons.map(({ horizonDays }) => horizonDays)).toEqual([1, 2, 3, 7]);
    for (const { preEtf, postEtf, regimes, folds, difference } of report.horizons) {
      expect(preEtf.n).toBeGreaterThan(0);
      expect(postEtf.n).toBeGreaterThan(0);
      expect(preEtf.n + postEtf.n).toBe(folds * 180);
      expect(regimes.reduce((sum, { n }) => sum + n, 0)).toBe(folds * 180);
      expect(difference.brierSkill).not.toBeNull();
    }
  });

  it('limits the verdict on revisions to the vintages', () => {
    const buildReport = (vintages: ContaminationSource['vintages']) => reportOf({ frame, features, pointInTime, vintages });
    const verdicts = (['collected', 'made', 'none'] as const).map((vintages) => buildReport(vintages).verdict.split('. All ')[0]);
    expect(verdicts[0]).toMatch(/^On \d+ audited days every feature matches the value known at the time; for days before collection began/);
    expect(verdicts[1]).toMatch(/^On \d+ audited days every feature matches the value known at the time, in a simulated market/);
    expect(verdicts[2]).toMatch(/^On \d+ audited days the lags hold: .* Revisions before the files were collected cannot show/);
    expect(buildReport('none').pointInTime.vintages).toBe('none');
    expect((['live', 'simulated', 'csv'] as const).map((kind) => getVintages({ kind }))).toEqual(['collected', 'made', 'none']);
  });

  it('is deterministic and matches its schema', () => {
    expect(reportOf({ frame, features, pointInTime })).toEqual(report);
    expect(CONTAMINATION.parse(report)).toEqual(report);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    expect(undocumented(CONTAMINATION, report)).toEqual([]);
  });
});

/** Too short for a fold, so that nothing but the audit takes time. */
const brief = syntheticFrame({ rows: 1150 });
const briefFeatures = computeFeatures(brief);
const known = knownOn(brief, chooseAuditDays(brief));

describe('contamination report of a broken pipeline', () => {
  const few = known.slice(-8);

  it.each([
    ['etfFlow', 'etf'],
    ['sp500', 'spz'],
    ['takerBuyFraction', 'takz'],
    ['pmi', 'pmi'],
  ] as const)('fails when %s has one day less lag and names the feature', (input, feature) => {
    const broken = reportOf({ frame: brief, features: computeFeatures(reduceLag(brief, input)), pointInTime: known });
    expect(broken.healthy).toBe(false);
    expect(new Set(broken.pointInTime.differences.map((one) => one.feature))).toContain(feature satisfies FeatureName);
    expect(broken.pointInTime.differences.some((one) => one.feature === 'mvz')).toBe(false);
    expect(broken.verdict).toMatch(/^LEAK OR REVISION: /);
    expect(CONTAMINATION.parse(JSON.parse(JSON.stringify(broken)))).toEqual(broken);
  });

  it('fails on every audited day when a feature looks ahead', () => {
    const trend = briefFeatures.trend.map((value, row) => briefFeatures.trend[row + 1] ?? value);
    const broken = reportOf({ frame: brief, features: { ...briefFeatures, trend }, pointInTime: few });
    const differing = broken.pointInTime.differences.filter(({ feature }) => feature === 'trend').map(({ day }) => day);
    expect(differing).toEqual(broken.pointInTime.days.slice(0, differing.length));
    expect(differing.length).toBeGreaterThanOrEqual(7);
    expect(broken.healthy).toBe(false);
  });

  it('names a revised input with both values', () => {
    const [one] = few;
    const realizedPrice = one.frame.realizedPrice.map((price, row) => (row === one.frame.realizedPrice.length - 1 ? price * 2 : price));
    const revised = reportOf({
      frame: brief,
      features: briefFeatures,
      pointInTime: [{ day: one.day, frame: { ...one.frame, realizedPrice } }],
    });
    expect(revised.pointInTime.differences.map(({ feature }) => feature)).toEqual(['value', 'mvz']);
    const [, mvz] = revised.pointInTime.differences;
    expect(mvz.computed).toBe(briefFeatures.mvz[one.day - brief.firstDay]);
    expect(mvz.known).not.toBe(mvz.computed);
  });

  it('reports an audit that misses a lag mutant', () => {
    // Between these days the figure changes, but on none of them.
    const monthly = { ...brief, pmi: brief.pmi.map((_, row) => 50 + (Math.floor(row / 30) % 2)) };
    const days = [0, 1, 2].map((index) => getLastDay(brief) - 100 + 30 * index).map((day) => day - ((day - brief.firstDay) % 30) + 10);
    const blind = reportOf({ frame: monthly, features: computeFeatures(monthly), pointInTime: knownOn(monthly, days) });
    expect(blind.pointInTime.differences).toEqual([]);
    expect(blind.lagMutants.find(({ input }) => input === 'pmi')).toMatchObject({ applicable: true, caught: false, features: [], days: 0 });
    expect(blind.healthy).toBe(false);
    expect(blind.verdict).toContain('UNRELIABLE: the audit misses one day less lag of pmi');
    const sighted = reportOf({
      frame: monthly,
      features: computeFeatures(monthly),
      pointInTime: knownOn(monthly, chooseAuditDays(monthly)),
    });
    expect(sighted.lagMutants.find(({ input }) => input === 'pmi')).toMatchObject({ caught: true, features: ['flow', 'pmi', 'macro'] });
    expect(sighted.healthy).toBe(true);
  });
});

describe('incomplete histories', () => {
  it('mark a mutant as not applicable with the reason', () => {
    const none = { days: new Int32Array(), values: new Float64Array() };
    const poor = { ...brief, etfFlow: none, fundingRate: brief.fundingRate.map(() => Number.NaN) };
    const found = reportOf({ frame: poor, features: computeFeatures(poor), pointInTime: knownOn(poor, chooseAuditDays(poor)) });
    for (const input of ['etfFlow', 'fundingRate']) {
      expect(found.lagMutants.find((mutant) => mutant.input === input)).toMatchObject({
        applicable: false,
        caught: false,
        reason: 'the history lacks this series',
      });
    }
    expect(found.healthy).toBe(true);
    expect(found.verdict).toContain('All 10 mutants that read an input a day early were caught; not applicable: fundingRate, etfFlow');
  });

  it('report that no day was audited', () => {
    const found = reportOf({ frame: brief, features: briefFeatures, pointInTime: [] });
    expect(found.lagMutants.every(({ applicable, caught, reason }) => !applicable && !caught && reason === 'no day was audited')).toBe(
      true,
    );
    expect(found.verdict).toContain('No day was audited. No lag mutant was run');
  });

  it.each(LENGTHS_WITHOUT_FOLDS)('leave eras empty at %d days', (rows) => {
    const whole = syntheticFrame();
    const short = sliceFrame(whole, whole.firstDay + rows - 1);
    const found = reportOf({
      frame: short,
      features: computeFeatures(short),
      pointInTime: knownOn(short, chooseAuditDays(short).slice(-3)),
    });
    expect(found).toMatchObject({ folds: 0, healthy: true, suspicions: [] });
    expect(found.note).toContain('0 of 19 folds');
    expect(CONTAMINATION.parse(JSON.parse(JSON.stringify(found)))).toEqual(found);
  });

  it('reject a frame that does not end with its day', () => {
    const wrong = [{ ...known[0], day: known[0].day - 1 }];
    expect(() => reportOf({ frame: brief, features: briefFeatures, pointInTime: wrong })).toThrow(
      /cannot be audited by a frame that ends on/,
    );
  });
});

/** The history of a feed through a day, its features, and what the market gave at 21:35 UTC of days to audit. */
async function sourceOf(feed: Feed, lastDay: number) {
  const market = createMarket(feed);
  const { frame: history } = await market.inputs(lastDay, toInstantMs(lastDay + 1));
  const frames: PointInTimeFrame[] = [];
  for (const day of chooseAuditDays(history)) frames.push({ day, frame: (await market.inputs(day, getSignalTimeMs(day))).frame });
  return { frame: history, features: computeFeatures(history), pointInTime: frames };
}

describe('contamination report of the simulated market', () => {
  it('returns the same features point in time as in history and reveals every lag', async () => {
    const source = await sourceOf(openSimulatedFeed(), parseDay('2025-02-01'));
    const asKnown = computeKnownFeatures(source.frame, source.pointInTime);
    expect(asKnown.length).toBeGreaterThanOrEqual(24);
    expect(findFeatureDifferences(source.features, asKnown)).toEqual([]);
    const mutants = runLagMutants(source.frame, asKnown);
    expect(mutants.map(({ input, caught }) => [input, caught])).toEqual(mutants.map(({ input }) => [input, true]));
  });
});

describeWithShared('contamination on real history', () => {
  it('has no differing feature, no missed mutant and no better era, but accuracies below always-UP', async () => {
    const feed = await openCsvFeed(sharedPath('data'));
    const { lastDay } = await feed.coverage();
    const found = reportOf({ ...(await sourceOf(feed, lastDay!)), vintages: getVintages(feed) });
    expect(found.verdict).toContain('Revisions before the files were collected cannot show');
    expect(found).toMatchObject({ folds: 19, note: null, healthy: true, pointInTime: { differences: [] } });
    expect(found.suspicions.map(({ horizonDays, where, why }) => [horizonDays, where, why.split(', ')[1]])).toEqual([
      [1, 'before the ETFs', 'below always-UP significantly'],
      [1, 'CRISIS', 'below always-UP significantly'],
    ]);
    expect(found.lagMutants.map(({ input, caught }) => [input, caught])).toEqual(found.lagMutants.map(({ input }) => [input, true]));
    for (const { preEtf, postEtf } of found.horizons) expect([preEtf.n, postEtf.n]).toEqual([2474, 946]);
    const week = found.horizons.find(({ horizonDays }) => horizonDays === 7)!;
    // Together 1.6 %, as it was found.
    const crps = [week.preEtf, week.postEtf].map(({ crpsSkill }) => crpsSkill!.value);
    expect(Math.min(...crps)).toBeLessThan(0.016);
    expect(Math.max(...crps)).toBeGreaterThan(0.016);
  });
});
