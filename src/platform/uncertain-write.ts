import { type Collection, type Filter, MongoServerSelectionError, type OptionalUnlessRequiredId } from 'mongodb';
import { isDatabaseUnreachable, isFirstWrite } from './mongo.ts';
import { attemptAndKeepTrying } from './retry-unavailable.ts';

/** About the time after which leases end by themselves. */
const UNDO_FOR_MS = 15_000;

/** Undoes a write after an error that leaves its outcome open: the reply may be lost, not the write. @param undo only of what this call wrote */
export async function undoIfUncertain<T>(write: Promise<T>, undo: () => Promise<unknown>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (isOutcomeUnknown(error)) await attemptAndKeepTrying(undo, UNDO_FOR_MS);
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

/** Reads a write back whose reply is lost, and repeats it when it was not done. @param readBack null when it was not */
export async function confirmIfUncertain<T>(write: () => Promise<T>, readBack: () => Promise<T | null>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isOutcomeUnknown(error)) throw error;
    return (await readBack()) ?? write();
  }
}

/** Whether a document was inserted of which the first writer wins. @param own field of a value that no other writer has */
export function insertFirst<Doc extends { _id: string }>(collection: Collection<Doc>, doc: Doc, own: keyof Doc & string): Promise<boolean> {
  return confirmIfUncertain(
    () => isFirstWrite(collection.insertOne(doc as unknown as OptionalUnlessRequiredId<Doc>)),
    async () => {
      const filter = { _id: doc._id, [own]: doc[own] } as unknown as Filter<Doc>;
      return (await collection.findOne(filter, { projection: { _id: 1 } })) === null ? null : true;
    },
  );
}

/** Whether the command was sent: without a server it never was. */
function isOutcomeUnknown(error: unknown): boolean {
  return isDatabaseUnreachable(error) && !(error instanceof MongoServerSelectionError);
}
