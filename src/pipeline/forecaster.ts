import type { Day } from '../forecast/day.ts';
import { type ComputedFeatures, computeFeatures, type FeatureTable } from '../forecast/features.ts';
import { fitModel } from '../forecast/fit.ts';
import { type InputFrame, lastDayOf, sliceFrame, validateFrame } from '../forecast/frame.ts';
import { blockIndexOf, blockStart, HORIZONS, modelVersionOf, TRIAL_COUNT } from '../forecast/model.ts';
import { classifyRegimes, type Regime } from '../forecast/regime.ts';
import { type RegimeFactors, regimeFactors } from '../forecast/regime-factors.ts';
import { type ForecastValues, forecastFrom } from '../forecast/signal.ts';
import { inputsDigest } from '../market/digest.ts';
import type { DayInputs } from '../market/inputs.ts';
import type { ModelDoc, ModelStore } from '../record/models.ts';

/** All horizons' forecasts of one day, with what they share. */
export interface DayForecast {
  model: ModelDoc;
  regime: Regime;
  factors: RegimeFactors;
  variance: { v94: number; v99: number };
  /** In the order of `HORIZONS`. */
  forecasts: ForecastValues[];
}

/** Turns a day's inputs into its forecasts; keeps the features of the last frame, so that the next day costs one row. */
export class Forecaster {
  readonly #models: ModelStore;
  #last: ComputedFeatures | undefined;

  constructor(models: ModelStore) {
    this.#models = models;
  }

  /** @throws OracleError HISTORY_TOO_SHORT when the model of the day's block cannot be fitted, INPUT_INVALID naming column and date. */
  async forecast({ day, frame, spot }: DayInputs, now: Date): Promise<DayForecast> {
    validateFrame(frame);
    const table = computeFeatures(frame, this.#last);
    this.#last = { frame, table };
    const index = day - frame.firstDay;
    const model = await this.#modelOf(day, frame, table, now);
    const regime = classifyRegimes(table)[index];
    return {
      model,
      regime,
      factors: regimeFactors(table, index),
      variance: { v94: table.v94[index], v99: table.v99[index] },
      forecasts: model.horizons.map((fit) => forecastFrom({ model: fit, features: table, index, regime, price: spot.priceUsd })),
    };
  }

  /** A model that a stored forecast was made with. */
  model(version: string): Promise<ModelDoc> {
    return this.#models.get(version);
  }

  #modelOf(day: Day, frame: InputFrame, features: FeatureTable, now: Date): Promise<ModelDoc> {
    const block = blockIndexOf(day);
    return this.#models.obtain(modelVersionOf(block), () => ({
      _id: modelVersionOf(block),
      block,
      horizons: HORIZONS.map((horizon) => fitModel({ closes: frame.close, features, horizon, block })),
      trainingDigest: inputsDigest(sliceFrame(frame, Math.min(blockStart(block) - 1, lastDayOf(frame)))),
      trials: TRIAL_COUNT,
      fittedAt: now,
    }));
  }
}
