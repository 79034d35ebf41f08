import { createSocket } from 'node:dgram';
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { pipeline, type Readable, Transform } from 'node:stream';
import { connect } from 'node:tls';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** Three times the scorecard of a record of ten years. */
const MAX_BYTES = 16 * 2 ** 20;

/** Bounded, so that a server cannot exhaust the memory. @throws ResponseTooLargeError; Error for a truncated response or invalid JSON */
export async function readJson(response: Response, maxBytes = MAX_BYTES): Promise<unknown> {
  return (await readMeasuredJson(response, maxBytes)).value;
}

export async function readMeasuredJson(response: Response, maxBytes: number): Promise<{ value: unknown; bytes: number }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (bytes > maxBytes) throw new ResponseTooLargeError(`the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return { value: JSON.parse(new TextDecoder().decode(Buffer.concat(chunks))), bytes };
  } catch {
    throw new Error('the answer is no JSON');
  }
}

/** A server named by the operator or the user of a command, at any address, including this machine. */
export interface FetchTarget {
  /** Requests are restricted to the origin of this URL. */
  base: string | URL;
  timeoutMs: number;
  maxBytes: number;
}

export interface OutboundInit {
  method?: string;
  headers?: ConstructorParameters<typeof Headers>[0];
  body?: string | Uint8Array;
  signal?: AbortSignal | null;
}

export type OutboundFetch = (url: string | URL, init?: OutboundInit) => Promise<Response>;

// Not the global agents, which may take a proxy from the environment.
const KEEP_ALIVE = { keepAlive: true, maxFreeSockets: 32 } as const;
const agents = { http: new HttpAgent(KEEP_ALIVE), https: new HttpsAgent(KEEP_ALIVE) };

const MAX_HEADER_BYTES = 65_536;
/** "Null body status" of the Fetch standard. */
const BODILESS_STATUSES = [204, 205, 304];

/**
 * No redirects (a 3xx response is returned), no environment proxy, no retries, bounded size and time. Rejects with the socket's error,
 * `TimeoutError`, the signal's reason, or `Error` for another origin; a body beyond `maxBytes` with `ResponseTooLargeError`.
 */
export function createOperatorFetch(target: FetchTarget): OutboundFetch {
  const { origin } = new URL(target.base);
  return async (to, init = {}) => {
    const url = new URL(to);
    if (url.origin !== origin) throw new Error('the request leaves the configured origin');
    const exchange = new HttpExchange(url, init, target);
    return exchange.run();
  };
}

class HttpExchange {
  readonly #url: URL;
  readonly #init: OutboundInit;
  readonly #target: FetchTarget;
  readonly #answered = Promise.withResolvers<Response>();
  #current: ClientRequest | IncomingMessage | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(url: URL, init: OutboundInit, target: FetchTarget) {
    this.#url = url;
    this.#init = init;
    this.#target = target;
  }

  run(): Promise<Response> {
    const { signal } = this.#init;
    if (signal?.aborted) throw signal.reason;
    signal?.addEventListener('abort', this.#abort, { once: true });
    const { timeoutMs } = this.#target;
    this.#timer = setTimeout(() => this.#fail(new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError')), timeoutMs);
    this.#send();
    return this.#answered.promise;
  }

  #send(): void {
    const { method = 'GET', body } = this.#init;
    const headers = new Headers(this.#init.headers);
    if (!headers.has('accept-encoding')) headers.set('accept-encoding', 'gzip, br');
    if (body !== undefined) headers.set('content-length', String(Buffer.byteLength(body)));
    const isSecure = this.#url.protocol === 'https:';
    const request = (isSecure ? requestHttps : requestHttp)(this.#url, {
      method,
      headers: Object.fromEntries(headers),
      agent: isSecure ? agents.https : agents.http,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Explicit: an environment variable could disable it.
      ...(isSecure ? { rejectUnauthorized: true } : {}),
    });
    this.#current = request;
    request.on('response', (response) => this.#take(response));
    request.on('error', (error) => {
      this.#end();
      this.#answered.reject(error);
    });
    request.end(body);
  }

  #take(response: IncomingMessage): void {
    this.#current = response;
    response.once('close', () => this.#end());
    const status = response.statusCode ?? 0;
    const isBodiless = BODILESS_STATUSES.includes(status) || this.#init.method === 'HEAD';
    if (isBodiless) response.resume();
    try {
      const body = isBodiless ? null : toWebStream(limitBody(response, this.#target.maxBytes));
      this.#answered.resolve(new Response(body, { status, statusText: response.statusMessage, headers: copyHeaders(response) }));
    } catch (error) {
      // An invalid status or header.
      this.#answered.reject(error);
      response.destroy();
    }
  }

  readonly #abort = () => this.#fail(this.#init.signal?.reason);

  #fail(reason: Error): void {
    this.#end();
    this.#current?.destroy(reason);
    this.#answered.reject(reason);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#init.signal?.removeEventListener('abort', this.#abort);
  }
}

/** Instead of `Readable.toWeb`, which throws an uncaught error when a body is cancelled while data arrives. */
function toWebStream(readable: Readable): ReadableStream<Uint8Array> {
  const chunks = readable[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => void readable.destroy(),
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

function copyHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  return headers;
}

export class ResponseTooLargeError extends Error {}

/** As in browsers, a truncated stream yields its decoded part; the content length decides whether it was complete. */
const LENIENT_INFLATE = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };

/** The decoded body of a response, which fails with `ResponseTooLargeError` beyond `maxBytes`; a failure destroys the connection. */
function limitBody(response: IncomingMessage, maxBytes: number): Readable {
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

const PORT = 123;
const PACKET_BYTES = 48;
/** Version 4, client (RFC 4330, section 4). */
const REQUEST_HEADER = 0x23;
const TRANSMIT_OFFSET = 40;
/** Seconds from 1900 to 1970. */
const EPOCH_OFFSET_S = 2_208_988_800;

/** The server's clock minus ours, in milliseconds; half of the round trip is its error. @throws Error without a valid answer in time */
export function readSntpOffsetMs(host: string, { port = PORT, timeoutMs = 3_000 } = {}): Promise<number> {
  const socket = createSocket('udp4');
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  let sentAtMs = 0;
  socket.once('error', reject);
  socket.on('message', (packet) => {
    const middleMs = (sentAtMs + Date.now()) / 2;
    if (packet.length >= PACKET_BYTES && packet.readUInt32BE(TRANSMIT_OFFSET) > EPOCH_OFFSET_S) resolve(readTransmitMs(packet) - middleMs);
  });
  const request = Buffer.alloc(PACKET_BYTES);
  request[0] = REQUEST_HEADER;
  sentAtMs = Date.now();
  socket.send(request, port, host, (error) => error && reject(error));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.close();
  });
}

function readTransmitMs(packet: Buffer): number {
  const seconds = packet.readUInt32BE(TRANSMIT_OFFSET) - EPOCH_OFFSET_S;
  return 1_000 * (seconds + packet.readUInt32BE(TRANSMIT_OFFSET + 4) / 2 ** 32);
}

interface ServedCertificate {
  subject: string;
  validTo: Date;
}

/** The certificate of a server that the operator names, which must be valid for its name. @throws Error of TLS or the connection */
export function readCertificate({ hostname, port }: { hostname: string; port: number }, timeoutMs: number): Promise<ServedCertificate> {
  const { promise, resolve, reject } = Promise.withResolvers<ServedCertificate>();
  const socket = connect({ host: hostname, port, servername: hostname, rejectUnauthorized: true, timeout: timeoutMs }, () => {
    const { subject, valid_to: validTo } = socket.getPeerCertificate();
    resolve({ subject: String(subject?.CN ?? hostname), validTo: new Date(validTo) });
  });
  socket.once('timeout', () => reject(new Error(`no answer within ${timeoutMs} ms`)));
  socket.once('error', reject);
  return promise.finally(() => socket.destroy());
}
