import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OracleError } from '../../../src/errors.ts';
import { formatDay, parseDay } from '../../../src/forecast/day.ts';
import { cdf, crps } from '../../../src/forecast/distribution.ts';
import type { Regime } from '../../../src/forecast/regime.ts';
import {
  buildHorizonRow,
  buildShareRow,
  countRevealedCalls,
  groupByModelVersion,
  groupByRegime,
  RecordFigures,
  scoreForecasts,
} from '../../../src/record/figures.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import type { ModelDoc, ModelStore } from '../../../src/record/model-card.ts';
import type { RecordProjection } from '../../../src/record/projection.ts';
import { buildTestForecast } from './forecast-fixture.ts';

describe('breakdown', () => {
  const FIRST = parseDay('2026-01-01');

  const drawn = fc
    .array(
      fc.record({
        state: fc.constantFrom('WIN', 'LOSS', 'HOLD', 'VOID', 'PENDING', 'DRAFT'),
        regime: fc.constantFrom<Regime | null>('CHOP', 'CRISIS', null),
        version: fc.boolean(),
      }),
      { maxLength: 40 },
    )
    .map((items) =>
      items.map(({ state, regime, version }, index): ForecastDoc => {
        const doc = buildTestForecast({ date: formatDay(FIRST + index), state, actual: state === 'LOSS' ? 'DOWN' : 'UP' });
        return { ...doc, regime, modelVersion: regime === null ? null : version || index > 20 ? 'new' : 'old' };
      }),
    );

  describe('a record by its parts', () => {
    it('has every forecast in one row of each kind', () => {
      fc.assert(
        fc.property(drawn, fc.constantFrom(1, 2, 3, 7), (docs, h) => {
          const whole = buildShareRow(docs, h);
          for (const rows of [groupByRegime(docs, h), groupByModelVersion(docs, h)]) {
            for (const what of ['total', 'resolved', 'wins'] as const)
              expect(rows.reduce((sum, row) => sum + row[what], 0)).toBe(whole[what]);
            for (const { effectiveN, resolved, accuracy, accuracyInterval95 } of rows) {
              expect(effectiveN).toBeLessThanOrEqual(resolved);
              if (accuracy === null || accuracyInterval95 === null) {
                expect([resolved, accuracyInterval95]).toEqual([0, null]);
                continue;
              }
              expect(accuracyInterval95.low).toBeLessThanOrEqual(accuracy);
              expect(accuracyInterval95.high).toBeGreaterThanOrEqual(accuracy);
            }
          }
        }),
      );
    });

    it('counts unscored forecasts in the row of a horizon', () => {
      const docs = (['WIN', 'HOLD', 'VOID', 'DRAFT', 'PENDING'] as const).map((state, index) =>
        buildTestForecast({ date: formatDay(FIRST + index), state }),
      );
      docs[2] = { ...docs[2], missed: true, values: null, regime: null };
      expect(buildHorizonRow(docs, 7)).toMatchObject({
        ...{ horizon: '7d', total: 5, resolved: 1, wins: 1, holds: 1, voids: 1, missed: 1, pending: 2, effectiveN: 1, accuracy: 1 },
        brier: { n: 2 },
        verdict: expect.stringContaining('1 of 1 right'),
      });
    });

    it('has the most frequent regime and the newest model first', () => {
      const docs = [0, 1, 2].map((index) => ({
        ...buildTestForecast({ date: formatDay(FIRST + index) }),
        regime: (['CRISIS', 'CHOP', 'CHOP'] as const)[index],
        modelVersion: ['old', 'old', 'new'][index],
      }));
      expect(groupByRegime(docs, 7).map(({ regime, total }) => [regime, total])).toEqual([
        ['CHOP', 2],
        ['CRISIS', 1],
      ]);
      expect(groupByModelVersion(docs, 7).map(({ modelVersion, total }) => [modelVersion, total])).toEqual([
        ['new', 1],
        ['old', 2],
      ]);
    });
  });

  describe('revealed calls', () => {
    const call = (index: number, signal: 'BUY' | 'SELL' | 'HOLD', state: 'HOLD' | 'PENDING' | 'VOID' = 'HOLD'): ForecastDoc => {
      const doc = buildTestForecast({ date: formatDay(FIRST + index), state, direction: signal === 'SELL' ? 'DOWN' : 'UP' });
      return { ...doc, values: { ...doc.values!, signal } };
    };

    const NONE = { days: 0, buy: 0, sell: 0, hold: 0, up: 0, down: 0, sameAsDayBefore: null };

    it('are the newest 30, 90 and 365 whose outcome is on chain, and all', () => {
      const docs = Array.from({ length: 400 }, (_, index) => call(index, index < 40 ? 'BUY' : index < 42 ? 'SELL' : 'HOLD'));
      const holds = (days: number) => ({ ...NONE, days, hold: days, up: days, sameAsDayBefore: 1 });
      expect(countRevealedCalls(docs)).toEqual({
        days30: holds(30),
        days90: holds(90),
        days365: { days: 365, buy: 5, sell: 2, hold: 358, up: 363, down: 2, sameAsDayBefore: 0.9945 },
        all: { days: 400, buy: 40, sell: 2, hold: 358, up: 398, down: 2, sameAsDayBefore: 0.995 },
      });
    });

    it('are compared with those of the day before, where it is revealed', () => {
      const missed = { ...call(2, 'HOLD', 'VOID'), missed: true, values: null };
      const docs = [call(0, 'BUY'), call(1, 'HOLD'), missed, call(3, 'BUY'), call(4, 'BUY'), { ...call(5, 'BUY'), reveal: null }];
      expect(countRevealedCalls(docs).all).toMatchObject({ days: 4, sameAsDayBefore: 0.5 });
      expect(countRevealedCalls([call(0, 'BUY')]).all.sameAsDayBefore).toBeNull();
    });

    it('leave out what is open, void, missed, or decided and not yet on chain', () => {
      const decided = { ...call(1, 'HOLD'), reveal: null };
      const missed = { ...call(4, 'HOLD', 'VOID'), missed: true, values: null };
      const docs = [call(0, 'BUY'), decided, call(2, 'SELL', 'PENDING'), call(3, 'SELL', 'VOID'), missed];
      const of = (counts: object) => ({ days30: counts, days90: counts, days365: counts, all: counts });
      expect(countRevealedCalls(docs)).toEqual(of({ ...NONE, days: 1, buy: 1, up: 1 }));
      expect(countRevealedCalls([])).toEqual(of(NONE));
    });
  });
});

describe('horizon figures', () => {
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

  const score = (docs: readonly ForecastDoc[], models = store()) =>
    scoreForecasts({ findScores: () => null } as unknown as RecordProjection, models as unknown as ModelStore, docs);

  const statisticsOf = async (docs: readonly ForecastDoc[], horizonDays = 7) => {
    const known = { revisions: { forecasts: 1 }, findScores: () => null, listByHorizon: () => docs };
    const figures = new RecordFigures(known as unknown as RecordProjection, store() as unknown as ModelStore);
    return (await figures.getHorizon(horizonDays)).statistics;
  };

  describe('scored forecasts', () => {
    it('are the public ones, with the distribution of the price from signal time to resolution', async () => {
      const docs = record('WHVLP', ({ values }) => ({ values: { ...values!, btcPriceCents: 8_800_000 } }));
      const scored = await score(docs);
      expect(scored.map(({ day }) => day - FIRST)).toEqual([0, 1, 3]);
      const realised = Math.log(9_100_000 / 8_800_000);
      const distribution = { scale: 0.07, shift: 0.1, residualQuantiles };
      expect(scored[0].distribution).toEqual({ crps: crps(distribution, realised), pit: cdf(distribution, realised) });
      expect(scored[2].distribution!.pit).toBeLessThan(scored[0].distribution!.pit);
    });

    it('have no distribution when the model is not stored, or has no fit of the horizon', async () => {
      const unknown = await score(record('WW', () => ({ modelVersion: 'm0-d1.1999-01-01' })));
      expect(unknown.map(({ distribution }) => distribution)).toEqual([null, null]);
      const [other] = await score([buildTestForecast({ horizonDays: 3, state: 'WIN' })]);
      expect(other.distribution).toBeNull();
      const failing = { get: () => Promise.reject(new OracleError('INTERNAL', 'no database')) };
      await expect(score(record('W'), failing as never)).rejects.toThrow('no database');
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
      const [first, ...others] = await Promise.all(variants.map((docs) => statisticsOf(docs)));
      for (const other of others) expect(other).toEqual(first);
      expect(first.calls).toMatchObject({ n: 3, hits: 2 });
      expect(first.probabilities!.n).toBe(4);
      expect(first.distribution!.n).toBe(4);
    });

    it.each([
      ['what was said', ({ values }: ForecastDoc) => ({ values: { ...values!, pUpBps: 6_000 } })],
      ['the base rate', ({ values }: ForecastDoc) => ({ values: { ...values!, climatology: 0.5 } })],
      ['the price at signal time', ({ values }: ForecastDoc) => ({ values: { ...values!, btcPriceCents: 8_000_000 } })],
      ['the price at resolution', ({ resolution }: ForecastDoc) => ({ resolution: { ...resolution!, btcAtResolutionCents: 9_900_000 } })],
      ['the model', () => ({ modelVersion: 'm0-d1.1999-01-01' })],
    ])('follow %s', async (_what, changes) => {
      expect(await statisticsOf(record('WLW', changes))).not.toEqual(await statisticsOf(record('WLW')));
    });
  });
});
