import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { joinUrl } from '../platform/service-client.ts';
import { requireSendCapacity } from './admission.ts';
import { isCompressible } from './request.ts';

/** A body that is read while it is sent, at the pace of the client. */
export interface StreamedBody {
  /** Length in this coding. */
  bytes: number;
  /** Content coding; null: identity. */
  encoding: string | null;
  read(): AsyncIterable<Buffer>;
}

/** `raw` is sent unchanged under the `Content-Type` of `headers`; `encoded` in the negotiated coding, with the `ETag` of `headers`. */
export type Reply<B = unknown> = { status?: number; headers?: Record<string, string> } & (
  | { body: B }
  | { raw: string }
  | { encoded: EncodedText }
  | { streamed: StreamedBody }
);

export const CANONICAL_RULE = '`Link` names the canonical address (RFC 6596).';

/** Of a reply at another path than its own. */
export function buildCanonicalLink(publicUrl: string, path: string): { Link: string } {
  return { Link: `<${joinUrl(publicUrl, path)}>; rel="canonical"` };
}

/** `Link` header with `rel="next"` (RFC 8288). @param next query of the next page; null on the last page */
export function buildNextPageHeaders(
  publicUrl: string,
  path: string,
  next: Record<string, string | number> | null,
): Record<string, string> {
  if (next === null) return {};
  const query = new URLSearchParams(Object.entries(next).map(([name, value]): [string, string] => [name, String(value)]));
  return { Link: `<${publicUrl.replace(/\/$/, '')}${path}?${query}>; rel="next"` };
}

/** A cacheable reply that is constant within a process: rendered, tagged and compressed on the first request. A failed build is retried. */
export function createStaticReply(
  buildText: () => string,
  buildHeaders: () => Record<string, string>,
  buildEtag: (text: string) => string = buildStrongEtag,
): () => Reply<never> {
  return once(() => {
    const text = buildText();
    return { headers: { ...buildHeaders(), ETag: buildEtag(text) }, encoded: new EncodedText(text) };
  });
}

/** A binary file, read on the first request. */
export function createFileReply(file: URL, headers: Record<string, string>): () => Reply<never> {
  return once(() => {
    const bytes = readFileSync(file);
    async function* read() {
      yield bytes;
    }
    return { headers: { ...headers, ETag: buildStrongEtag(bytes) }, streamed: { bytes: bytes.length, encoding: null, read } };
  });
}

function once<T>(build: () => T): () => T {
  let built: T | undefined;
  return () => (built ??= build());
}

/** Members that change with time alone. */
const VOLATILE_MEMBERS = new Set(['timestamp', 'asOf', 'ageSeconds', 'ageDays']);

export function buildWeakEtag(body: object): string {
  const stable = JSON.stringify(body, (name, value) => (VOLATILE_MEMBERS.has(name) ? undefined : value));
  return `W/"${digest(stable)}"`;
}

/** Strong entity tag: equal tags, equal bytes. */
export function buildStrongEtag(text: string | Buffer): string {
  return `"${digest(text)}"`;
}

/** Whether `If-None-Match` lists this tag, by the weak comparison of RFC 9110, section 8.8.3.2. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag));
}

function digest(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** A JSON reply with the weak entity tag of its body. */
export function toTaggedReply<B extends object>(body: B, headers: Record<string, string> = {}) {
  return { headers: { ...headers, ETag: buildWeakEtag(body) }, body };
}

/**
 * The offered media type of the highest quality in an `Accept` header (RFC 9110, section 12.5.1); the first offer wins a tie, and where
 * none is acceptable. Express `accepts` decides ties by the header, and rejects `text/markdown; charset=utf-8`, which clients send.
 */
export function negotiateMediaType<Type extends string>(accept: string, offered: readonly [Type, ...Type[]]): Type {
  const qualities = new Map<string, number>();
  for (const item of accept.split(',')) {
    const [range, ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const text = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    // 1 where the parameter is absent or malformed.
    const quality = text !== undefined && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 1;
    if (!qualities.has(range)) qualities.set(range, quality);
  }
  // Of the most specific range that matches; 0 without a match.
  const getQuality = (type: string) => qualities.get(type) ?? qualities.get(`${type.split('/')[0]}/*`) ?? qualities.get('*/*') ?? 0;
  const rated = offered.map((type) => ({ type, quality: getQuality(type) }));
  return rated.reduce((best, candidate) => (candidate.quality > best.quality ? candidate : best)).type;
}

/** Text and tag of a reply, made once. */
export function encodeReply(reply: Reply, { app }: Response): Exclude<Reply, { body: unknown } | { raw: string }> {
  if ('encoded' in reply || 'streamed' in reply) return reply;
  const { status, headers } = reply;
  const isJson = 'body' in reply;
  const text = isJson ? JSON.stringify(reply.body) : reply.raw;
  const own = { 'Content-Type': isJson ? 'application/json' : 'text/html', ETag: app.get('etag fn')(text, 'utf8') as string };
  return {
    ...(status === undefined ? {} : { status }),
    headers: { ...own, ...headers },
    encoded: new EncodedText(text, { isConstant: false }),
  };
}

/**
 * Sends a reply, or returns the function that streams its body.
 * @param keep gets the content of a 200 that is sent whole, once all headers are set
 */
export async function sendReply(request: Request, response: Response, reply: Reply, keep?: (content: Buffer) => void) {
  if ('body' in reply && reply.body === undefined)
    return void response
      .status(reply.status ?? 200)
      .set(reply.headers ?? {})
      .end();
  const { status = 200, headers = {}, ...body } = encodeReply(reply, response);
  const { Vary: varyOn, ...others } = headers;
  const isUnchanged = isNotModified(request, status, headers);
  if (isUnchanged || 'streamed' in body) {
    response.status(isUnchanged ? 304 : status).set(others);
    if (varyOn !== undefined) response.vary(varyOn);
    if ('streamed' in body && !isUnchanged) return () => streamBody(request, response, body.streamed);
    return void response.end();
  }
  const { encoded } = body;
  const isNegotiated = encoded.isConstant || isCompressible(request, headers['Content-Type']);
  const encoding = isNegotiated ? encoded.chooseEncoding(request.get('Accept-Encoding')) : null;
  const content = encoding === null ? encoded.bytes : await encoded.encode(encoding);
  if (request.method !== 'HEAD') await requireSendCapacity(request.socket, content.length);
  response.status(status).set(others);
  // Added to the `Vary` that the guard and the content coding set.
  if (varyOn !== undefined) response.vary(varyOn);
  if (isNegotiated) response.vary('Accept-Encoding');
  if (encoding !== null) response.setHeader('Content-Encoding', encoding);
  // Keeps the compression middleware from encoding the body again, as `Content-Encoding` does.
  response.setHeader('Content-Length', content.length);
  if (status === 200) keep?.(content);
  return void response.end(content);
}

/** RFC 9110, section 13.2.2. Express `request.fresh` is false under `Cache-Control: no-cache`, which fetch adds beside `If-None-Match`. */
function isNotModified(request: Request, status: number, headers: Readonly<Record<string, string>>): boolean {
  if (status >= 300 || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
  const ifNoneMatch = request.get('If-None-Match');
  if (ifNoneMatch !== undefined) return headers.ETag !== undefined && matchesEtag(ifNoneMatch, headers.ETag);
  const [modified, since] = [headers['Last-Modified'], request.get('If-Modified-Since')];
  return modified !== undefined && since !== undefined && Date.parse(modified) <= Date.parse(since);
}

/** Memory is reserved for each part alone. A failure after the headers resets the connection: the client sees that the body is incomplete. */
async function streamBody(request: Request, response: Response, { bytes, encoding, read }: StreamedBody): Promise<void> {
  if (encoding !== null) response.setHeader('Content-Encoding', encoding);
  response.setHeader('Content-Length', bytes);
  // Otherwise the compression middleware would encode the parts for each request.
  response.setHeader('Cache-Control', `${response.getHeader('Cache-Control')}, no-transform`);
  if (request.method === 'HEAD') return void response.end();
  try {
    await pipeline(reserveEach(request.socket, read()), response);
  } catch (error) {
    if (!response.headersSent) throw error;
    request.socket.destroy();
  }
}

async function* reserveEach(socket: object, parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const part of parts) {
    await requireSendCapacity(socket, part.length);
    yield part;
  }
}

const ENCODINGS = ['br', 'gzip'] as const;

type ContentEncoding = (typeof ENCODINGS)[number];

/** Below this size the headers of a compressed response outweigh the saving. */
export const MIN_COMPRESSED_BYTES = 1_024;

/** Above this size Brotli at maximum quality takes seconds. */
const MAX_BEST_QUALITY_BYTES = 262_144;

/** A text that is sent several times, encoded to bytes once and compressed once per content coding. */
export class EncodedText {
  readonly bytes: Buffer;
  /** Within a process, for all callers: compressed at the best quality. */
  readonly isConstant: boolean;
  readonly #encoded = new Map<ContentEncoding, Promise<Buffer>>();

  /** @param brotli the text that was compressed before */
  constructor(text: string, { brotli, isConstant = true }: { brotli?: Buffer; isConstant?: boolean } = {}) {
    this.bytes = Buffer.from(text);
    this.isConstant = isConstant;
    if (brotli !== undefined) this.#encoded.set('br', Promise.resolve(brotli));
  }

  /** Negotiates the content coding by the `Accept-Encoding` header; null: identity. */
  chooseEncoding(acceptEncoding: string | undefined): ContentEncoding | null {
    return acceptEncoding === undefined || this.bytes.length < MIN_COMPRESSED_BYTES ? null : preferredEncoding(acceptEncoding);
  }

  encode(encoding: ContentEncoding): Promise<Buffer> {
    const encoded = this.#encoded.get(encoding) ?? COMPRESS[encoding](this.bytes, this.isConstant);
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

/** The first quality with a context model: a twentieth smaller than the default of 4, in about the same time; beyond it little is gained. */
export const QUICK_BROTLI_QUALITY = 5;

const COMPRESS: Record<ContentEncoding, (bytes: Buffer, isConstant: boolean) => Promise<Buffer>> = {
  br(bytes, isConstant) {
    const best = bytes.length <= MAX_BEST_QUALITY_BYTES ? constants.BROTLI_MAX_QUALITY : 7;
    const quality = isConstant ? best : QUICK_BROTLI_QUALITY;
    return brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
  },
  gzip: (bytes, isConstant) => gzipBytes(bytes, { level: isConstant ? constants.Z_BEST_COMPRESSION : constants.Z_DEFAULT_COMPRESSION }),
};
