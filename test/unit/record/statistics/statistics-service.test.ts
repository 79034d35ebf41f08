import { describe, expect, it } from 'vitest';
import { formatDay, parseDay } from '../../../../src/forecast/day.ts';
import { cdf, crps } from '../../../../src/forecast/distribution.ts';
import { OracleError } from '../../../../src/platform/errors.ts';
import type { ForecastDoc } from '../../../../src/record/forecast-doc.ts';
import type { ModelDoc } from '../../../../src/record/model-store.ts';
import { scoreForecasts } from '../../../../src/record/statistics/score-forecasts.ts';
import { type StatisticsDeps, StatisticsService } from '../../../../src/record/statistics/statistics-service.ts';
import { buildTestForecast } from '../forecast-fixture.ts';

const FIRST = parseDay('2026-01-01');
const STATES = { W: 'WIN', L: 'LOSS', H: 'HOLD', V: 'VOID', P: 'PENDING' } as const;
const VERSION = buildTestForecast().modelVersion!;

/** Spread evenly from -2 to 2. */
const residualQuantiles = Array.from({ length: 199 }, (_, index) => (4 * (index + 1)) / 200 - 2);
const model = { _id: VERSION, horizons: [{ horizonDays: 7, residualQuantiles }] } as unknown as ModelDoc;

/** A store of one model that counts its reads. */
function store() {
  const requestedVersions: string[] = [];
  return {
    asked: requestedVersions,
    get: async (version: string) => {
      requestedVersions.push(version);
      if (version !== VERSION) throw new OracleError('NOT_FOUND', `There is no model ${version}`);
      return model;
    },
  };
}

/** One forecast per day; W and L are scored, H held, V void, P pending. */
function record(letters: string, changes: (doc: ForecastDoc) => Partial<ForecastDoc> = () => ({})): ForecastDoc[] {
  return [...letters].map((letter, index) => {
    const doc = buildTestForecast({
      date: formatDay(FIRST + index),
      state: STATES[letter as keyof typeof STATES],
      actual: letter === 'L' ? 'DOWN' : 'UP',
    });
    return { ...doc, ...changes(doc) };
  });
}

const service = (deps: Partial<StatisticsDeps> = {}) => new StatisticsService({ models: store(), ...deps } as StatisticsDeps);

describe('scored forecasts', () => {
  it('are the public ones, with the distribution of the price from signal time to resolution', async () => {
    const docs = record('WHVLP', ({ values }) => ({ values: { ...values!, btcPriceCents: 8_800_000 } }));
    const scored = await scoreForecasts(store(), docs);
    expect(scored.map(({ day }) => day - FIRST)).toEqual([0, 1, 3]);
    const realised = Math.log(9_100_000 / 8_800_000);
    const distribution = { scale: 0.07, shift: 0.1, residualQuantiles };
    expect(scored[0].distribution).toEqual({ crps: crps(distribution, realised), pit: cdf(distribution, realised) });
    expect(scored[2].distribution!.pit).toBeLessThan(scored[0].distribution!.pit);
  });

  it('have no distribution when the model is not stored, or has no fit of the horizon', async () => {
    const unknown = await scoreForecasts(
      store(),
      record('WW', () => ({ modelVersion: 'm0-d1.1999-01-01' })),
    );
    expect(unknown.map(({ distribution }) => distribution)).toEqual([null, null]);
    const [other] = await scoreForecasts(store(), [buildTestForecast({ horizonDays: 3, state: 'WIN' })]);
    expect(other.distribution).toBeNull();
    const failing = { get: () => Promise.reject(new OracleError('INTERNAL', 'no database')) };
    await expect(scoreForecasts(failing, record('W'))).rejects.toThrow('no database');
  });
});

describe('statistics of a record', () => {
  it('do not change with anything that is not public', async () => {
    const letters = 'WLHWVPPP';
    const pending = (changes: (doc: ForecastDoc) => Partial<ForecastDoc>) =>
      record(letters, (doc) => (doc.state === 'PENDING' ? changes(doc) : {}));
    const variants = [
      pending(() => ({})),
      pending(({ values }) => ({ values: { ...values!, signal: 'SELL', direction: 'DOWN', pUp: 0.1, pUpBps: 1_000 } })),
      pending(({ values }) => ({ values: { ...values!, signal: 'HOLD', climatology: 0.9, distribution: { scale: 1, shift: -1 } } })),
      // Decided and not on chain.
      pending(() => ({ resolution: buildTestForecast({ state: 'LOSS', actual: 'DOWN' }).resolution })),
      record(letters.slice(0, 5)),
    ];
    const [first, ...others] = await Promise.all(variants.map((docs) => service().computeStatistics(docs, 7)));
    for (const other of others) expect(other).toEqual(first);
    expect(first.calls).toMatchObject({ n: 3, hits: 2 });
    expect(first.probabilities!.n).toBe(4);
    expect(first.distribution!.n).toBe(4);
  });

  it('are computed once per public state, and again after a change', async () => {
    const models = store();
    const one = service({ models });
    const docs = record('WLWP');
    const first = await one.computeStatistics(docs, 7);
    expect(await one.computeStatistics(structuredClone(docs), 7)).toBe(first);
    expect(models.asked).toEqual([VERSION]);
    const more = await one.computeStatistics(record('WLWL'), 7);
    expect([first.calls.n, more.calls.n]).toEqual([3, 4]);
    expect((await one.computeStatistics(docs, 3)).calls.offsets).toHaveLength(3);
  });

  it.each([
    ['what was said', ({ values }: ForecastDoc) => ({ values: { ...values!, pUpBps: 6_000 } })],
    ['the base rate', ({ values }: ForecastDoc) => ({ values: { ...values!, climatology: 0.5 } })],
    ['the price at signal time', ({ values }: ForecastDoc) => ({ values: { ...values!, btcPriceCents: 8_000_000 } })],
    ['the price at resolution', ({ resolution }: ForecastDoc) => ({ resolution: { ...resolution!, btcAtResolutionCents: 9_900_000 } })],
    ['the model', () => ({ modelVersion: 'm0-d1.1999-01-01' })],
  ])('follow %s', async (_what, changes) => {
    const one = service();
    expect(await one.computeStatistics(record('WLW', changes), 7)).not.toEqual(await one.computeStatistics(record('WLW'), 7));
  });
});

describe('the records of all horizons', () => {
  it('are read again when a forecast was added or resolved', async () => {
    let [letters, reads] = ['WLP', 0];
    const state = (letter: string) => [...letters].filter((each) => each === letter).length;
    const reading = {
      countByState: async () => ({ WIN: state('W'), LOSS: state('L'), HOLD: state('H'), VOID: state('V'), PENDING: state('P') }),
      listByHorizon: async () => {
        reads++;
        return record(letters);
      },
    };
    const one = service({ record: reading as unknown as StatisticsDeps['record'] });
    const rows = await one.getHorizonRows();
    expect(rows.map(({ horizon }) => horizon)).toEqual(['1d', '2d', '3d', '7d']);
    expect(rows[3]).toMatchObject({ total: 3, resolved: 2, wins: 1, pending: 1, dedupedTotal: 1 });
    expect(await one.getHorizonRows()).toBe(rows);
    expect(reads).toBe(4);
    for (const next of ['WLPP', 'WLPH']) {
      letters = next;
      await one.getHorizonRows();
    }
    expect(reads).toBe(12);
    expect((await one.getHorizonRows())[3]).toMatchObject({ total: 4, holds: 1, pending: 1 });
  });
});
