import { isDeepStrictEqual } from 'node:util';
import type { Document } from 'mongodb';
import type { DatabaseReader, StoredCollection } from './database-reader.ts';
import { DocumentsDigest } from './format/documents-digest.ts';
import { encodeDocumentFrame, encodeFrame, FRAME } from './format/frames.ts';

export const BACKUP_FORMAT = 1;

/**
 * What makes a copy that was read piece by piece the state of a database whose processes were killed, without a snapshot. Everything the service
 * writes in several places is written cause first (intent, then effect), and each step may be repeated from any point between two writes. So a
 * copy is good when it has the cause of each effect that it has:
 * - effects are read before their causes. A cause read later is at least as new as all of its effects, and a missing effect is repeated;
 * - where causes and effects go in a circle (a forecast is the cause of a transaction, whose receipt goes into the forecast), no order does. Such
 *   collections are `stable`: they are read again after everything else, and a copy during which they have changed is thrown away.
 */
export interface CopyOrder {
  /** Read first, and again at the end. */
  stable: readonly string[];
  /** Effects, read next. Then come all that are not named. */
  early: readonly string[];
  /** Causes, read last, in this order. */
  late: readonly string[];
}

export interface DumpOptions {
  reader: DatabaseReader;
  order: CopyOrder;
  /** Facts of the stable collections and of the deployment; written into the header. */
  describe(): Promise<Document>;
}

export interface BackupHeader extends Document {
  format: number;
  createdAt: Date;
  consistency: DatabaseReader['consistency'];
}

/** Stable collections have changed while they were copied: try again. */
export class ChangedDuringCopyError extends Error {}

const MAX_BATCH_BYTES = 262_144;

/** The frames of a backup. @throws ChangedDuringCopyError, errors of the driver */
export async function* dumpDatabase({ reader, order, describe }: DumpOptions): AsyncGenerator<Buffer> {
  const described = await describe();
  yield encodeDocumentFrame(FRAME.header, { format: BACKUP_FORMAT, createdAt: new Date(), consistency: reader.consistency, ...described });
  const totals = { collections: 0, documents: 0, bytes: 0 };
  const digests = new Map<string, string>();
  for (const collection of sortCollections(await reader.listCollections(), order)) {
    const digest = yield* dumpCollection(reader, collection);
    digests.set(collection.name, digest.sha256);
    totals.collections += 1;
    totals.documents += digest.documents;
    totals.bytes += digest.bytes;
  }
  if (reader.consistency === 'ordered') await requireUnchanged({ reader, order, describe }, described, digests);
  yield encodeDocumentFrame(FRAME.footer, totals);
}

function sortCollections(collections: readonly StoredCollection[], { stable, early, late }: CopyOrder): StoredCollection[] {
  const ranked = [...stable, ...early];
  const rank = ({ name }: StoredCollection) => {
    if (late.includes(name)) return ranked.length + 1 + late.indexOf(name);
    return ranked.includes(name) ? ranked.indexOf(name) : ranked.length;
  };
  return collections.toSorted((a, b) => rank(a) - rank(b));
}

async function* dumpCollection(reader: DatabaseReader, collection: StoredCollection): AsyncGenerator<Buffer, DocumentsDigest> {
  yield encodeDocumentFrame(FRAME.collection, collection);
  const digest = new DocumentsDigest();
  let batch: Buffer[] = [];
  let batchBytes = 0;
  for await (const raw of reader.readDocuments(collection.name)) {
    digest.add(raw);
    batch.push(raw);
    batchBytes += raw.length;
    if (batchBytes < MAX_BATCH_BYTES) continue;
    yield encodeFrame(FRAME.documents, batch);
    [batch, batchBytes] = [[], 0];
  }
  if (batch.length > 0) yield encodeFrame(FRAME.documents, batch);
  const { documents, bytes, sha256 } = digest;
  yield encodeDocumentFrame(FRAME.collectionEnd, { name: collection.name, documents, bytes, sha256 });
  return digest;
}

async function requireUnchanged(
  { reader, order, describe }: DumpOptions,
  described: Document,
  digests: ReadonlyMap<string, string>,
): Promise<void> {
  for (const name of order.stable) {
    const digest = new DocumentsDigest();
    for await (const raw of reader.readDocuments(name)) digest.add(raw);
    if (digest.sha256 !== (digests.get(name) ?? new DocumentsDigest().sha256)) throw new ChangedDuringCopyError(`${name} has changed`);
  }
  if (!isDeepStrictEqual(await describe(), described)) throw new ChangedDuringCopyError('The record has changed');
}
