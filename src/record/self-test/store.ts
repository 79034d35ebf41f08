import type { Collection, Db, Filter } from 'mongodb';
import type { Day } from '../../forecast/day.ts';
import { insertOrFind } from '../../platform/insert-or-find.ts';
import { formatSelfTestId } from './due-times.ts';
import { RESULT_FORMAT, type SelfTestDoc, type SelfTestFailure, type SelfTestName } from './self-test-doc.ts';

const TEST_DAY_INDEX = { test: 1, day: 1 } as const;

export const SELF_TEST_INDEXES = [{ collection: 'self_tests', indexes: [{ key: TEST_DAY_INDEX, unique: true }] }];

/** A run without what it found: enough to tell how it went. */
export type SelfTestRun = Omit<SelfTestDoc, 'result'>;

/** Runs of the self-tests, kept for ever: one for each day that a test was due on. */
export class SelfTestStore {
  readonly #runs: Collection<SelfTestDoc>;

  constructor(db: Db) {
    this.#runs = db.collection('self_tests');
  }

  /** The run of a day that a test was due on, or null. */
  findRun(test: SelfTestName, day: Day): Promise<SelfTestRun | null> {
    return this.#runs.findOne({ _id: formatSelfTestId(test, day) }, { projection: { result: 0 } });
  }

  /** The newest run that came to a result of the shape that is told, or null before the first. */
  findNewestResult<Result extends object>(test: SelfTestName): Promise<SelfTestDoc<Result> | null> {
    const newest = this.#runs.findOne(buildPublishableFilter(test), { sort: { day: -1 }, hint: TEST_DAY_INDEX });
    return newest as Promise<SelfTestDoc<Result> | null>;
  }

  /** The same without the result itself. */
  findNewestDoneRun(test: SelfTestName): Promise<SelfTestRun | null> {
    return this.#runs.findOne(buildPublishableFilter(test), { sort: { day: -1 }, hint: TEST_DAY_INDEX, projection: { result: 0 } });
  }

  /** The newest run, whatever came of it, or null before the first. */
  findNewestRun(test: SelfTestName): Promise<SelfTestRun | null> {
    return this.#runs.findOne({ test }, { sort: { day: -1 }, hint: TEST_DAY_INDEX, projection: { result: 0 } });
  }

  /** The runs of the days from one to another, both included, in their order. */
  listBetween(test: SelfTestName, from: Day, to: Day): Promise<SelfTestRun[]> {
    return this.#runs
      .find({ test, day: { $gte: from, $lte: to } }, { hint: TEST_DAY_INDEX, projection: { result: 0 } })
      .sort({ day: 1 })
      .toArray();
  }

  /**
   * Keeps a run unless the one of its day stands (see `supersedes`), by compare-and-set; returns the one that stands. What has failed is
   * noted with the result that it could not replace.
   */
  async saveRun(run: SelfTestDoc): Promise<SelfTestRun> {
    const stored: SelfTestRun = await insertOrFind(this.#runs, run);
    if (stored === run) return run;
    if (stored.state === 'done' && isUpToDate(stored, run)) return stored;
    const { _id, state, ranAt, codeVersion, dataDigest } = stored;
    const asFound = { _id, state, ranAt, codeVersion, dataDigest };
    if (supersedes(run, stored)) await this.#runs.replaceOne(asFound, buildSuccessor(run, stored));
    else await this.#runs.updateOne(asFound, { $set: { failure: getSelfTestFailure(run) } });
    return (await this.findRun(run.test, run.day)) as SelfTestRun;
  }
}

function buildPublishableFilter(test: SelfTestName): Filter<SelfTestDoc> {
  return { test, state: 'done', format: RESULT_FORMAT };
}

/** What could not be run gives way to any run; what was found, to what other code found or was found in other data. */
function supersedes(run: SelfTestRun, stored: SelfTestRun): boolean {
  return stored.state === 'failed' || (run.state === 'done' && !isUpToDate(stored, run));
}

/** What a test is made of: the same makes the same of it. */
export type SelfTestBasis = Pick<SelfTestRun, 'codeVersion' | 'dataDigest' | 'format'>;

/** Whether a run has all that a run on this ground would find: nothing has to be run. */
export function isUpToDate(run: SelfTestRun, { codeVersion, dataDigest, format }: SelfTestBasis): boolean {
  const sameGround = run.codeVersion === codeVersion && run.dataDigest === dataDigest && run.format === format;
  return run.state === 'done' && run.failure === null && sameGround;
}

/** Why the last run of a day came to no result, or null. */
export function getSelfTestFailure({ state, ranAt: at, reason, codeVersion, failure }: SelfTestRun): SelfTestFailure | null {
  return state === 'failed' ? { at, reason: reason ?? 'unknown', codeVersion } : failure;
}

/** A promise that was kept in time stays kept when the result is made anew. */
function buildSuccessor(run: SelfTestDoc, { state, firstRanAt, late }: SelfTestRun): SelfTestDoc {
  return state === 'done' ? { ...run, firstRanAt, late } : run;
}
