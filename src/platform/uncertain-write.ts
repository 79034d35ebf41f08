import { type Collection, type Document, type Filter, MongoServerSelectionError, type OptionalUnlessRequiredId } from 'mongodb';
import { isDatabaseUnreachable, isDuplicateKey } from './mongo.ts';

/**
 * Undoes a write after an error that leaves its outcome open: the reply may be lost, not the write. `undo` names only what this call
 * wrote; its own errors are dropped, since a lease then ends by itself.
 */
export async function undoIfUncertain<T>(write: Promise<T>, undo: () => Promise<unknown>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (isOutcomeUnknown(error)) await undo().catch(() => undefined);
    throw error;
  }
}

/** Repeats a write once whose reply is lost. Only for writes that have the same effect and result twice. */
export async function repeatIfUncertain<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isOutcomeUnknown(error)) throw error;
    return write();
  }
}

/** Inserts a document of which the first writer wins; a lost reply is read back by `token`, a field of a value that no other writer has. */
export async function insertFirst<Doc extends Document & { _id: string }>(
  collection: Collection<Doc>,
  doc: Doc,
  token: keyof Doc & string,
): Promise<boolean> {
  try {
    await repeatIfUncertain(() => collection.insertOne(doc as unknown as OptionalUnlessRequiredId<Doc>));
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const stored = await collection.findOne({ _id: doc._id, [token]: doc[token] } as unknown as Filter<Doc>, { projection: { _id: 1 } });
    return stored !== null;
  }
}

/** Whether the command was sent: without a server it never was. */
function isOutcomeUnknown(error: unknown): boolean {
  return isDatabaseUnreachable(error) && !(error instanceof MongoServerSelectionError);
}
