import { describe, expect, it } from 'vitest';
import { OracleError } from '../../../../src/errors.ts';
import { formatDay, parseDay } from '../../../../src/forecast/day.ts';
import { cdf, crps } from '../../../../src/forecast/distribution.ts';
import type { ForecastDoc } from '../../../../src/record/forecast.ts';
import type { ModelDoc } from '../../../../src/record/models.ts';
import { type DeskParts, StatisticsDesk } from '../../../../src/record/statistics/desk.ts';
import { scoredForecasts } from '../../../../src/record/statistics/scored-forecasts.ts';
import { forecastDoc } from '../forecast-doc.ts';

const FIRST = parseDay('2026-01-01');
const STATES = { W: 'WIN', L: 'LOSS', H: 'HOLD', V: 'VOID', P: 'PENDING' } as const;
const VERSION = forecastDoc().modelVersion!;

/** Spread evenly from -2 to 2. */
const residualQuantiles = Array.from({ length: 199 }, (_, index) => (4 * (index + 1)) / 200 - 2);
const model = { _id: VERSION, horizons: [{ horizonDays: 7, residualQuantiles }] } as unknown as ModelDoc;

/** Models of which there is one, and how often it was asked for. */
function store() {
  const asked: string[] = [];
  return {
    asked,
    get: async (version: string) => {
      asked.push(version);
      if (version !== VERSION) throw new OracleError('NOT_FOUND', `There is no model ${version}`);
      return model;
    },
  };
}

/** One forecast a day; W and L are scored, H held, V void, P pending. */
function record(letters: string, changes: (doc: ForecastDoc) => Partial<ForecastDoc> = () => ({})): ForecastDoc[] {
  return [...letters].map((letter, index) => {
    const doc = forecastDoc({
      date: formatDay(FIRST + index),
      state: STATES[letter as keyof typeof STATES],
      actual: letter === 'L' ? 'DOWN' : 'UP',
    });
    return { ...doc, ...changes(doc) };
  });
}

const desk = (parts: Partial<DeskParts> = {}) => new StatisticsDesk({ models: store(), ...parts } as DeskParts);

describe('what is scored of a record', () => {
  it('is what was told, with the distribution of the price from signal time to resolution', async () => {
    const docs = record('WHVLP', ({ values }) => ({ values: { ...values!, btcPriceCents: 8_800_000 } }));
    const told = await scoredForecasts(store(), docs);
    expect(told.map(({ day }) => day - FIRST)).toEqual([0, 1, 3]);
    const realised = Math.log(9_100_000 / 8_800_000);
    const distribution = { scale: 0.07, shift: 0.1, residualQuantiles };
    expect(told[0].distribution).toEqual({ crps: crps(distribution, realised), pit: cdf(distribution, realised) });
    expect(told[2].distribution!.pit).toBeLessThan(told[0].distribution!.pit);
  });

  it('has no distribution where the model is not in the store, or has no fit of the horizon', async () => {
    const unknown = await scoredForecasts(
      store(),
      record('WW', () => ({ modelVersion: 'm0-d1.1999-01-01' })),
    );
    expect(unknown.map(({ distribution }) => distribution)).toEqual([null, null]);
    const [other] = await scoredForecasts(store(), [forecastDoc({ horizonDays: 3, state: 'WIN' })]);
    expect(other.distribution).toBeNull();
    const failing = { get: () => Promise.reject(new OracleError('INTERNAL', 'no database')) };
    await expect(scoredForecasts(failing, record('W'))).rejects.toThrow('no database');
  });
});

describe('statistics of a record', () => {
  it('do not change with anything that is not told', async () => {
    const letters = 'WLHWVPPP';
    const pending = (changes: (doc: ForecastDoc) => Partial<ForecastDoc>) =>
      record(letters, (doc) => (doc.state === 'PENDING' ? changes(doc) : {}));
    const variants = [
      pending(() => ({})),
      pending(({ values }) => ({ values: { ...values!, signal: 'SELL', direction: 'DOWN', pUp: 0.1, pUpBps: 1_000 } })),
      pending(({ values }) => ({ values: { ...values!, signal: 'HOLD', climatology: 0.9, distribution: { scale: 1, shift: -1 } } })),
      // Decided and not yet on chain.
      pending(() => ({ resolution: forecastDoc({ state: 'LOSS', actual: 'DOWN' }).resolution })),
      record(letters.slice(0, 5)),
    ];
    const [first, ...others] = await Promise.all(variants.map((docs) => desk().statisticsOf(docs, 7)));
    for (const other of others) expect(other).toEqual(first);
    expect(first.calls).toMatchObject({ n: 3, hits: 2 });
    expect(first.probabilities!.n).toBe(4);
    expect(first.distribution!.n).toBe(4);
  });

  it('are made once for what has been told, and anew when more is', async () => {
    const models = store();
    const one = desk({ models });
    const docs = record('WLWP');
    const first = await one.statisticsOf(docs, 7);
    expect(await one.statisticsOf(structuredClone(docs), 7)).toBe(first);
    expect(models.asked).toEqual([VERSION]);
    const more = await one.statisticsOf(record('WLWL'), 7);
    expect([first.calls.n, more.calls.n]).toEqual([3, 4]);
    expect((await one.statisticsOf(docs, 3)).calls.offsets).toHaveLength(3);
  });

  it.each([
    ['what was said', ({ values }: ForecastDoc) => ({ values: { ...values!, pUpBps: 6_000 } })],
    ['the base rate', ({ values }: ForecastDoc) => ({ values: { ...values!, climatology: 0.5 } })],
    ['the price at signal time', ({ values }: ForecastDoc) => ({ values: { ...values!, btcPriceCents: 8_000_000 } })],
    ['the price at resolution', ({ resolution }: ForecastDoc) => ({ resolution: { ...resolution!, btcAtResolutionCents: 9_900_000 } })],
    ['the model', () => ({ modelVersion: 'm0-d1.1999-01-01' })],
  ])('follow %s', async (_what, changes) => {
    const one = desk();
    expect(await one.statisticsOf(record('WLW', changes), 7)).not.toEqual(await one.statisticsOf(record('WLW'), 7));
  });
});

describe('the records of all horizons', () => {
  it('are read again once a forecast was added, or came to its end', async () => {
    let [letters, reads] = ['WLP', 0];
    const state = (letter: string) => [...letters].filter((each) => each === letter).length;
    const reading = {
      countByState: async () => ({ WIN: state('W'), LOSS: state('L'), HOLD: state('H'), VOID: state('V'), PENDING: state('P') }),
      ofHorizon: async () => {
        reads++;
        return record(letters);
      },
    };
    const one = desk({ record: reading as unknown as DeskParts['record'] });
    const rows = await one.byHorizon();
    expect(rows.map(({ horizon }) => horizon)).toEqual(['1d', '2d', '3d', '7d']);
    expect(rows[3]).toMatchObject({ total: 3, resolved: 2, wins: 1, pending: 1, dedupedTotal: 1 });
    expect(await one.byHorizon()).toBe(rows);
    expect(reads).toBe(4);
    for (const next of ['WLPP', 'WLPH']) {
      letters = next;
      await one.byHorizon();
    }
    expect(reads).toBe(12);
    expect((await one.byHorizon())[3]).toMatchObject({ total: 4, holds: 1, pending: 1 });
  });
});
