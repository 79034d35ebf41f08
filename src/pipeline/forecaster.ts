import type { Attester } from '../chain/eas/eas.ts';
import type { Reporter } from '../chain/erc8004.ts';
import type { Context } from '../context.ts';
import { getErrorMessage } from '../errors.ts';
import type { DayBaselines } from '../forecast/baselines.ts';
import { type Day, formatDay, getLastDayOfWeek, toInstantMs, type Week } from '../forecast/day.ts';
import { type ComputedFeatures, computeFeatures } from '../forecast/features.ts';
import { fitModel } from '../forecast/fit.ts';
import { type FeatureTable, getLastDay, type InputFrame, sliceFrame, validateFrame } from '../forecast/inputs.ts';
import { formatModelVersion, getBlockIndex, getBlockStart, HORIZONS, type HorizonModel, TRIAL_COUNT } from '../forecast/model.ts';
import { fitModelVersion, getModelVersion, MODEL_NAMES, type ModelName } from '../forecast/models.ts';
import { MOVE_MODEL, MoveForecaster, type MoveHistory } from '../forecast/move-forecaster.ts';
import type { MoveReferences } from '../forecast/move-scores.ts';
import { classifyRegimes, describeRegimeFactors } from '../forecast/regime.ts';
import { buildForecast, type ForecastSource, type ForecastValues } from '../forecast/signal.ts';
import { SIGNAL_TIME } from '../market/feed.ts';
import { computeInputsDigest, type DayInputs } from '../market/inputs.ts';
import { isDatabaseUnreachable } from '../platform/mongo.ts';
import { type ReachedInstant, type TakenTime, type TrustedTime, takeTime } from '../platform/time.ts';
import type { ModelDoc, ModelStore } from '../record/model-card.ts';
import type { ReportStores } from '../record/reports.ts';
import type { WagerSwitch } from '../wager/wagers.ts';
import type { SelfTestDeps } from './self-test-process.ts';
import type { StepRunStore } from './step-runs.ts';

/** Forecasts of all horizons by one model version. */
interface VersionForecast {
  name: ModelName;
  model: ModelDoc;
  forecasts: ForecastValues[];
}

/** A challenger without forecasts, and why: the champion does not wait for it. */
interface MissingForecast {
  name: ModelName;
  missing: string;
}

/** What the forecasts of a day share. */
type DaySource = Omit<ForecastSource, 'model'>;

/** Computes a day's forecasts; caches the features of the last frame, so that the next day computes one row. */
export class Forecaster {
  readonly #models: ModelStore;
  readonly #champion: ModelName;
  readonly #moves = new MoveForecaster();
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
      moves: this.#forecastMoves({ frame, features: table }, day, [champion, ...challengers]),
    };
  }

  /** By horizon; empty without a forecast by the version that they are of. */
  #forecastMoves(history: MoveHistory, day: Day, versions: readonly (VersionForecast | MissingForecast)[]) {
    const found = versions.find((one): one is VersionForecast => one.name === MOVE_MODEL.name && 'model' in one);
    return new Map(found?.model.horizons.map((fit) => [fit.horizonDays, this.#moves.forecast(history, day, fit)]));
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

/** Due times of the daily steps, UTC; the outcome check runs every `OUTCOME_CHECK_HOURS` besides. */
export const STEP_TIMES = {
  brief: { hours: 3, minutes: 0 },
  signal: SIGNAL_TIME,
  attest: { hours: 21, minutes: 38 },
  wager: { hours: 21, minutes: 42 },
} as const;

export const OUTCOME_CHECK_HOURS = 6;

export type DayStepName = keyof typeof STEP_TIMES;

/** Due time of the weekly report, UTC, on the Monday after: the outcome check of the last window has run by then. */
export const WEEKLY_TIME = { hours: 0, minutes: 30 } as const;

const LATE_AFTER_MS = 3 * 60_000;

export function getStepDueMs(step: DayStepName, day: Day): number {
  const { hours, minutes } = STEP_TIMES[step];
  return toInstantMs(day, hours, minutes);
}

export function getWeeklyReportDueMs(week: Week): number {
  return toInstantMs(getLastDayOfWeek(week) + 1, WEEKLY_TIME.hours, WEEKLY_TIME.minutes);
}

/** Opening of the outcome window, which is the deadline of the forecast. */
export function getWindowOpensMs(day: Day): number {
  return toInstantMs(day + 1);
}

export function isStepLate(step: DayStepName, day: Day, now: Date): boolean {
  return isLateForDue(getStepDueMs(step, day), now);
}

export function isLateForDue(dueMs: number, now: Date): boolean {
  return now.getTime() >= dueMs + LATE_AFTER_MS;
}

/** Proves that a step is due; run manually before its time, only that the day has begun. Errors as `TrustedTime.requireReached`. */
export function requireStepDue(step: DayStepName, day: Day, { now, time }: Pick<StepContext, 'now' | 'time'>): Promise<ReachedInstant> {
  const dueMs = getStepDueMs(step, day);
  const isEarly = now.getTime() < dueMs;
  return time.requireReached(
    isEarly ? toInstantMs(day) : dueMs,
    isEarly ? `The beginning of ${formatDay(day)}` : `The ${step} of ${formatDay(day)}`,
  );
}

/** Proves that a day's outcome window has opened. Errors as `TrustedTime.requireReached`. */
export function requireWindowOpened(day: Day, { time }: Pick<StepContext, 'time'>): Promise<ReachedInstant> {
  return time.requireReached(getWindowOpensMs(day), `The opening of the outcome window of ${formatDay(day)}`);
}

/** What steps run on. */
export interface PipelineContext extends Context {
  baselines: DayBaselines;
  moveReferences: MoveReferences;
  forecaster: Forecaster;
  attester: Attester;
  reporter: Reporter;
  /** False stops new wagers; open ones still settle. */
  placeWagers: boolean;
  /** Minimum stake of the wager of every day; 0: days without an edge have none. */
  minStakeMicros: number;
  wagerSwitch: Pick<WagerSwitch, 'getState'>;
  findHoldReason(): Promise<string | null>;
  reports: ReportStores;
  selfTests: SelfTestDeps;
  runs: StepRunStore;
  publishChanges(): Promise<unknown>;
  /** Takes back what reorganisations of the chain undid. @throws OracleError CHAIN_UNREACHABLE */
  followChain(): Promise<void>;
}

export interface StepContext {
  /** The pipeline's clock: wall clock, or replayed time. */
  now: Date;
  /** The moment of `now`, for a comparison with the database's clock; unset where all clocks are set to `now`. */
  taken?: TakenTime;
  replayed: boolean;
  /** Proves that an instant is past or ahead; `now` alone proves nothing. */
  time: TrustedTime;
}

export function createLiveContext({ time }: Context, now: Date): StepContext {
  return { now, taken: takeTime(now), replayed: false, time };
}
