import type { Collection, Db } from 'mongodb';
import type { Day } from '../../forecast/day.ts';
import { isDuplicateKey } from '../../mongo.ts';
import { selfTestId } from './due.ts';
import type { SelfTestDoc, SelfTestName } from './self-test.ts';

const INDEX = { test: 1, day: 1 } as const;

export const SELF_TEST_INDEXES = [{ collection: 'self_tests', indexes: [{ key: INDEX, unique: true }] }];

/** A run without what it found: enough to tell how it went. */
export type SelfTestRun = Omit<SelfTestDoc, 'result'>;

/** Runs of the self-tests, kept for ever: one for each day that a test was due on. */
export class SelfTestStore {
  readonly #runs: Collection<SelfTestDoc>;

  constructor(db: Db) {
    this.#runs = db.collection('self_tests');
  }

  /** The run of a day that a test was due on, or null. */
  of(test: SelfTestName, day: Day): Promise<SelfTestRun | null> {
    return this.#runs.findOne({ _id: selfTestId(test, day) }, { projection: { result: 0 } });
  }

  /** The newest run that came to a result, or null before the first. */
  newestDone<Result extends object>(test: SelfTestName): Promise<SelfTestDoc<Result> | null> {
    return this.#runs.findOne({ test, state: 'done' }, { sort: { day: -1 }, hint: INDEX }) as Promise<SelfTestDoc<Result> | null>;
  }

  /** The same without the result itself. */
  newestVerdict(test: SelfTestName): Promise<SelfTestRun | null> {
    return this.#runs.findOne({ test, state: 'done' }, { sort: { day: -1 }, hint: INDEX, projection: { result: 0 } });
  }

  /** The newest run, whatever came of it, or null before the first. */
  newest(test: SelfTestName): Promise<SelfTestRun | null> {
    return this.#runs.findOne({ test }, { sort: { day: -1 }, hint: INDEX, projection: { result: 0 } });
  }

  /** The runs of the days from one to another, both included, in their order. */
  between(test: SelfTestName, from: Day, to: Day): Promise<SelfTestRun[]> {
    return this.#runs
      .find({ test, day: { $gte: from, $lte: to } }, { hint: INDEX, projection: { result: 0 } })
      .sort({ day: 1 })
      .toArray();
  }

  /** Keeps a run unless the one of its day stands (see `supersedes`), by compare-and-set; returns the one that stands. */
  async keep(run: SelfTestDoc): Promise<SelfTestRun> {
    try {
      await this.#runs.insertOne(run);
      return run;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const standing = (await this.of(run.test, run.day)) as SelfTestRun;
    if (!supersedes(run, standing)) return standing;
    const { _id, state, ranAt, codeVersion, dataDigest } = standing;
    const { matchedCount } = await this.#runs.replaceOne({ _id, state, ranAt, codeVersion, dataDigest }, run);
    return matchedCount > 0 ? run : ((await this.of(run.test, run.day)) as SelfTestRun);
  }
}

/** What could not be run gives way to any run; what was found, to what other code found or was found in other data. */
export function supersedes(run: SelfTestRun, standing: SelfTestRun): boolean {
  if (standing.state === 'failed') return true;
  return run.state === 'done' && !sameGround(run, standing);
}

/** Whether two runs are of the same code on the same data: they find the same. */
export function sameGround(
  a: Pick<SelfTestRun, 'codeVersion' | 'dataDigest'>,
  b: Pick<SelfTestRun, 'codeVersion' | 'dataDigest'>,
): boolean {
  return a.codeVersion === b.codeVersion && a.dataDigest === b.dataDigest;
}
