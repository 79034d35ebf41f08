import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

export class ResponseTooLargeError extends Error {}

/** As in browsers, a truncated stream yields its decoded part; the content length decides whether it was complete. */
const LENIENT_INFLATE = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };

/** The decoded body of a response, which fails with `ResponseTooLargeError` beyond `maxBytes`; a failure destroys the connection. */
export function limitBody(response: IncomingMessage, maxBytes: number): Readable {
  const stages = [response, ...createDecoders(response), createByteLimit(maxBytes)];
  const body = pipeline(stages, () => undefined) as unknown as Readable;
  // The reader gets the error, possibly before it begins to read.
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
