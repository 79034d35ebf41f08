import type { Collection, Db } from 'mongodb';
import { type Day, formatDay } from '../forecast/day.ts';
import { getErrorMessage, isOracleError, toPublicReason } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { sanitizeText } from '../record/sanitize-text.ts';

export type StepName =
  | 'signal'
  | 'attest'
  | 'wager'
  | 'open-window'
  | 'resolve'
  | 'settle'
  | 'reputation'
  | 'brief'
  | 'weekly-report'
  | 'backtest'
  | 'diagnostics';

/** What a step came to, in words: what it did, what it waits for, or why it failed for good. */
export type StepOutcome = { done: string } | { waiting: string } | { failed: string };

/** The latest run of a step on a day. `_id` is `<step>:<YYYY-MM-DD>`. */
export interface StepRun {
  _id: string;
  step: StepName;
  day: Day;
  state: 'done' | 'waiting' | 'failed';
  /** What a waiting step waits for, or why it failed; of an error that is not ours nothing but that it was one. */
  reason: string | null;
  /** Text of that error, for nobody but the log: it is what tells a new one from the one before. */
  unexpected: string | null;
  /** By the pipeline's clock. */
  ranAt: Date;
  attempts: number;
  replayed: boolean;
}

const MAX_REASON_CHARS = 200;

/** The reason of a run as anybody may read it. Why a wager waits tells that there is one, and with it what the forecast says: that is the operator's. */
export function toPublicStepReason({ step, reason }: Pick<StepRun, 'step' | 'reason'>): string | null {
  if (reason === null || step === 'wager' || step === 'settle') return null;
  return sanitizeText(reason, MAX_REASON_CHARS);
}

export const STEP_RUN_INDEXES = [{ collection: 'step_runs', indexes: [{ key: { step: 1, day: -1 } }] }];

/** What ran when, and what waits for what. */
export class StepRunStore {
  readonly #runs: Collection<StepRun>;
  readonly #log: Log;

  constructor(db: Db, log: Log) {
    this.#runs = db.collection('step_runs');
    this.#log = log;
  }

  /**
   * Runs a step and records how it went: a retryable error means that the step waits, any other that it has failed and needs a
   * person. Either is logged when its reason is new.
   */
  async runAndRecord(
    step: StepName,
    day: Day,
    { now: ranAt, replayed }: { now: Date; replayed: boolean },
    work: () => Promise<string>,
  ): Promise<StepOutcome> {
    const _id = `${step}:${formatDay(day)}`;
    try {
      const done = await work();
      await this.#save({ _id, step, day, state: 'done', reason: null, unexpected: null, ranAt, replayed });
      return { done };
    } catch (error) {
      const reason = toPublicReason(error);
      const unexpected = isOracleError(error) ? null : getErrorMessage(error);
      const state = isOracleError(error) && error.retryable ? 'waiting' : 'failed';
      const before = await this.#save({ _id, step, day, state, reason, unexpected, ranAt, replayed });
      if (before?.reason !== reason || before.unexpected !== unexpected) {
        if (state === 'failed') this.#log.error({ err: error, step, day: formatDay(day) }, 'step failed');
        else this.#log.warn({ step, day: formatDay(day), reason, cause: formatCause(error) }, 'step waiting');
      }
      return state === 'failed' ? { failed: reason } : { waiting: reason };
    }
  }

  /** Why a day's step waited or failed last, or null. */
  async findLastReason(step: StepName, day: Day): Promise<string | null> {
    return (await this.#runs.findOne({ _id: `${step}:${formatDay(day)}` }))?.reason ?? null;
  }

  /** The run of every step on each of the days from one to another, both included. */
  listBetween(steps: readonly StepName[], from: Day, to: Day): Promise<StepRun[]> {
    const hint = { step: 1, day: -1 } as const;
    return this.#runs.find({ step: { $in: [...steps] }, day: { $gte: from, $lte: to } }, { hint }).toArray();
  }

  /** The run of every step on the newest day that it ran for: an older day that is run again hides nothing. */
  listLatest(): Promise<StepRun[]> {
    return this.#runs
      .aggregate<StepRun>([
        { $sort: { step: 1, day: -1 } },
        { $group: { _id: '$step', run: { $first: '$$ROOT' } } },
        { $replaceRoot: { newRoot: '$run' } },
        { $sort: { step: 1 } },
      ])
      .toArray();
  }

  #save({ _id, ...run }: Omit<StepRun, 'attempts'>): Promise<StepRun | null> {
    const update = { $set: run, $inc: { attempts: 1 } };
    return this.#runs.findOneAndUpdate({ _id }, update, { upsert: true, returnDocument: 'before' });
  }
}

/** Words of a library, a node or a provider: for the log alone. */
function formatCause(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? undefined : getErrorMessage(cause);
}
