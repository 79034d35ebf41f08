import type { Day } from '../forecast/day.ts';
import { type ComputedFeatures, computeFeatures } from '../forecast/features/compute-features.ts';
import type { FeatureTable } from '../forecast/features/feature-table.ts';
import { fitModel } from '../forecast/fit/walk-forward.ts';
import { getLastDay, type InputFrame, sliceFrame, validateFrame } from '../forecast/input-frame.ts';
import { formatModelVersion, getBlockIndex, getBlockStart, HORIZONS, TRIAL_COUNT } from '../forecast/model.ts';
import { describeRegimeFactors } from '../forecast/regime/factors.ts';
import { classifyRegimes } from '../forecast/regime/regime.ts';
import { buildForecast } from '../forecast/signal.ts';
import type { DayInputs } from '../market/inputs/day-inputs.ts';
import { computeInputsDigest } from '../market/inputs/inputs-digest.ts';
import type { ModelDoc, ModelStore } from '../record/model-store.ts';

export type DayForecast = Awaited<ReturnType<Forecaster['forecast']>>;

/** Computes a day's forecasts; caches the features of the last frame, so that the next day computes one row. */
export class Forecaster {
  readonly #models: ModelStore;
  #lastFeatures: ComputedFeatures | undefined;

  constructor(models: ModelStore) {
    this.#models = models;
  }

  /** @throws OracleError HISTORY_TOO_SHORT when the block's model cannot be fitted, INPUT_INVALID with column and date */
  async forecast({ day, frame, spot }: DayInputs, now: Date) {
    validateFrame(frame);
    const table = computeFeatures(frame, this.#lastFeatures);
    this.#lastFeatures = { frame, table };
    const index = day - frame.firstDay;
    const model = await this.#getOrFitModel(day, frame, table, now);
    const regime = classifyRegimes(table)[index];
    return {
      model,
      regime,
      factors: describeRegimeFactors(table, index),
      variance: { v94: table.v94[index], v99: table.v99[index] },
      forecasts: model.horizons.map((fit) => buildForecast({ model: fit, features: table, index, regime, price: spot.priceUsd })),
    };
  }

  getModel(version: string): Promise<ModelDoc> {
    return this.#models.get(version);
  }

  #getOrFitModel(day: Day, frame: InputFrame, features: FeatureTable, now: Date): Promise<ModelDoc> {
    const block = getBlockIndex(day);
    return this.#models.getOrCreate(formatModelVersion(block), () => ({
      _id: formatModelVersion(block),
      block,
      horizons: HORIZONS.map((horizon) => fitModel({ closes: frame.close, features, horizon, block })),
      trainingDigest: computeInputsDigest(sliceFrame(frame, Math.min(getBlockStart(block) - 1, getLastDay(frame)))),
      trials: TRIAL_COUNT,
      fittedAt: now,
    }));
  }
}
