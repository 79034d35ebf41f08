import { OracleError, TransportError, toServiceProblem } from './errors.ts';

/** Sends a request and returns a response of any status, read to its end. @throws TransportError; the reason of the request's signal */
export type Send = (request: Request) => Promise<Response>;

export interface HttpOptions {
  /** In place of the global one, such as a client with a proxy. */
  fetch?: Send | undefined;
  /** Of a request with its body; default 10,000. */
  timeoutMs?: number | undefined;
  /** Of a body; default 16,000,000. */
  maxBytes?: number | undefined;
}

const BODILESS_STATUSES = [204, 205, 304];

/** Without redirects, which could lead a token to another host; with limits of time and size. */
export function createSend({ fetch = globalThis.fetch, timeoutMs = 10_000, maxBytes = 16_000_000 }: HttpOptions): Send {
  return async (request) => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const { status, statusText, headers, body } = await fetch(new Request(request, { signal, redirect: 'error' }));
      const content = BODILESS_STATUSES.includes(status) ? null : await readBytes(body, maxBytes);
      return new Response(content, { status, statusText, headers });
    } catch (cause) {
      if (request.signal.aborted) throw request.signal.reason;
      throw cause instanceof OracleError ? cause : toTransportError(request, cause);
    }
  };
}

async function readBytes(body: ReadableStream<Uint8Array<ArrayBuffer>> | null, maxBytes: number): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new TransportError(`The response has more than ${maxBytes} bytes: raise maxBytes, or ask for less`);
    chunks.push(chunk);
  }
  return new Blob(chunks);
}

function toTransportError({ method, url }: Request, cause: unknown): TransportError {
  const { origin, pathname } = new URL(url);
  const because = cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : String(cause);
  return new TransportError(`${method} ${pathname} at ${origin} failed: ${because}`, { cause });
}

/** JSON of a successful response. @throws ServiceProblem for another status; TransportError for other content */
export async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  const body = parseJson(text);
  if (!response.ok) throw toServiceProblem(response, body);
  if (body === undefined) throw new TransportError('The response is not JSON: is this the address of the service?');
  return body;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The address of a service without a slash at its end. @throws OracleError CONFIG_INVALID */
export function parseServiceUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.search === '' && parsed.hash === '') return url.replace(/\/+$/, '');
  throw new OracleError('CONFIG_INVALID', `url must be an http or https address such as https://oracle.example.org, not ${url}`, {
    field: 'url',
  });
}
