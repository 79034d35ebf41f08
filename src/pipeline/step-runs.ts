import type { Collection, Db } from 'mongodb';
import { getErrorMessage, isOracleError, toPublicReason } from '../errors.ts';
import { type Day, formatDay } from '../forecast/day.ts';
import type { Log } from '../platform/log.ts';
import { toDatabaseError } from '../platform/mongo.ts';
import { sanitizeText } from '../platform/validation.ts';
import type { PromisedStep } from '../record/schemas/self-tests.ts';

export type StepName = PromisedStep | 'settle' | 'reputation';

export type StepOutcome = { done: string } | { waiting: string } | { failed: string };

/** The latest run of a step on a day. `_id` is `<step>:<YYYY-MM-DD>`. */
export interface StepRun {
  _id: string;
  step: StepName;
  day: Day;
  state: 'done' | 'waiting' | 'failed';
  /** Why the step waits or failed; generic for errors other than `OracleError`. */
  reason: string | null;
  /** Message of such an error, for the log only: it distinguishes a new error from a repeated one. */
  unexpected: string | null;
  ranAt: Date;
  attempts: number;
  replayed: boolean;
}

type NewStepRun = Omit<StepRun, 'attempts'>;

const MAX_REASON_CHARS = 200;

/** A HOLD has no order that could wait or fail: a step that does discloses the forecast. */
const UNPUBLISHED_STEPS: readonly StepName[] = ['wager', 'settle'];

export function isPublicStep({ step }: Pick<StepRun, 'step'>): boolean {
  return !UNPUBLISHED_STEPS.includes(step);
}

/** The public reason of a run; null for a step that is not public. */
export function toPublicStepReason({ step, reason }: Pick<StepRun, 'step' | 'reason'>): string | null {
  if (reason === null || !isPublicStep({ step })) return null;
  return sanitizeText(reason, MAX_REASON_CHARS);
}

export const STEP_RUN_INDEXES = [{ collection: 'step_runs', indexes: [{ key: { step: 1, day: -1 } }] }];

export class StepRunStore {
  readonly #db: Db;
  readonly #runs: Collection<StepRun>;
  readonly #log: Log;

  constructor(db: Db, log: Log) {
    this.#db = db;
    this.#runs = db.collection('step_runs');
    this.#log = log;
  }

  /** A retryable error means waiting, any other a failure that needs the operator. Only a new reason is logged. */
  async runAndRecord(
    step: StepName,
    day: Day,
    { now: ranAt, replayed }: { now: Date; replayed: boolean },
    work: () => Promise<string>,
  ): Promise<StepOutcome> {
    const _id = `${step}:${formatDay(day)}`;
    try {
      const done = await work();
      await this.save({ _id, step, day, state: 'done', reason: null, unexpected: null, ranAt, replayed });
      return { done };
    } catch (caught) {
      const error = toDatabaseError(caught);
      const reason = toPublicReason(error);
      const unexpected = isOracleError(error) ? null : getErrorMessage(error);
      const state = isOracleError(error) && error.retryable ? 'waiting' : 'failed';
      const before = await this.save({ _id, step, day, state, reason, unexpected, ranAt, replayed });
      if (before?.reason !== reason || before.unexpected !== unexpected) {
        if (state === 'failed') this.#log.error({ err: error, step, day: formatDay(day) }, 'step failed');
        else this.#log.warn({ step, day: formatDay(day), reason, cause: formatCause(error) }, 'step waiting');
      }
      return state === 'failed' ? { failed: reason } : { waiting: reason };
    }
  }

  async findLastReason(step: StepName, day: Day): Promise<string | null> {
    return (await this.#runs.findOne({ _id: `${step}:${formatDay(day)}` }))?.reason ?? null;
  }

  listBetween(steps: readonly StepName[], from: Day, to: Day): Promise<StepRun[]> {
    const hint = { step: 1, day: -1 } as const;
    return this.#runs.find({ step: { $in: [...steps] }, day: { $gte: from, $lte: to } }, { hint }).toArray();
  }

  /** The run of each step on its newest day, so that a rerun of an older day hides nothing. */
  async listLatest(): Promise<StepRun[]> {
    const steps = await this.#runs.distinct('step');
    const runs = await Promise.all(steps.toSorted().map((step) => this.#findLatest(step)));
    return runs.filter((run) => run !== null);
  }

  #findLatest(step: StepName): Promise<StepRun | null> {
    return this.#runs.findOne({ step }, { sort: { day: -1 } });
  }

  /** A store whose runs are written together. */
  batched(): BatchedStepRuns {
    return new BatchedStepRuns(this.#db, this.#log);
  }

  /** Resolves to the run before, if it is known. */
  protected save({ _id, ...run }: NewStepRun): Promise<StepRun | null> {
    return this.#runs.findOneAndUpdate({ _id }, toUpdate(run), { upsert: true, returnDocument: 'before' });
  }

  protected async saveAll(runs: readonly NewStepRun[]): Promise<void> {
    if (runs.length === 0) return;
    await this.#runs.bulkWrite(runs.map(({ _id, ...run }) => ({ updateOne: { filter: { _id }, update: toUpdate(run), upsert: true } })));
  }
}

/** For replayed days: a day whose runs were not written is replayed again. */
class BatchedStepRuns extends StepRunStore {
  #unsaved: NewStepRun[] = [];

  async flush(): Promise<void> {
    const runs = this.#unsaved;
    this.#unsaved = [];
    await this.saveAll(runs);
  }

  protected override async save(run: NewStepRun): Promise<null> {
    this.#unsaved.push(run);
    return null;
  }
}

function toUpdate(run: Omit<NewStepRun, '_id'>) {
  return { $set: run, $inc: { attempts: 1 } };
}

/** Messages of libraries, nodes and providers, for the log only. */
function formatCause(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? undefined : getErrorMessage(cause);
}
