import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import { formatDay, parseDay } from '../../../src/forecast/day.ts';
import { computeRecordStatistics, toPublishedSummary } from '../../../src/forecast/record-statistics.ts';
import { summarizeForecasts } from '../../../src/record/briefs.ts';
import { computeBrierDifference, scoreForecasts } from '../../../src/record/figures.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import { toPublicStatus } from '../../../src/record/visibility.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { fullService } from '../../support/service/full-service.ts';
import type { TestService } from '../../support/service/service.ts';
import { BASIC, buildSkillDeps, createTestRunner, type RunSkillById } from '../../support/service/skills.ts';
import { scorecardOf } from '../../unit/record/scorecard-fixture.ts';

let service: TestService;
let served: Served;
let run: RunSkillById;
const docs: Record<string, ForecastDoc[]> = {};

beforeAll(async () => {
  service = await fullService();
  served = await serve(service);
  await makeVaried();
  run = createTestRunner(buildSkillDeps(service.http));
  for (const days of [1, 2, 3, 7]) docs[`${days}d`] = [...service.pipeline.record.known.listByHorizon(days)];
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

/** A fixed start of the simulation, so that all outcomes and several regimes occur on any date. */
async function makeVaried(): Promise<void> {
  const { forecasts } = service.pipeline.record;
  const regimes = ['CHOP', 'BULL_TREND', 'CRISIS'] as const;
  const outcomes = ['WIN', 'LOSS', 'WIN', 'HOLD'] as const;
  for (const { _id, sequence, resolution, reveal } of await forecasts.find().toArray()) {
    const outcome = outcomes[sequence % outcomes.length];
    const direction = (outcome === 'WIN') === (resolution?.actualDirection === 'UP') ? 'UP' : 'DOWN';
    const signal = outcome === 'HOLD' ? 'HOLD' : direction === 'UP' ? 'BUY' : 'SELL';
    const said = { 'values.signal': signal, 'values.direction': direction } as const;
    const decided = reveal === null ? {} : { state: outcome, 'resolution.outcome': outcome, ...said };
    await forecasts.updateOne({ _id }, { $set: { regime: regimes[sequence % regimes.length], ...decided } });
  }
}

const track = (input: Record<string, unknown>, caller = PUBLIC_CALLER) =>
  run('get_track_record', input, caller).then(({ output }) => output);
const ids = (entries: { predictionId: string }[]) => entries.map(({ predictionId }) => predictionId);

describe('without filters', () => {
  it.each(['1d', '2d', '3d', '7d'])('returns the summary and the entries of the scorecard: %s', async (horizon) => {
    // biome-ignore lint/suspicious/noExplicitAny: the answer is what is tested
    const scorecard = (await (await fetch(`${served.url}/api/svc/scorecard?horizon=${horizon[0]}&limit=1000`)).json()) as any;
    const { statistics, entries, total, pages, filters, inference, wholeRecord } = await track({ horizon, pageSize: 100 });
    const { brierDifference: _, calls, probabilities, distribution, ...summary } = statistics;
    expect(toPublishedSummary(summary)).toEqual(scorecard.summary);
    expect({ calls, probabilities, distribution }).toEqual(scorecard.statistics);
    expect(entries).toEqual(scorecard.predictions);
    expect({ total, pages }).toEqual({ total: scorecard.predictions.length, pages: 1 });
    expect(filters).toEqual({ horizon, from: null, to: null, regime: null, status: null });
    expect(inference).toMatch(/^No selection/);
    expect(wholeRecord.verdict).toBe(summary.verdict);
  });

  it('defaults to 7d and the first page of twenty', async () => {
    expect(await track({})).toMatchObject({ filters: { horizon: '7d' }, page: 1, pageSize: 20 });
  });

  it('has resolved and unresolved forecasts to compare', async () => {
    const { statistics } = await track({ horizon: '1d' });
    expect(statistics.resolved + statistics.holds).toBeGreaterThan(10);
    expect((await track({ horizon: '7d' })).statistics.pending).toBeGreaterThan(3);
  });
});

describe('filters', () => {
  it('select exactly the named forecasts, with the figures of a scorecard of these', async () => {
    const days = docs['1d'].map(({ day }) => day);
    const day = fc.integer({ min: Math.min(...days) - 2, max: Math.max(...days) + 2 }).map(formatDay);
    const filters = fc.record(
      {
        from: day,
        to: day,
        regime: fc.constantFrom(...new Set(docs['1d'].map(({ regime }) => regime!))),
        status: fc.constantFrom('PENDING', 'WIN', 'LOSS', 'HOLD', 'VOID'),
        horizon: fc.constantFrom('1d', '2d', '3d', '7d'),
        page: fc.integer({ min: 1, max: 4 }),
        pageSize: fc.integer({ min: 1, max: 9 }),
      },
      { requiredKeys: ['horizon', 'page', 'pageSize'] },
    );
    const property = fc.asyncProperty(filters, async (input) => {
      const { from, to, regime, status, horizon, page, pageSize } = input;
      fc.pre(from === undefined || to === undefined || from <= to);
      const left = docs[horizon].filter(
        (doc) =>
          (from === undefined || doc.day >= parseDay(from)) &&
          (to === undefined || doc.day <= parseDay(to)) &&
          (regime === undefined || doc.regime === regime) &&
          (status === undefined || toPublicStatus(doc) === status),
      );
      const output = await track(input);
      const { summary, predictions } = scorecardOf(left, Number.parseInt(horizon, 10), service.http.viewFor(PUBLIC_CALLER));
      const { brierDifference: _, calls, probabilities, distribution, ...statistics } = output.statistics;
      const { totalPredictions, resolved, wins, losses, holds, voids, pending } = summary;
      expect(statistics).toMatchObject({ totalPredictions, resolved, wins, losses, holds, voids, pending });
      if (status === undefined) {
        expect(toPublishedSummary(statistics)).toEqual(summary);
        expect(calls).toMatchObject({ n: resolved, hits: wins });
        expect(probabilities?.n ?? 0).toBe(resolved + holds);
      } else expect([calls, probabilities, distribution]).toEqual([null, null, null]);
      expect(ids(output.entries)).toEqual(ids(predictions.slice((page - 1) * pageSize, page * pageSize)));
      expect({ total: output.total, pages: output.pages }).toEqual({ total: left.length, pages: Math.ceil(left.length / pageSize) });
      for (const rows of [output.byRegime, output.byModelVersion]) {
        const sumOf = (what: 'total' | 'wins') => rows.reduce((sum: number, one: Record<string, number>) => sum + one[what], 0);
        expect({ total: sumOf('total'), wins: sumOf('wins') }).toEqual({ total: left.length, wins });
      }
      expect(output.wholeRecord.total).toBe(docs[horizon].length);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it('by outcome return counts only, because a share of chosen outcomes has no meaning', async () => {
    const { statistics, byRegime, inference, wholeRecord } = await track({ horizon: '1d', status: 'WIN' });
    expect(statistics.wins).toBeGreaterThan(0);
    expect(statistics).toMatchObject({
      ...{ accuracy: null, dedupedAccuracy: null, accuracyInterval95: null, alwaysUpAccuracy: null, brier: null, brierDifference: null },
      ...{ dedupedInterval95: null, calls: null, probabilities: null, distribution: null },
      verdict: 'no verdict: these forecasts were selected by their outcome',
    });
    for (const one of byRegime) expect(one).toMatchObject({ accuracy: null, accuracyInterval95: null, brier: null });
    expect(inference).toMatch(/^Selected by outcome/);
    expect(wholeRecord.accuracy).not.toBeNull();
  });

  it('state the effect of the selection on inference', async () => {
    const from = formatDay(docs['1d'][3].day);
    const { inference, filters } = await track({ horizon: '1d', from });
    expect(filters.from).toBe(from);
    expect(inference).toContain('does not allow for the choice');
    expect((await run('get_track_record', { horizon: '1d', from })).text).toMatch(/Whole record of \d+: .* ignore the choice of filters/);
  });

  it('that match nothing return empty statistics', async () => {
    const output = await track({ from: '1999-01-01', to: '1999-12-31' });
    expect(output).toMatchObject({ total: 0, pages: 0, entries: [], byRegime: [] });
    expect(output.statistics).toMatchObject({ accuracy: null, brier: null, brierDifference: null });
  });
});

describe('error bars', () => {
  it.each(['1d', '7d'])('equal those of the resolved forecasts and their models over %s', async (horizon) => {
    const days = Number.parseInt(horizon, 10);
    const { statistics } = await track({ horizon });
    const received = docs[horizon].filter(({ reveal }) => reveal !== null);
    expect(received.length).toBeGreaterThan(5);
    const { models, record } = service.http;
    const scored = await scoreForecasts(record.known, models, received);
    expect(scored.every(({ distribution }) => distribution !== null)).toBe(true);
    const { calls, probabilities, distribution } = JSON.parse(JSON.stringify(computeRecordStatistics(scored, days)));
    expect(statistics).toMatchObject({ calls, probabilities, distribution });
    expect(distribution.n).toBe(received.length);
  });

  it('come with the records of all horizons and the market comparison, identical for all callers', async () => {
    const [anybody, basic] = [await track({ horizon: '2d' }), await track({ horizon: '2d' }, BASIC)];
    for (const part of ['statistics', 'byHorizon', 'byRegime', 'byModelVersion', 'marketSkill']) expect(basic[part]).toEqual(anybody[part]);
    for (const row of anybody.byHorizon) {
      const summary = summarizeForecasts(docs[row.horizon], Number.parseInt(row.horizon, 10));
      const { holds, voids, missed, pending, verdict, accuracy, brier } = summary;
      expect(row).toMatchObject({ total: docs[row.horizon].length, holds, voids, missed, pending, verdict, accuracy, brier });
    }
    const { marketSkill } = anybody;
    const { totals } = (await (await fetch(`${served.url}/api/svc/crowd-vs-oracle`)).json()) as {
      totals: { weeks: number; oracle: { brier: number } };
    };
    expect(totals.weeks).toBeGreaterThan(0);
    expect(marketSkill).toMatchObject({
      venue: 'paper',
      quotesAreOurs: true,
      note: expect.stringMatching(/^A different question.*proves nothing\.$/),
    });
    expect(marketSkill.skill).toMatchObject({ weeks: totals.weeks, oracleBrier: totals.oracle.brier });
  });
});

describe('entries', () => {
  it('cover all forecasts over all pages, newest first', async () => {
    const { pages } = await track({ horizon: '2d', pageSize: 7 });
    const received = [];
    for (let page = 1; page <= pages; page++) received.push(...(await track({ horizon: '2d', pageSize: 7, page })).entries);
    expect(ids(received)).toEqual(docs['2d'].map(({ _id }) => _id).toReversed());
    expect((await track({ horizon: '2d', pageSize: 7, page: pages + 1 })).entries).toEqual([]);
  });

  it('depend on the tier of the caller, and figures do not', async () => {
    const [anybody, basic] = [await track({ horizon: '7d' }), await track({ horizon: '7d' }, BASIC)];
    expect(basic.statistics).toEqual(anybody.statistics);
    expect(anybody.entries[0]).toMatchObject({ signal: 'GATED', direction: null, confidence: null });
    expect(basic.entries[0].signal).toMatch(/^(?:BUY|SELL|HOLD)$/);
  });
});

describe('the difference of the Brier scores', () => {
  const revealed = (day: number, pUp: number, climatology: number, rose: boolean) =>
    ({
      day,
      reveal: {},
      values: { pUpBps: pUp * 10_000, confidenceBps: 5_000, climatology },
      resolution: { actualDirection: rose ? 'UP' : 'DOWN' },
    }) as unknown as ForecastDoc;

  it('is computed over independent windows, with its interval', () => {
    const days = [0, 3, 7, 14].map((day) => revealed(day, 0.6, 0.5, day !== 3));
    // (0.4^2 - 0.5^2) in each of the three independent windows.
    expect(computeBrierDifference(days, 7)).toMatchObject({
      n: 3,
      mean: expect.closeTo(-0.09),
      low: expect.closeTo(-0.09),
      high: expect.closeTo(-0.09),
    });
    expect(computeBrierDifference(days.slice(0, 1), 7)).toMatchObject({ n: 1, low: null, high: null });
    expect(computeBrierDifference([], 7)).toBeNull();
  });

  it('stays within its possible range', () => {
    const opposite = [revealed(0, 1, 0, true), revealed(7, 1, 0, false)];
    expect(computeBrierDifference(opposite, 7)).toMatchObject({ n: 2, mean: 0, low: -1, high: 1 });
  });
});
