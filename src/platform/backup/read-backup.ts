import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { BSON, type Document } from 'mongodb';
import type { StoredCollection } from './database-reader.ts';
import { BACKUP_FORMAT, type BackupHeader } from './dump-database.ts';
import { damagedBackupError } from './format/backup-errors.ts';
import { DocumentsDigest } from './format/documents-digest.ts';
import { FRAME, type Frame, readFrames, splitDocuments } from './format/frames.ts';
import { decryptChunks, newerFormatError } from './format/stream-cipher.ts';

/** Gets what a backup holds, in its order. */
export interface BackupVisitor {
  onHeader?(header: BackupHeader): Promise<void> | void;
  onCollection?(collection: StoredCollection): Promise<void>;
  onDocuments?(name: string, raw: Buffer[]): Promise<void>;
  /** The documents of the collection have the counts and the digest of its end. */
  onCollectionEnd?(collection: StoredCollection, digest: CollectionDigest): Promise<void>;
}

export type CollectionDigest = Pick<DocumentsDigest, 'documents' | 'bytes' | 'sha256'>;

export interface BackupContents {
  header: BackupHeader;
  collections: number;
  documents: number;
  /** Of the documents, uncompressed. */
  bytes: number;
}

/** Reads a whole backup in bounded memory and checks all of it. @throws OracleError INPUT_INVALID, CONFIG_INVALID for another key */
export async function readBackup(path: string, key: Buffer, visitor: BackupVisitor = {}): Promise<BackupContents> {
  const state: ReadState = {
    header: null,
    collection: null,
    digest: new DocumentsDigest(),
    totals: { collections: 0, documents: 0, bytes: 0 },
  };
  let isComplete = false;
  await pipeline(
    createReadStream(path),
    (sealed: AsyncIterable<Buffer>) => decryptChunks(key, sealed),
    createGunzip(),
    async (plain: AsyncIterable<Buffer>) => {
      for await (const frame of readFrames(plain)) {
        if (isComplete) throw damagedBackupError('it goes on after its end');
        isComplete = await readFrame(frame, state, visitor);
      }
    },
  ).catch((error: unknown) => {
    throw isFileError(error) ? damagedBackupError(error.message, error) : error;
  });
  if (state.header === null || !isComplete) throw damagedBackupError('it has no end');
  return { header: state.header, ...state.totals };
}

/** Of the file system: it is missing, a folder, or not readable. */
const isFileError = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && 'syscall' in error;

/** The header alone: the rest is neither read nor checked. @throws OracleError as `readBackup` */
export async function readBackupHeader(path: string, key: Buffer): Promise<BackupHeader> {
  let found: BackupHeader | undefined;
  const stop = new Error('the header is read');
  const onHeader = (header: BackupHeader) => {
    found = header;
    throw stop;
  };
  await readBackup(path, key, { onHeader }).catch((error: unknown) => {
    if (error !== stop) throw error;
  });
  return found!;
}

interface ReadState {
  header: BackupHeader | null;
  collection: StoredCollection | null;
  digest: DocumentsDigest;
  totals: Omit<BackupContents, 'header'>;
}

/** Resolves to whether this was the last frame. */
async function readFrame({ kind, content }: Frame, state: ReadState, visitor: BackupVisitor): Promise<boolean> {
  if ((state.header === null) !== (kind === FRAME.header)) throw damagedBackupError('its frames are in no order that this version knows');
  const { collection } = state;
  switch (kind) {
    case FRAME.header:
      state.header = parseHeader(content);
      await visitor.onHeader?.(state.header);
      return false;
    case FRAME.collection:
      state.collection = BSON.deserialize(content) as StoredCollection;
      state.digest = new DocumentsDigest();
      await visitor.onCollection?.(state.collection);
      return false;
    case FRAME.documents: {
      const raw = [...splitDocuments(content)];
      for (const document of raw) state.digest.add(document);
      await visitor.onDocuments?.(collection!.name, raw);
      return false;
    }
    case FRAME.collectionEnd:
      requireSameDigest(state.digest, BSON.deserialize(content));
      addTotals(state);
      await visitor.onCollectionEnd?.(collection!, state.digest);
      return false;
    case FRAME.footer:
      requireSameTotals(state.totals, BSON.deserialize(content));
      return true;
  }
}

function parseHeader(content: Buffer): BackupHeader {
  const header = BSON.deserialize(content) as BackupHeader;
  if (header.format !== BACKUP_FORMAT) throw newerFormatError(header.format);
  return header;
}

function requireSameDigest(digest: DocumentsDigest, { name, documents, sha256 }: Document): void {
  if (digest.documents === documents && digest.sha256 === sha256) return;
  throw damagedBackupError(`the documents of ${name} are not those that were written`);
}

function addTotals({ totals, digest }: ReadState): void {
  totals.collections += 1;
  totals.documents += digest.documents;
  totals.bytes += digest.bytes;
}

function requireSameTotals(totals: ReadState['totals'], written: Document): void {
  const isSame = totals.collections === written.collections && totals.documents === written.documents && totals.bytes === written.bytes;
  if (!isSame) throw damagedBackupError('it lacks collections that were written');
}
