import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDatabaseUnreachable } from '../../../src/platform/mongo.ts';
import { confirmIfUncertain, insertFirst, repeatIfUncertain, undoIfUncertain } from '../../../src/platform/retry.ts';
import { isWrite } from '../../support/faults/fault-sweep.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';
import type { MongoFault } from '../../support/faults/mongo-fault-proxy.ts';

let database: FaultedDatabase;

beforeAll(async () => {
  database = await faultedDatabase();
});
afterAll(() => database.drop());

interface Item {
  _id: string;
  writer: string;
  count: number;
}

const items = () => database.db.collection<Item>('items');
const stored = () => database.direct.db.collection<Item>('items').find().toArray();
const LOST: readonly MongoFault[] = ['cut-before', 'cut-after', 'half-reply'];

/** The next write meets the fault. */
function failNextWrite(fault: MongoFault): void {
  let isDone = false;
  database.proxy.plan((command) => {
    if (isDone || !isWrite(command)) return null;
    isDone = true;
    return fault;
  });
}

describe.each(LOST)('a write whose connection ends (%s)', (fault) => {
  it('is repeated where it has the same effect twice', async () => {
    await database.direct.db.collection<Item>('items').deleteMany({});
    await items().insertOne({ _id: 'a', writer: 'one', count: 0 });
    failNextWrite(fault);
    await repeatIfUncertain(() => items().updateOne({ _id: 'a' }, { $set: { count: 1 } }));
    expect(await stored()).toEqual([{ _id: 'a', writer: 'one', count: 1 }]);
  });

  it('is the first one of its writer, and not of another', async () => {
    await database.direct.db.collection<Item>('items').deleteMany({});
    failNextWrite(fault);
    expect(await insertFirst(items(), { _id: 'a', writer: 'one', count: 0 }, 'writer')).toBe(true);
    failNextWrite(fault);
    expect(await insertFirst(items(), { _id: 'a', writer: 'two', count: 0 }, 'writer')).toBe(false);
    expect(await stored()).toEqual([{ _id: 'a', writer: 'one', count: 0 }]);
  });

  it('is read back before it is repeated', async () => {
    await database.direct.db.collection<Item>('items').deleteMany({});
    await items().insertOne({ _id: 'a', writer: 'one', count: 0 });
    failNextWrite(fault);
    const write = () => items().findOneAndUpdate({ _id: 'a', count: 0 }, { $inc: { count: 1 } }, { returnDocument: 'after' });
    const changed = await confirmIfUncertain(write, () => items().findOne({ _id: 'a', count: 1 }));
    expect(changed).toMatchObject({ count: 1 });
    expect(await stored()).toMatchObject([{ count: 1 }]);
  });

  it('is undone where only its reply makes it useful', async () => {
    await database.direct.db.collection<Item>('items').deleteMany({});
    failNextWrite(fault);
    const acquiring = undoIfUncertain(items().insertOne({ _id: 'a', writer: 'one', count: 0 }), () =>
      items().deleteOne({ _id: 'a', writer: 'one' }),
    );
    await expect(acquiring).rejects.toSatisfy(isDatabaseUnreachable);
    expect(await stored()).toEqual([]);
  });
});

describe('an answer of the server', () => {
  it.each([
    ['NotWritablePrimary', { ok: 0, code: 10107, codeName: 'NotWritablePrimary', errmsg: 'not primary' }],
    ['OutOfDiskSpace', { ok: 0, code: 14031, codeName: 'OutOfDiskSpace', errmsg: 'available disk space is less than required' }],
    ['ShutdownInProgress', { ok: 0, code: 91, codeName: 'ShutdownInProgress', errmsg: 'the server is shutting down' }],
  ])('that is %s counts as an unavailable database, in bulk writes too', async (_name, reply) => {
    failNextWrite({ reply });
    await expect(items().updateOne({ _id: 'b' }, { $set: { count: 1 } })).rejects.toSatisfy(isDatabaseUnreachable);
    failNextWrite({ reply });
    await expect(items().insertMany([{ _id: 'b', writer: 'one', count: 0 }])).rejects.toSatisfy(isDatabaseUnreachable);
  });
});
