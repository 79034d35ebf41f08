import { Message } from '@a2a-js/sdk';

/** What an anonymous message counts for, in bytes: storage is limited in these units. */
const STORAGE_UNIT_BYTES = 4_096;
/** What the service adds to a message: states, answers and errors, compressed. */
const RESPONSE_BYTES = 2_048;

/** Units of storage that a message and its answer are counted for, at least 1. */
export function countStorageUnits(message: Message): number {
  return Math.ceil((Buffer.byteLength(JSON.stringify(Message.toJSON(message))) + RESPONSE_BYTES) / STORAGE_UNIT_BYTES);
}
