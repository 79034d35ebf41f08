import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { checkTarget, type TargetRules } from '../target.ts';
import { getErrorCode, openGuardedRequest, rejectOnAbort, timeoutError, unreachableError } from './guarded-request.ts';

export interface GetRequest {
  /** A client-supplied URL, checked right before the connection. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** A longer body breaks the request off. */
  maxBytes: number;
  /** Covers name lookup, connection, TLS, request and response. */
  timeoutMs: number;
  rules: TargetRules;
}

export interface GetResult {
  /** A redirect is a response like any other. */
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * The only way to read a client-supplied URL. Connects to an address checked for this request, which defeats DNS rebinding.
 * @throws OracleError INPUT_INVALID naming `url`; TARGET_UNREACHABLE, also for a body beyond `maxBytes`; RATE_LIMITED, with nothing sent
 */
export async function getGuarded({ url, headers, maxBytes, timeoutMs, rules }: GetRequest): Promise<GetResult> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const target = await rejectOnAbort(deadline, checkTarget(url, rules));
  // A compressed body could inflate beyond its limit.
  const request = openGuardedRequest(target, { method: 'GET', headers: { ...headers, 'Accept-Encoding': 'identity' } });
  return rejectOnAbort(deadline, readResponse(request, maxBytes)).finally(() => request.destroy());
}

function readResponse(request: ClientRequest, maxBytes: number): Promise<GetResult> {
  const { promise, resolve, reject } = Promise.withResolvers<GetResult>();
  const fail = (error?: unknown) => reject(unreachableError(getErrorCode(error)));
  request.on('error', fail).on('close', fail);
  request.on('response', (response) => {
    // From here on the body decides.
    request.off('close', fail);
    readBody(response, maxBytes).then((body) => resolve({ status: response.statusCode!, headers: response.headers, body }), fail);
  });
  request.end();
  return promise;
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw Object.assign(new Error('the body is too large'), { code: 'E_TOO_LARGE' });
    chunks.push(chunk);
  }
  if (!response.complete) throw timeoutError();
  return Buffer.concat(chunks);
}
