import fc from 'fast-check';
import {
  Binary,
  BSON,
  BSONRegExp,
  BSONSymbol,
  Code,
  DBRef,
  Decimal128,
  type Document,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} from 'mongodb';
import { expect, it } from 'vitest';
import { decodeExactly } from '../../../../../src/platform/backup-format.ts';

const written = (raw: Uint8Array) => Buffer.from(BSON.serialize(decodeExactly(raw))).toString('hex');
const expectExact = (raw: Uint8Array) => expect(written(raw)).toBe(Buffer.from(raw).toString('hex'));

it('keeps every type of BSON to the byte', () => {
  expectExact(
    BSON.serialize({
      _id: new ObjectId(),
      int32: new Int32(1),
      wholeDouble: new Double(1),
      negativeZero: new Double(-0),
      infinite: [new Double(Number.POSITIVE_INFINITY), new Double(Number.NaN)],
      long: Long.MAX_VALUE,
      smallLong: Long.fromNumber(1),
      decimal: Decimal128.fromString('1.10'),
      text: 'ü\u0000€',
      binary: new Binary(Buffer.from([1, 2, 3]), 0x80),
      buffer: Buffer.alloc(20, 7),
      uuid: new UUID(),
      date: new Date(-1),
      timestamp: new Timestamp({ t: 5, i: 6 }),
      pattern: /^a.b$/i,
      serverPattern: new BSONRegExp('(?i)x', 'imsx'),
      symbol: new BSONSymbol('s'),
      code: new Code('return 1'),
      scoped: new Code('return x', { x: new Int32(1) }),
      reference: new DBRef('c', new ObjectId(), 'd', { more: 1 }),
      edges: [new MinKey(), new MaxKey(), null, true, false],
      empty: [{}, []],
      nested: { '2': { '1': [new Int32(3), { '0': new Double(4) }] } },
    }),
  );
});

it('keeps the order of keys that objects would sort', () => {
  const keys = (...names: string[]) => new Map<string, unknown>(names.map((name, index) => [name, index]));
  const raw = BSON.serialize(
    keys('b', '7', '1')
      .set('5', [keys('10', '2')])
      .set('3', keys('9', 'a', '0')),
  );
  expect(Buffer.from(BSON.serialize(BSON.deserialize(raw)))).not.toEqual(Buffer.from(raw));
  expectExact(raw);
});

it('keeps any document that the driver writes', () => {
  const value = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.date({ noInvalidDate: true }),
    fc.constant(null),
    fc.uint8Array(),
  );
  const key = fc.string().filter((name) => !name.includes('\0'));
  const tree = fc.letrec((tie) => ({
    node: fc.oneof({ depthSize: 'small' }, value, fc.array(tie('node'), { maxLength: 4 }), fc.dictionary(key, tie('node'), { maxKeys: 4 })),
  })).node;
  const property = fc.property(fc.dictionary(key, tree, { maxKeys: 5 }), (document) => {
    expectExact(BSON.serialize(document as Document));
  });
  fc.assert(property);
});
