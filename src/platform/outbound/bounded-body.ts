import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** An answer that is longer than its reader takes. */
export class ResponseTooLargeError extends Error {}

/** As browsers do: an answer that breaks off gives what was in it until then, and its length decides whether that was all. */
const LENIENT_INFLATE = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };

/** The decoded body of an answer, which fails with `AnswerTooLong` beyond `maxBytes`; a failure destroys the connection. */
export function limitBody(response: IncomingMessage, maxBytes: number): Readable {
  const stages = [response, ...createDecoders(response), createByteLimit(maxBytes)];
  const body = pipeline(stages, () => undefined) as unknown as Readable;
  // It carries the error to its reader, who may not have begun to read.
  return body.on('error', () => undefined);
}

function createDecoders({ headers }: IncomingMessage): Transform[] {
  switch (headers['content-encoding']?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return [createGunzip(LENIENT_INFLATE)];
    case 'deflate':
      return [createInflate(LENIENT_INFLATE)];
    case 'br':
      return [createBrotliDecompress()];
    default:
      return [];
  }
}

function createByteLimit(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new ResponseTooLargeError(`the answer is longer than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
}
