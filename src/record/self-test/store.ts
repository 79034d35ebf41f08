import type { Collection, Db, Filter } from 'mongodb';
import type { Day } from '../../forecast/day.ts';
import { insertOrFind } from '../../platform/insert-or-find.ts';
import { formatSelfTestId } from './due-times.ts';
import { RESULT_FORMAT, type SelfTestDoc, type SelfTestFailure, type SelfTestName } from './self-test-doc.ts';

const TEST_DAY_INDEX = { test: 1, day: 1 } as const;

export const SELF_TEST_INDEXES = [{ collection: 'self_tests', indexes: [{ key: TEST_DAY_INDEX, unique: true }] }];

export type SelfTestRun = Omit<SelfTestDoc, 'result'>;

/** Runs of the self-tests: one per test and due day, never deleted. */
export class SelfTestStore {
  readonly #runs: Collection<SelfTestDoc>;

  constructor(db: Db) {
    this.#runs = db.collection('self_tests');
  }

  findRun(test: SelfTestName, day: Day): Promise<SelfTestRun | null> {
    return this.#runs.findOne({ _id: formatSelfTestId(test, day) }, { projection: { result: 0 } });
  }

  findNewestResult<Result extends object>(test: SelfTestName): Promise<SelfTestDoc<Result> | null> {
    const newest = this.#runs.findOne(buildPublishableFilter(test), { sort: { day: -1 }, hint: TEST_DAY_INDEX });
    return newest as Promise<SelfTestDoc<Result> | null>;
  }

  findNewestDoneRun(test: SelfTestName): Promise<SelfTestRun | null> {
    return this.#runs.findOne(buildPublishableFilter(test), { sort: { day: -1 }, hint: TEST_DAY_INDEX, projection: { result: 0 } });
  }

  findNewestRun(test: SelfTestName): Promise<SelfTestRun | null> {
    return this.#runs.findOne({ test }, { sort: { day: -1 }, hint: TEST_DAY_INDEX, projection: { result: 0 } });
  }

  listBetween(test: SelfTestName, from: Day, to: Day): Promise<SelfTestRun[]> {
    return this.#runs
      .find({ test, day: { $gte: from, $lte: to } }, { hint: TEST_DAY_INDEX, projection: { result: 0 } })
      .sort({ day: 1 })
      .toArray();
  }

  /** Compare-and-set where the run `supersedes` the stored one; a failure is noted beside the result it could not replace. */
  async saveRun(run: SelfTestDoc): Promise<SelfTestRun> {
    const stored: SelfTestRun = await insertOrFind(this.#runs, run);
    if (stored === run) return run;
    if (stored.state === 'done' && isUpToDate(stored, run)) return stored;
    const { _id, state, ranAt, codeVersion, dataDigest } = stored;
    const unchanged = { _id, state, ranAt, codeVersion, dataDigest };
    if (supersedes(run, stored)) await this.#runs.replaceOne(unchanged, buildSuccessor(run, stored));
    else await this.#runs.updateOne(unchanged, { $set: { failure: getSelfTestFailure(run) } });
    return (await this.findRun(run.test, run.day)) as SelfTestRun;
  }
}

function buildPublishableFilter(test: SelfTestName): Filter<SelfTestDoc> {
  return { test, state: 'done', format: RESULT_FORMAT };
}

/** A failed run is replaced by any run; a result only by one of other code or other data. */
function supersedes(run: SelfTestRun, stored: SelfTestRun): boolean {
  return stored.state === 'failed' || (run.state === 'done' && !isUpToDate(stored, run));
}

/** Determines a result: same basis, same result. */
export type SelfTestBasis = Pick<SelfTestRun, 'codeVersion' | 'dataDigest' | 'format'>;

export function isUpToDate(run: SelfTestRun, { codeVersion, dataDigest, format }: SelfTestBasis): boolean {
  const sameBasis = run.codeVersion === codeVersion && run.dataDigest === dataDigest && run.format === format;
  return run.state === 'done' && run.failure === null && sameBasis;
}

export function getSelfTestFailure({ state, ranAt: at, reason, codeVersion, failure }: SelfTestRun): SelfTestFailure | null {
  return state === 'failed' ? { at, reason: reason ?? 'unknown', codeVersion } : failure;
}

/** A recomputed result keeps the lateness of the first. */
function buildSuccessor(run: SelfTestDoc, { state, firstRanAt, late }: SelfTestRun): SelfTestDoc {
  return state === 'done' ? { ...run, firstRanAt, late } : run;
}
