import { BSON, type Document } from 'mongodb';

/** OP_MSG of the MongoDB wire protocol. */
const OP_MSG = 2013;
/** Header, flag bits and the kind byte of the first section. */
const BODY_OFFSET = 21;
const STRING_TYPE = 2;

export interface WireCommand {
  requestId: number;
  /** Name of the command, e.g. `findAndModify`; empty for other operations than OP_MSG. */
  name: string;
  collection: string;
}

/** Splits a stream into whole messages, by the length each begins with. */
export function createFrameReader(): (chunk: Buffer) => Buffer[] {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const frames: Buffer[] = [];
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      frames.push(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    return frames;
  };
}

export function parseCommand(frame: Buffer): WireCommand {
  const requestId = frame.readInt32LE(4);
  if (frame.readInt32LE(12) !== OP_MSG) return { requestId, name: '', collection: '' };
  const nameEnd = frame.indexOf(0, BODY_OFFSET + 5);
  const name = frame.toString('utf8', BODY_OFFSET + 5, nameEnd);
  const isString = frame[BODY_OFFSET + 4] === STRING_TYPE;
  const collection = isString ? frame.toString('utf8', nameEnd + 5, nameEnd + 4 + frame.readInt32LE(nameEnd + 1)) : '';
  return { requestId, name, collection };
}

export const getResponseTo = (frame: Buffer): number => frame.readInt32LE(8);

export function buildReply(responseTo: number, body: Document): Buffer {
  const bytes = BSON.serialize(body);
  const frame = Buffer.alloc(BODY_OFFSET + bytes.length);
  frame.writeInt32LE(frame.length, 0);
  frame.writeInt32LE(responseTo, 8);
  frame.writeInt32LE(OP_MSG, 12);
  frame.set(bytes, BODY_OFFSET);
  return frame;
}
