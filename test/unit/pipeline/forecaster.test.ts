import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import { OracleError } from '../../../src/errors.ts';
import { parseDay } from '../../../src/forecast/day.ts';
import { logit } from '../../../src/forecast/fit.ts';
import { MODEL_NAMES } from '../../../src/forecast/models.ts';
import { getSignalTimeMs } from '../../../src/market/feed.ts';
import { createMarket } from '../../../src/market/market.ts';
import { openSimulatedFeed } from '../../../src/market/simulated.ts';
import { Forecaster } from '../../../src/pipeline/forecaster.ts';
import { buildDistributionScores } from '../../../src/record/distribution-scores.ts';
import { readQuantilesMicro, storeDistribution } from '../../../src/record/forecast-doc.ts';
import type { ModelDoc, ModelStore } from '../../../src/record/model-card.ts';
import { buildTestForecast } from '../record/forecast-fixture.ts';

const DAY = parseDay('2026-03-11');
const AT = new Date(getSignalTimeMs(DAY));
const market = createMarket(openSimulatedFeed());

/** Fits every version but those that it refuses. */
function storeWithout(...refused: string[]): ModelStore {
  const getOrCreate = async (version: string, make: () => ModelDoc) => {
    if (refused.some((name) => version.startsWith(`${name}.`))) throw new OracleError('INPUT_INVALID', `${version} cannot be fitted`);
    return make();
  };
  return { getOrCreate } as unknown as ModelStore;
}

const forecastWithout = async (...refused: string[]) =>
  new Forecaster(storeWithout(...refused), 'm0-d1').forecast(await market.inputs(DAY, AT.getTime()), AT);

describe('a challenger that cannot be fitted', () => {
  it('is missing with its reason, and leaves the forecast of the champion as it is', async () => {
    const [whole, without] = [await forecastWithout(), await forecastWithout('m1')];
    expect(without.forecasts).toEqual(whole.forecasts);
    expect(without.challengers).toEqual([{ name: 'm1', missing: expect.stringMatching(/^m1\.2026-.* cannot be fitted$/) }]);
  });

  it('counts for neither side of the comparison', async () => {
    const { forecasts } = await forecastWithout('m1');
    const stored = [storeDistribution('m0-d1', forecasts[0]!.modelVersion, forecasts[0]!.distribution)];
    const decided = buildTestForecast({ horizonDays: 1, state: 'WIN' });
    const { models, comparisons } = buildDistributionScores(decided, stored, {
      baselines: { climatology: null, ewma: null, garch: null },
      references: { frequency: null, ewma: null, garch: null },
    });
    expect(Object.keys(models)).toEqual(['m0-d1']);
    expect(comparisons).toEqual([]);
  });
});

it('a champion that cannot be fitted fails the forecast', async () => {
  await expect(forecastWithout('m0-d1')).rejects.toMatchObject({ code: 'INPUT_INVALID' });
});

it('the settings take every version as champion', () => {
  const championOf = (name: string) => loadConfig({ MODEL_CHAMPION: name }).MODEL_CHAMPION;
  expect(MODEL_NAMES.map(championOf)).toEqual([...MODEL_NAMES]);
});

describe('whatever P(up) is', () => {
  /** Fits are those of the history but for their calibration, which yields this P(up) on every day. */
  const calibrated = { pUp: 0.5 };
  const fits = new Map<string, ModelDoc>();
  const models = {
    getOrCreate: async (version: string, make: () => ModelDoc) => {
      const fit = fits.get(version) ?? make();
      fits.set(version, fit);
      const calibration = { baseRate: 0.5, calA: logit(calibrated.pUp), calB: 0 };
      return { ...fit, horizons: fit.horizons.map((one) => ({ ...one, ...calibration })) };
    },
  } as unknown as ModelStore;
  const forecaster = new Forecaster(models, 'm1');

  async function forecastAt(pUp: number) {
    calibrated.pUp = pUp;
    const { forecasts, challengers, moves } = await forecaster.forecast(await market.inputs(DAY, AT.getTime()), AT);
    const all = [...forecasts, ...challengers.flatMap((one) => ('forecasts' in one ? one.forecasts : []))];
    return {
      public: { moves: [...moves], halfWidths: all.map(({ halfWidths }) => halfWidths) },
      stated: all.map((one) => one.pUp),
      committed: all.map(({ modelVersion, distribution }) =>
        readQuantilesMicro(storeDistribution('m1', modelVersion, distribution)).join(),
      ),
    };
  }

  it('the size of the move, its limits and all half widths are the same to the last bit, and the committed quantiles move', async () => {
    const even = await forecastAt(0.5);
    expect(even.public.moves.map(([, move]) => move?.moveSize)).toEqual(Array(4).fill(expect.stringMatching(/^(CALM|USUAL|WILD)$/)));
    const pUp = fc.integer({ min: 1, max: 99 }).filter((percent) => percent !== 50);
    await fc.assert(
      fc.asyncProperty(pUp, async (percent) => {
        const moved = await forecastAt(percent / 100);
        for (const stated of moved.stated) expect(stated).toBeCloseTo(percent / 100, 12);
        expect(moved.public).toEqual(even.public);
        for (const [index, quantiles] of moved.committed.entries()) expect(quantiles).not.toBe(even.committed[index]);
      }),
      { numRuns: 40 },
    );
  });
});
