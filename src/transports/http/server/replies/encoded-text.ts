import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const ENCODINGS = ['br', 'gzip'] as const;

export type ContentEncoding = (typeof ENCODINGS)[number];

/** Below it the headers would take what compression saves. */
const MIN_COMPRESSED_BYTES = 1_024;

/** Above it the best quality of Brotli takes seconds. */
const MAX_BEST_QUALITY_BYTES = 131_072;

/** A text that stays the same for as long as the process runs: its bytes are made once, and compressed once by each encoding. */
export class EncodedText {
  readonly bytes: Buffer;
  readonly #encoded = new Map<ContentEncoding, Promise<Buffer>>();

  constructor(text: string) {
    this.bytes = Buffer.from(text);
  }

  /** The encoding that a client gets; null: the bytes as they are. @param acceptEncoding the header of its request */
  chooseEncoding(acceptEncoding: string | undefined): ContentEncoding | null {
    return acceptEncoding === undefined || this.bytes.length < MIN_COMPRESSED_BYTES ? null : preferredEncoding(acceptEncoding);
  }

  /** The compressed bytes, the same ones for all callers. */
  encode(encoding: ContentEncoding): Promise<Buffer> {
    const encoded = this.#encoded.get(encoding) ?? COMPRESS[encoding](this.bytes);
    this.#encoded.set(encoding, encoded);
    return encoded;
  }
}

/** Brotli where its weight is not below that of gzip (RFC 9110, section 12.5.3); null where neither is accepted. */
export function preferredEncoding(acceptEncoding: string): ContentEncoding | null {
  const weights = new Map(acceptEncoding.split(',').map(parseWeight));
  const weightOf = (encoding: ContentEncoding) => weights.get(encoding) ?? weights.get('*') ?? 0;
  const [best, other] = weightOf('br') >= weightOf('gzip') ? ENCODINGS : ENCODINGS.toReversed();
  return [best!, other!].find((encoding) => weightOf(encoding) > 0) ?? null;
}

function parseWeight(element: string): [name: string, weight: number] {
  const [name = '', ...parameters] = element.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  const weight = q === undefined ? 1 : Number(q.slice(2));
  return [name, Number.isNaN(weight) ? 0 : weight];
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
