import { hexToBytes } from 'viem';
import { InvalidTimestampError, OtsReader } from './ots-bytes.ts';
import { SHA256_TAG } from './ots-operations.ts';
import { readTree, serializeTimestamp, type TimestampTree } from './ots-tree.ts';

/** `\0OpenTimestamps\0\0Proof\0`, eight bytes, and version 1. */
const HEADER = hexToBytes('0x004f70656e54696d657374616d7073000050726f6f6600bf89e2e884e8929401');
const DIGEST_BYTES = 32;

/** Of a proof of four calendars with much to spare. */
export const MAX_PROOF_BYTES = 65_536;

/** A detached timestamp file (`.ots`) of the file whose SHA-256 is the message. */
export function serializeOtsFile(tree: TimestampTree): Uint8Array {
  return Uint8Array.from([...HEADER, SHA256_TAG, ...tree.message, ...serializeTimestamp(tree)]);
}

/** @throws InvalidTimestampError for anything but a file of a SHA-256 digest */
export function parseOtsFile(bytes: Uint8Array): TimestampTree {
  if (bytes.length > MAX_PROOF_BYTES) throw new InvalidTimestampError(`the proof is longer than ${MAX_PROOF_BYTES} bytes`);
  const reader = new OtsReader(bytes);
  const header = reader.readBytes(HEADER.length);
  if (!header.every((byte, index) => byte === HEADER[index])) throw new InvalidTimestampError('it is no OpenTimestamps file of version 1');
  if (reader.readByte() !== SHA256_TAG) throw new InvalidTimestampError('the proof is not of a SHA-256 digest');
  const tree = readTree(reader, reader.readBytes(DIGEST_BYTES));
  reader.requireEnd();
  return tree;
}
