import { hexToBytes } from 'viem';
import type { ServedTimestamp } from '../../verify/evidence.ts';
import { serializeOtsFile } from '../../verify/timestamps/ots-file.ts';
import { mergeTimestamps, parseTimestamp, type TimestampTree } from '../../verify/timestamps/ots-tree.ts';
import type { TimestampDoc } from './timestamp-doc.ts';

/** The proofs of all calendars as one; null while there is none. */
export function mergeProofs({ digest, calendars }: TimestampDoc): TimestampTree | null {
  const message = hexToBytes(digest);
  const trees = calendars.flatMap(({ proof }) => (proof === null ? [] : [parseTimestamp(proof.buffer, message)]));
  const [first, ...others] = trees;
  return first === undefined ? null : others.reduce(mergeTimestamps, first);
}

/** The exact bytes of the document and of its `.ots` file. */
export function toServedTimestamp(doc: TimestampDoc): ServedTimestamp {
  const tree = mergeProofs(doc);
  return { document: doc.document, proof: tree === null ? null : serializeOtsFile(tree) };
}
