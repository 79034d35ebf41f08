import type { Day } from '../forecast/day.ts';
import { type ComputedFeatures, computeFeatures } from '../forecast/features/compute-features.ts';
import type { FeatureTable } from '../forecast/features/feature-table.ts';
import { fitModel } from '../forecast/fit/walk-forward.ts';
import { getLastDay, type InputFrame, sliceFrame, validateFrame } from '../forecast/input-frame.ts';
import { formatModelVersion, getBlockIndex, getBlockStart, HORIZONS, type HorizonModel, TRIAL_COUNT } from '../forecast/model.ts';
import { fitModelVersion, getModelVersion, MODEL_NAMES, type ModelName } from '../forecast/models/registry.ts';
import { describeRegimeFactors } from '../forecast/regime/factors.ts';
import { classifyRegimes } from '../forecast/regime/regime.ts';
import { buildForecast, type ForecastSource, type ForecastValues } from '../forecast/signal.ts';
import type { DayInputs } from '../market/inputs/day-inputs.ts';
import { computeInputsDigest } from '../market/inputs/inputs-digest.ts';
import { getErrorMessage } from '../platform/errors.ts';
import { isDatabaseUnreachable } from '../platform/mongo.ts';
import type { ModelDoc, ModelStore } from '../record/model-store.ts';

export type DayForecast = Awaited<ReturnType<Forecaster['forecast']>>;

/** Forecasts of all horizons by one model version. */
export interface VersionForecast {
  name: ModelName;
  model: ModelDoc;
  forecasts: ForecastValues[];
}

/** A challenger without forecasts, and why: the champion does not wait for it. */
export interface MissingForecast {
  name: ModelName;
  missing: string;
}

/** What the forecasts of a day share. */
type DaySource = Omit<ForecastSource, 'model'>;

/** Computes a day's forecasts; caches the features of the last frame, so that the next day computes one row. */
export class Forecaster {
  readonly #models: ModelStore;
  readonly #champion: ModelName;
  #lastFeatures: ComputedFeatures | undefined;

  constructor(models: ModelStore, champion: ModelName) {
    this.#models = models;
    this.#champion = champion;
  }

  /** By the champion and all challengers. @throws OracleError HISTORY_TOO_SHORT when the block cannot be fitted, INPUT_INVALID with column and date */
  async forecast({ day, frame, spot }: DayInputs, now: Date) {
    validateFrame(frame);
    const table = computeFeatures(frame, this.#lastFeatures);
    this.#lastFeatures = { frame, table };
    const index = day - frame.firstDay;
    const regime = classifyRegimes(table)[index];
    const source: DaySource = { features: table, index, regime, price: spot.priceUsd };
    const fits = this.#createBlockFitter(day, frame, table, now);
    const champion = await this.#forecastBy(this.#champion, fits, source);
    const challengers: (VersionForecast | MissingForecast)[] = [];
    for (const name of MODEL_NAMES) if (name !== this.#champion) challengers.push(await this.#tryForecastBy(name, fits, source));
    return {
      ...champion,
      challengers,
      regime,
      factors: describeRegimeFactors(table, index),
      variance: { v94: table.v94[index], v99: table.v99[index] },
    };
  }

  getModel(version: string): Promise<ModelDoc> {
    return this.#models.get(version);
  }

  async #forecastBy(name: ModelName, fits: BlockFitter, source: DaySource): Promise<VersionForecast> {
    const model = await this.#models.getOrCreate(fits.version(name), () => fits.fit(name));
    return { name, model, forecasts: model.horizons.map((horizon) => buildForecast({ ...source, model: horizon })) };
  }

  async #tryForecastBy(name: ModelName, fits: BlockFitter, source: DaySource): Promise<VersionForecast | MissingForecast> {
    try {
      return await this.#forecastBy(name, fits, source);
    } catch (error) {
      if (isDatabaseUnreachable(error)) throw error;
      return { name, missing: getErrorMessage(error) };
    }
  }

  /** Fits the direction of the day's block once for all versions, and only for one that is not stored. */
  #createBlockFitter(day: Day, frame: InputFrame, features: FeatureTable, now: Date): BlockFitter {
    const block = getBlockIndex(day);
    const rows = { closes: frame.close, features };
    let directions: HorizonModel[] | undefined;
    return {
      version: (name) => formatModelVersion(block, name),
      fit: (name) => {
        directions ??= HORIZONS.map((horizon) => fitModel({ ...rows, horizon, block }));
        return {
          _id: formatModelVersion(block, name),
          block,
          horizons: directions.map((direction) => fitModelVersion(getModelVersion(name), direction, rows)),
          trainingDigest: computeInputsDigest(sliceFrame(frame, Math.min(getBlockStart(block) - 1, getLastDay(frame)))),
          trials: TRIAL_COUNT,
          fittedAt: now,
        };
      },
    };
  }
}

interface BlockFitter {
  version(name: ModelName): string;
  fit(name: ModelName): ModelDoc;
}
