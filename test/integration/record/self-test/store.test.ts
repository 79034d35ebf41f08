import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { RESULT_FORMAT, type SelfTestDoc } from '../../../../src/record/schemas/self-tests.ts';
import { formatSelfTestId, SELF_TEST_INDEXES, SelfTestStore } from '../../../../src/record/self-tests.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

const DAY = parseDay('2026-03-15');
let database: TestDatabase;
let store: SelfTestStore;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, SELF_TEST_INDEXES);
  store = new SelfTestStore(database.db);
});
afterAll(() => database.drop());
beforeEach(() => database.db.collection('self_tests').deleteMany({}));

let minute = 0;

/** A run, a minute after the previous one. */
function run(rest: Partial<SelfTestDoc> = {}): SelfTestDoc {
  const day = rest.day ?? DAY;
  const test = rest.test ?? 'stability';
  const ranAt = new Date(toInstantMs(day, 15, ++minute));
  return {
    _id: formatSelfTestId(test, day),
    ...{ test, day, dueAt: new Date(toInstantMs(day, 15)), ranAt, firstRanAt: ranAt, durationMs: 5, late: false },
    ...{ failure: null, format: RESULT_FORMAT },
    ...{ state: 'done', reason: null, verdict: 'fine', codeVersion: '1', dataDigest: '0xa', firstDay: 1, lastDay: 2 },
    ...{ source: 'test', simulated: false, replayed: false, seed: 1, result: { report: { minute } } },
    ...rest,
  };
}

const failed = (rest: Partial<SelfTestDoc> = {}) => run({ state: 'failed', reason: 'it broke', verdict: null, result: null, ...rest });
const readStored = () => database.db.collection<SelfTestDoc>('self_tests').find().toArray();

describe('a run of a self-test', () => {
  it.each([
    ['the same code on the same data', run, run, 0],
    ['a failure of the same code on the same data', run, failed, 0],
    ['a result after a failure', failed, run, 1],
    ['a failure after a failure', failed, failed, 1],
  ] as const)('stands for its day, or gives way: %s', async (_, first, second, stands) => {
    const runs = [first(), second()];
    for (const one of runs) await store.saveRun(one);
    expect(await readStored()).toEqual([runs[stands]]);
    expect(await store.findRun('stability', DAY)).toMatchObject({ ranAt: runs[stands].ranAt });
  });

  it.each([
    ['other code', { codeVersion: '2' }],
    ['other data', { dataDigest: '0xb' }],
    ['another shape of results', { format: RESULT_FORMAT + 1 }],
  ])('is replaced by a result of %s and keeps whether it was on time', async (_, change) => {
    const first = run();
    await store.saveRun(first);
    const second = run({ ...change, late: true });
    expect(await store.saveRun(second)).toMatchObject({ ranAt: second.ranAt, late: false });
    expect(await readStored()).toEqual([{ ...second, late: false, firstRanAt: first.ranAt }]);
    const third = run({ codeVersion: '9', late: true });
    await store.saveRun(third);
    expect(await readStored()).toEqual([{ ...third, late: false, firstRanAt: first.ranAt }]);
  });

  it('that failed earlier does not pass on its time: a promise is kept only with a result', async () => {
    await store.saveRun(failed());
    const second = run({ late: true });
    await store.saveRun(second);
    expect(await readStored()).toEqual([second]);
  });

  it('keeps the failure of other code beside the stored result until a new one', async () => {
    const first = run();
    await store.saveRun(first);
    const broken = failed({ codeVersion: '2', reason: 'new and broken' });
    const failure = { at: broken.ranAt, reason: 'new and broken', codeVersion: '2' };
    expect(await store.saveRun(broken)).toMatchObject({ state: 'done', codeVersion: '1', failure });
    expect(await readStored()).toEqual([{ ...first, failure }]);
    const again = run({ late: true });
    await store.saveRun(again);
    expect(await readStored()).toEqual([{ ...again, late: false, firstRanAt: first.ranAt }]);
  });

  it('is served only in the current format', async () => {
    await store.saveRun(run({ day: DAY - 7 }));
    await store.saveRun(run({ format: RESULT_FORMAT + 1 }));
    expect(await store.findNewestResult('stability')).toMatchObject({ day: DAY - 7 });
    expect(await store.findNewestDoneRun('stability')).toMatchObject({ day: DAY - 7 });
    expect(await store.findNewestRun('stability')).toMatchObject({ day: DAY });
  });

  it('is stored once by two concurrent workers, and both get the stored one', async () => {
    for (const rest of [{}, { codeVersion: '3' }, { codeVersion: '4', dataDigest: '0xc' }]) {
      const runs = [run(rest), run(rest), run(rest)];
      const kept = await Promise.all(runs.map((one) => store.saveRun(one)));
      const [doc, ...others] = await readStored();
      expect(others).toEqual([]);
      expect(kept.map(({ ranAt }) => ranAt)).toEqual(kept.map(() => doc.ranAt));
      expect(doc).toMatchObject(rest);
    }
  });

  it('does not replace one that was stored in between', async () => {
    await store.saveRun(failed());
    const runs = [run({ codeVersion: '5' }), run({ codeVersion: '6' })];
    const kept = await Promise.all(runs.map((one) => store.saveRun(one)));
    const [doc] = await readStored();
    expect(['5', '6']).toContain(doc.codeVersion);
    expect(kept.at(-1)!.codeVersion === doc.codeVersion || kept[0].codeVersion === doc.codeVersion).toBe(true);
  });

  it('is found by its test: the newest run, and the newest with a result', async () => {
    await store.saveRun(run({ day: DAY - 7 }));
    await store.saveRun(failed({ day: DAY }));
    await store.saveRun(run({ test: 'walk-forward', day: DAY + 1 }));
    expect(await store.findNewestRun('stability')).toMatchObject({ day: DAY, state: 'failed' });
    expect(await store.findNewestResult('stability')).toMatchObject({ day: DAY - 7, result: { report: {} } });
    expect(await store.findNewestDoneRun('stability')).not.toHaveProperty('result');
    expect((await store.listBetween('stability', DAY - 7, DAY - 1)).map(({ day }) => day)).toEqual([DAY - 7]);
    expect(await store.findNewestRun('contamination')).toBeNull();
    expect(await store.findNewestResult('contamination')).toBeNull();
  });
});
