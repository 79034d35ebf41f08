import { BSON, type Document } from 'mongodb';
import { damagedBackupError } from './backup-errors.ts';

const EXACT_TYPES = { promoteValues: false, promoteLongs: false, promoteBuffers: false, bsonRegExp: true } as const;
const OBJECT_TYPE = 3;
const ARRAY_TYPE = 4;

/** A document that the driver serializes to the same bytes. @throws OracleError INPUT_INVALID where that is impossible */
export function decodeExactly(raw: Uint8Array): Document {
  const decoded = BSON.deserialize(raw, EXACT_TYPES);
  if (isSame(decoded, raw)) return decoded;
  // Objects order keys such as `7` first; the driver serializes a Map in the order of its entries.
  const ordered = toOrderedMap(raw);
  if (isSame(ordered, raw)) return ordered;
  throw damagedBackupError('it has a document with a deprecated type that the driver cannot write');
}

function isSame(document: Document, raw: Uint8Array): boolean {
  return Buffer.compare(BSON.serialize(document), raw) === 0;
}

function toOrderedMap(raw: Uint8Array): Map<string, unknown> {
  const entries = Array.from(BSON.onDemand.parseToElements(raw), ([type, nameOffset, nameLength, offset, length]) => {
    const name = Buffer.from(raw.subarray(nameOffset, nameOffset + nameLength)).toString('utf8');
    return [name, toOrderedValue(type, raw.subarray(offset, offset + length))] as const;
  });
  return new Map(entries);
}

function toOrderedValue(type: number, value: Uint8Array): unknown {
  if (type === OBJECT_TYPE) return toOrderedMap(value);
  if (type === ARRAY_TYPE) return [...toOrderedMap(value).values()];
  const head = Buffer.from([0, 0, 0, 0, type, 0x76, 0]);
  const single = Buffer.concat([head, value, Buffer.of(0)]);
  single.writeInt32LE(single.length);
  return BSON.deserialize(single, EXACT_TYPES).v;
}
