import { BSON, type Document } from 'mongodb';
import { damagedBackupError } from './backup-errors.ts';

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
