import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';
import { BSON, type Document } from 'mongodb';
import { OracleError } from '../errors.ts';

/** A plain backup is a sequence of frames: kind (1 byte), length (4 bytes, big endian), content. Numbers are stored and never change. */
export const FRAME = { header: 1, collection: 2, documents: 3, collectionEnd: 4, footer: 5 } as const;

export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

export interface Frame {
  kind: FrameKind;
  content: Buffer;
}

const HEAD_BYTES = 5;
/** Above the largest document of MongoDB, 16 MB, and a batch. */
const MAX_CONTENT_BYTES = 2 ** 25;

export function encodeFrame(kind: FrameKind, content: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = kind;
  head.writeUInt32BE(
    content.reduce((sum, { length }) => sum + length, 0),
    1,
  );
  return Buffer.concat([head, ...content]);
}

export function encodeDocumentFrame(kind: FrameKind, document: Document): Buffer {
  return encodeFrame(kind, [Buffer.from(BSON.serialize(document))]);
}

/** @throws OracleError INPUT_INVALID for an unknown kind, and for a stream that ends within a frame */
export async function* readFrames(plain: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let pending: Buffer[] = [];
  let length = 0;
  let needed = HEAD_BYTES;
  for await (const part of plain) {
    pending.push(part);
    length += part.length;
    if (length < needed) continue;
    let rest = Buffer.concat(pending);
    for (needed = getFrameBytes(rest); rest.length >= needed; needed = getFrameBytes(rest)) {
      yield { kind: rest[0] as FrameKind, content: rest.subarray(HEAD_BYTES, needed) };
      rest = rest.subarray(needed);
    }
    [pending, length] = [[rest], rest.length];
  }
  if (length > 0) throw damagedBackupError('it ends within a frame');
}

/** Bytes of the frame that begins here, with its head; those of the head while that is incomplete. */
function getFrameBytes(bytes: Buffer): number {
  if (bytes.length < HEAD_BYTES) return HEAD_BYTES;
  const length = bytes.readUInt32BE(1);
  const isKnown = (Object.values(FRAME) as number[]).includes(bytes[0]!);
  if (!isKnown || length > MAX_CONTENT_BYTES) throw damagedBackupError('it has a frame that this version does not know');
  return HEAD_BYTES + length;
}

/** The raw documents of a frame, by the length that each begins with. */
export function* splitDocuments(content: Buffer): Generator<Buffer> {
  for (let offset = 0; offset < content.length; ) {
    const length = offset + 4 <= content.length ? content.readInt32LE(offset) : 0;
    if (length < 5 || offset + length > content.length) throw damagedBackupError('it has an incomplete document');
    yield content.subarray(offset, offset + length);
    offset += length;
  }
}

/** INPUT_INVALID; `why` completes "The backup cannot be used:". */
export function damagedBackupError(why: string, cause?: unknown): OracleError {
  return new OracleError('INPUT_INVALID', `The backup cannot be used: ${why}`, {
    field: 'file',
    suggestedAction: 'Take another copy of the file, or another backup. Nothing was written to a database.',
    cause,
  });
}

const MAGIC = Buffer.from('BTCORACLEBACKUP');
const CIPHER_VERSION = 1;
const SALT_BYTES = 32;
const CHECK_BYTES = 16;
const KEY_BYTES = 32;
const NONCE_PREFIX_BYTES = 7;
const TAG_BYTES = 16;
/** Plain bytes of every chunk but the last. */
export const CHUNK_BYTES = 65_536;
/** Unencrypted: magic, version, salt, and a value by which a wrong key is recognised. */
export const PREAMBLE_BYTES = MAGIC.length + 1 + SALT_BYTES + CHECK_BYTES;

interface FileKey {
  key: Buffer;
  noncePrefix: Buffer;
  check: Buffer;
}

/**
 * AES-256-GCM in chunks, by the STREAM construction (Hoang, Reyhanitabar, Rogaway and Vizár, 2015): the nonce of a chunk is a prefix, its number
 * and whether it is the last, so that chunks cannot be left out, repeated or moved. Each file has a key of its own, derived with a random salt.
 * @param key 32 bytes
 */
export async function* encryptChunks(key: Buffer, plain: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT_BYTES);
  const fileKey = deriveFileKey(key, salt);
  const preamble = Buffer.concat([MAGIC, Buffer.of(CIPHER_VERSION), salt, fileKey.check]);
  yield preamble;
  let index = 0;
  for await (const { block, isLast } of splitIntoBlocks(plain, CHUNK_BYTES)) {
    const cipher = createCipheriv('aes-256-gcm', fileKey.key, buildNonce(fileKey, index, isLast)).setAAD(preamble);
    yield Buffer.concat([cipher.update(block), cipher.final(), cipher.getAuthTag()]);
    index += 1;
  }
}

/** Yields a chunk only once it is authenticated. @throws OracleError CONFIG_INVALID for another key, INPUT_INVALID for a damaged file */
export async function* decryptChunks(key: Buffer, sealed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const source = sealed[Symbol.asyncIterator]();
  const { preamble, rest } = await readPreamble(source);
  const fileKey = deriveFileKey(key, preamble.subarray(MAGIC.length + 1, MAGIC.length + 1 + SALT_BYTES));
  if (!fileKey.check.equals(preamble.subarray(-CHECK_BYTES))) throw wrongKeyError();
  let index = 0;
  for await (const { block, isLast } of splitIntoBlocks(prepend(rest, source), CHUNK_BYTES + TAG_BYTES)) {
    yield decryptChunk(fileKey, { preamble, block, index, isLast });
    index += 1;
  }
}

function decryptChunk(
  fileKey: FileKey,
  { preamble, block, index, isLast }: { preamble: Buffer; block: Buffer; index: number; isLast: boolean },
): Buffer {
  const what = `it is altered or truncated in part ${index + 1}`;
  if (block.length < TAG_BYTES) throw damagedBackupError(what);
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv('aes-256-gcm', fileKey.key, buildNonce(fileKey, index, isLast), options).setAAD(preamble);
  decipher.setAuthTag(block.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(block.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw damagedBackupError(what, cause);
  }
}

function deriveFileKey(key: Buffer, salt: Buffer): FileKey {
  const length = KEY_BYTES + NONCE_PREFIX_BYTES + CHECK_BYTES;
  const derived = Buffer.from(hkdfSync('sha256', key, salt, 'bitcoin-signal-oracle/backup/v1', length));
  return {
    key: derived.subarray(0, KEY_BYTES),
    noncePrefix: derived.subarray(KEY_BYTES, KEY_BYTES + NONCE_PREFIX_BYTES),
    check: derived.subarray(-CHECK_BYTES),
  };
}

function buildNonce({ noncePrefix }: FileKey, index: number, isLast: boolean): Buffer {
  const position = Buffer.alloc(5);
  position.writeUInt32BE(index);
  position[4] = isLast ? 1 : 0;
  return Buffer.concat([noncePrefix, position]);
}

async function readPreamble(source: AsyncIterator<Buffer>): Promise<{ preamble: Buffer; rest: Buffer }> {
  let read = Buffer.alloc(0);
  while (read.length < PREAMBLE_BYTES) {
    const { value, done } = await source.next();
    if (done) break;
    read = Buffer.concat([read, value]);
  }
  if (!read.subarray(0, MAGIC.length).equals(MAGIC.subarray(0, read.length)))
    throw damagedBackupError('it is not a backup of this service');
  if (read.length < PREAMBLE_BYTES) throw damagedBackupError('it is truncated');
  if (read[MAGIC.length] !== CIPHER_VERSION) throw newerFormatError(read[MAGIC.length]!);
  return { preamble: read.subarray(0, PREAMBLE_BYTES), rest: read.subarray(PREAMBLE_BYTES) };
}

async function* prepend(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* { [Symbol.asyncIterator]: () => rest };
}

/** @param format as the file says */
export function newerFormatError(format: number): OracleError {
  return damagedBackupError(
    `it has format ${format}, and this version reads format 1: restore it with the version that wrote it, or a later one`,
  );
}

function wrongKeyError(): OracleError {
  return new OracleError('CONFIG_INVALID', 'Setting BACKUP_KEY: does not open this backup', {
    field: 'BACKUP_KEY',
    suggestedAction: 'Set BACKUP_KEY to what it was when the backup was made.',
  });
}

/** A stream in blocks of one size; the last may be shorter, and is empty for an empty stream. */
async function* splitIntoBlocks(source: AsyncIterable<Buffer>, size: number): AsyncGenerator<{ block: Buffer; isLast: boolean }> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const part of source) {
    parts.push(part);
    length += part.length;
    // A full block is kept until another byte shows that it is not the last.
    if (length <= size) continue;
    let all = Buffer.concat(parts);
    for (; all.length > size; all = all.subarray(size)) yield { block: all.subarray(0, size), isLast: false };
    [parts, length] = [[all], all.length];
  }
  yield { block: Buffer.concat(parts), isLast: true };
}

/** Count, size and digest of the raw documents of a collection in any order. Their ids differ, so that no two digests cancel out. */
export class DocumentsDigest {
  documents = 0;
  bytes = 0;
  readonly #sum = Buffer.alloc(32);

  add(raw: Uint8Array): void {
    this.documents += 1;
    this.bytes += raw.length;
    const digest = hash('sha256', raw, 'buffer');
    for (let index = 0; index < digest.length; index++) this.#sum[index]! ^= digest[index]!;
  }

  /** Hex. */
  get sha256(): string {
    return this.#sum.toString('hex');
  }
}

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
