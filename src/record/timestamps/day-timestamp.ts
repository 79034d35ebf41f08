import { Binary } from 'mongodb';
import { type Hex, hexToBytes } from 'viem';
import { listStampedBlocks } from '../../verify/checks/independent-time.ts';
import type { ServedTimestamp } from '../../verify/evidence.ts';
import { serializeOtsFile } from '../../verify/timestamps/ots-file.ts';
import { mergeTimestamps, parseTimestamp } from '../../verify/timestamps/ots-tree.ts';
import type { CalendarState, TimestampDoc } from './timestamp-doc.ts';

/** The proofs of all calendars as one file, and the blocks that it names. */
export function buildDayProof(digest: Hex, calendars: readonly CalendarState[]): Pick<TimestampDoc, 'proof' | 'blocks'> {
  const message = hexToBytes(digest);
  const [first, ...others] = calendars.flatMap(({ proof }) => (proof === null ? [] : [parseTimestamp(proof.buffer, message)]));
  if (first === undefined) return { proof: null, blocks: [] };
  const merged = others.reduce(mergeTimestamps, first);
  return { proof: new Binary(serializeOtsFile(merged)), blocks: listStampedBlocks(merged) };
}

/** The exact bytes of the document and of its `.ots` file. */
export function toServedTimestamp({ document, proof }: Pick<TimestampDoc, 'document' | 'proof'>): ServedTimestamp {
  return { document, proof: proof === null ? null : proof.buffer };
}
