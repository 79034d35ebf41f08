import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const ENCODINGS = ['br', 'gzip'] as const;

export type ContentEncoding = (typeof ENCODINGS)[number];

/** Below this size the headers of a compressed response outweigh the saving. */
export const MIN_COMPRESSED_BYTES = 1_024;

/** Above this size Brotli at maximum quality takes seconds. */
const MAX_BEST_QUALITY_BYTES = 262_144;

/** A text that is constant within a process, encoded to bytes once and compressed once per content coding. */
export class EncodedText {
  readonly bytes: Buffer;
  readonly #encoded = new Map<ContentEncoding, Promise<Buffer>>();

  /** @param brotli the text that was compressed before */
  constructor(text: string, brotli?: Buffer) {
    this.bytes = Buffer.from(text);
    if (brotli !== undefined) this.#encoded.set('br', Promise.resolve(brotli));
  }

  /** Negotiates the content coding by the `Accept-Encoding` header; null: identity. */
  chooseEncoding(acceptEncoding: string | undefined): ContentEncoding | null {
    return acceptEncoding === undefined || this.bytes.length < MIN_COMPRESSED_BYTES ? null : preferredEncoding(acceptEncoding);
  }

  encode(encoding: ContentEncoding): Promise<Buffer> {
    const encoded = this.#encoded.get(encoding) ?? COMPRESS[encoding](this.bytes);
    this.#encoded.set(encoding, encoded);
    return encoded;
  }
}

/** RFC 9110, section 12.5.3. Brotli wins a tie: Express `acceptsEncodings` takes the first of the header, gzip in browsers. */
export function preferredEncoding(acceptEncoding: string): ContentEncoding | null {
  const getWeight = parseWeights(acceptEncoding);
  const best = getWeight('br') >= getWeight('gzip') ? 'br' : 'gzip';
  return getWeight(best) > 0 ? best : null;
}

/** For content that has no other coding: whether `Accept-Encoding` admits this one. */
export function acceptsEncoding(acceptEncoding: string, encoding: ContentEncoding): boolean {
  return parseWeights(acceptEncoding)(encoding) > 0;
}

function parseWeights(acceptEncoding: string): (encoding: ContentEncoding) => number {
  const weights = new Map(acceptEncoding.split(',').map(parseWeight));
  return (encoding) => weights.get(encoding) ?? weights.get('*') ?? 0;
}

function parseWeight(element: string): [name: string, weight: number] {
  const [name = '', ...parameters] = element.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  return [name, q === undefined ? 1 : Number(q.slice(2)) || 0];
}

const brotli = promisify(brotliCompress);
const gzipBytes = promisify(gzip);

const COMPRESS: Record<ContentEncoding, (bytes: Buffer) => Promise<Buffer>> = {
  br(bytes) {
    const quality = bytes.length <= MAX_BEST_QUALITY_BYTES ? constants.BROTLI_MAX_QUALITY : 7;
    return brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
  },
  gzip: (bytes) => gzipBytes(bytes, { level: constants.Z_BEST_COMPRESSION }),
};
