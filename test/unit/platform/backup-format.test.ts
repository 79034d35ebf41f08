import { randomBytes } from 'node:crypto';
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
import { describe, expect, it } from 'vitest';
import { CHUNK_BYTES, decodeExactly, decryptChunks, encryptChunks, PREAMBLE_BYTES } from '../../../src/platform/backup-format.ts';

describe('exact bson', () => {
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
      node: fc.oneof(
        { depthSize: 'small' },
        value,
        fc.array(tie('node'), { maxLength: 4 }),
        fc.dictionary(key, tie('node'), { maxKeys: 4 }),
      ),
    })).node;
    const property = fc.property(fc.dictionary(key, tree, { maxKeys: 5 }), (document) => {
      expectExact(BSON.serialize(document as Document));
    });
    fc.assert(property);
  });
});

const KEY = randomBytes(32);
const SEALED_CHUNK_BYTES = CHUNK_BYTES + 16;

/** A stream in pieces of these sizes, and the rest. */
async function* inPieces(bytes: Buffer, sizes: readonly number[] = []): AsyncGenerator<Buffer> {
  let offset = 0;
  for (const size of sizes) {
    yield bytes.subarray(offset, offset + size);
    offset += size;
  }
  if (offset < bytes.length) yield bytes.subarray(offset);
}

async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

const seal = (plain: Buffer, sizes?: number[]) => collect(encryptChunks(KEY, inPieces(plain, sizes)));
const open = (sealed: Buffer, sizes?: number[], key = KEY) => collect(decryptChunks(key, inPieces(sealed, sizes)));

function splitChunks(sealed: Buffer): { preamble: Buffer; chunks: Buffer[] } {
  const chunks: Buffer[] = [];
  for (let from = PREAMBLE_BYTES; from < sealed.length; from += SEALED_CHUNK_BYTES)
    chunks.push(sealed.subarray(from, from + SEALED_CHUNK_BYTES));
  return { preamble: sealed.subarray(0, PREAMBLE_BYTES), chunks };
}

const damaged = { code: 'INPUT_INVALID', field: 'file' };

describe('a stream of encrypted chunks', () => {
  it.each([0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES + 5])(
    'returns %i bytes as they were',
    async (size) => {
      const plain = randomBytes(size);
      const sealed = await seal(plain, [1, 70_000]);
      expect(sealed.length).toBe(PREAMBLE_BYTES + size + 16 * Math.max(1, Math.ceil(size / CHUNK_BYTES)));
      expect((await open(sealed, [3, 100, 65_000])).equals(plain)).toBe(true);
    },
  );

  it('differs each time, and shows nothing of its content', async () => {
    const plain = Buffer.alloc(2 * CHUNK_BYTES, 'salt');
    const [first, second] = [await seal(plain), await seal(plain)];
    const same = first.subarray(PREAMBLE_BYTES).filter((byte, index) => byte === second[PREAMBLE_BYTES + index]).length;
    expect(same / plain.length).toBeLessThan(0.01);
    expect(first.includes('salt')).toBe(false);
  });

  it('is rejected when any bit has changed', async () => {
    const sealed = await seal(randomBytes(CHUNK_BYTES + 100));
    const flip = fc.tuple(fc.oneof(fc.nat(PREAMBLE_BYTES - 1), fc.nat(sealed.length - 1)), fc.nat(7));
    const property = fc.asyncProperty(flip, async ([at, bit]) => {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1 << bit;
      await expect(open(changed)).rejects.toMatchObject({ code: expect.stringMatching(/^(INPUT|CONFIG)_INVALID$/) });
    });
    await fc.assert(property, { numRuns: 200 });
  });

  it('is rejected when it is truncated at any length', async () => {
    const sealed = await seal(randomBytes(2 * CHUNK_BYTES));
    const edges = [0, 1, PREAMBLE_BYTES - 1, PREAMBLE_BYTES, PREAMBLE_BYTES + 15, PREAMBLE_BYTES + SEALED_CHUNK_BYTES, sealed.length - 1];
    const lengths = fc.oneof(fc.constantFrom(...edges), fc.nat(sealed.length - 1));
    const property = fc.asyncProperty(lengths, async (length) => {
      await expect(open(sealed.subarray(0, length))).rejects.toMatchObject(damaged);
    });
    await fc.assert(property, { numRuns: 100 });
  });

  it('is rejected when its chunks are reordered, repeated, left out, or come from another file', async () => {
    const { preamble, chunks } = splitChunks(await seal(randomBytes(3 * CHUNK_BYTES)));
    const [a, b, c] = chunks as [Buffer, Buffer, Buffer];
    const foreign = splitChunks(await seal(randomBytes(3 * CHUNK_BYTES))).chunks;
    for (const changed of [[b, a, c], [a, a, b, c], [a, c], [b, c], [a, b], [a, b, c, c], [c], [a, foreign[1]!, c], foreign, []]) {
      await expect(open(Buffer.concat([preamble, ...changed]))).rejects.toMatchObject(damaged);
    }
  });

  it('names the key when it is another one, and the file when it is none or of a later format', async () => {
    const sealed = await seal(randomBytes(10));
    await expect(open(sealed, [], randomBytes(32))).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'BACKUP_KEY' });
    await expect(open(Buffer.from('PK\u0003\u0004 some other file'))).rejects.toMatchObject({
      message: expect.stringContaining('not a backup'),
    });
    const later = Buffer.from(sealed);
    later[later.indexOf('BACKUP') + 'BACKUP'.length] = 2;
    await expect(open(later)).rejects.toMatchObject({ message: expect.stringContaining('format 2') });
  });
});
