import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { OracleError } from '../../errors.ts';
import { damagedBackupError } from './backup-errors.ts';
import { splitIntoBlocks } from './blocks.ts';

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
