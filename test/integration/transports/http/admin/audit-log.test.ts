import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OracleError } from '../../../../../src/errors.ts';
import { AUDIT_INDEXES, type AuditedAction, AuditLog } from '../../../../../src/http/admin.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';

let database: TestDatabase;
let audit: AuditLog;
let nowMs: number;
let lines: string[];

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  nowMs = Date.UTC(2026, 0, 5, 23, 59);
  lines = [];
  const log = createLog({ level: 'debug', secrets: [], write: (line) => void lines.push(line) });
  audit = new AuditLog({ db: database.db, user: 'operator', log, now: () => new Date(nowMs) });
});

const deed: AuditedAction = { action: 'things.do', parameters: { what: 'this' }, source: { requestId: 'r-1', address: '203.0.113.9' } };
const kept = () =>
  database.db
    .collection('admin_audit')
    .find({}, { projection: { _id: 0 } })
    .toArray();

/** A store that takes entries of these states only. */
const taking = (...states: string[]) => database.db.createCollection('admin_audit', { validator: { state: { $in: states } } });

describe('AuditLog', () => {
  it('writes the entry before the action and completes it after', async () => {
    const common = { at: new Date(nowMs), user: 'operator', ...deed.source, action: 'things.do', parameters: { what: 'this' } };
    const result = await audit.run(
      deed,
      async () => {
        expect(await kept()).toEqual([{ ...common, state: 'begun', endedAt: null, errorCode: null, result: null }]);
        nowMs += 120_000;
        return 42;
      },
      (answer) => `it is ${answer}`,
    );
    expect(result).toBe(42);
    expect(await kept()).toEqual([{ ...common, state: 'done', endedAt: new Date(nowMs), errorCode: null, result: 'it is 42' }]);
  });

  it.each([
    ['of our own, with its words', new OracleError('CONFLICT', 'it is there'), 'CONFLICT', 'it is there'],
    ['of somebody else, without them', new Error('mongodb://user:password@host'), 'INTERNAL', null],
  ])('records the error of a failed action: %s', async (_, error, errorCode, result) => {
    await expect(audit.run(deed, () => Promise.reject(error), String)).rejects.toBe(error);
    expect(await kept()).toMatchObject([{ state: 'failed', errorCode, result, endedAt: new Date(nowMs) }]);
  });

  it('does not run an action whose entry cannot be written', async () => {
    await taking('none');
    let happened = false;
    const work = async () => {
      happened = true;
    };
    await expect(audit.run(deed, work, String)).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringContaining('nothing was done'),
    });
    expect(happened).toBe(false);
  });

  it.each([
    ['is answered as it went', async () => 'it went', 'it went'],
    ['fails as it failed', () => Promise.reject(new OracleError('CONFLICT', 'no')), null],
  ])('returns the result where the end of the entry cannot be written, %s, and logs it', async (_, work: () => Promise<string>, answer) => {
    await taking('begun');
    const running = audit.run(deed, work, String);
    if (answer === null) await expect(running).rejects.toMatchObject({ code: 'CONFLICT' });
    else expect(await running).toBe(answer);
    expect(await kept()).toMatchObject([{ state: 'begun', endedAt: null }]);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 50, state: answer === null ? 'failed' : 'done' }]);
  });

  it('truncates long texts', async () => {
    await audit.run({ ...deed, parameters: { what: 'x'.repeat(10_000) } }, async () => 'y'.repeat(10_000), String);
    const [entry] = await kept();
    expect([entry.parameters.what.length, entry.result.length]).toEqual([5_000, 500]);
  });
});

it('lists the newest first, also within one millisecond', async () => {
  await ensureIndexes(database.db, AUDIT_INDEXES);
  for (let index = 0; index < 6; index++) {
    if (index % 2 === 0) nowMs += 1_000;
    await audit.run({ ...deed, parameters: { index: String(index) } }, async () => '', String);
  }
  expect((await audit.listNewest(4)).map(({ parameters }) => parameters.index)).toEqual(['5', '4', '3', '2']);
});
