import { pipeline } from 'node:stream/promises';
import type { Express, Request, Response } from 'express';
import { type Caller, isPublicCaller } from '../../../auth/caller.ts';
import type { RequestContext } from '../../../auth/request-context.ts';
import { OracleError } from '../../../platform/errors.ts';
import { parseRequest } from './parsing/parse-request.ts';
import { readBody } from './parsing/read-body.ts';
import { sendProblem } from './problems/problem.ts';
import { setProblemMembers } from './problems/problem-members.ts';
import { markReusable } from './replies/answer-cache.ts';
import { matchesEtag } from './replies/etag.ts';
import type { TierReplies } from './replies/tier-replies.ts';
import { MEMOISED_UNITS, type Reply, type Route, type StreamedBody } from './route.ts';
import { requireSendCapacity } from './security/admission.ts';
import { getRequestSource } from './security/request-log.ts';

export type GuardedRoute = Pick<Route, 'access' | 'cost' | 'boughtAs' | 'isSold' | 'deliversPaid' | 'ownerOnly' | 'ownPagesOnly'> & {
  units?: Units;
};

/** Of the rate limit, by the caller where its tier decides. */
export type Units = Route['units'] | ((caller: Caller) => number | undefined);

export type HandleAdmitted<T> = (context: RequestContext) => Promise<T> | T;

/**
 * Authenticates a request, applies its limits and runs its handler as a unit of work.
 * @throws OracleError UNAUTHENTICATED, TIER_REQUIRED, RATE_LIMITED, OVERLOADED; errors of the handler
 */
export type Guard = <T>(
  route: GuardedRoute,
  request: Request,
  response: Response,
  handle: HandleAdmitted<T>,
  /** Whether the request carries a payment, where that is in its body. */
  carriesPayment?: () => Promise<boolean>,
) => Promise<T>;

/** Mounts routes; any other method on their paths answers 405. @param tierReplies null: no reply is shared */
export function mountRoutes(app: Express, routes: readonly Route[], guard: Guard, tierReplies: TierReplies | null): void {
  const byPath = Map.groupBy(routes, ({ path }) => path.replaceAll(/\{(\w+)\}/g, ':$1'));
  for (const [path, operations] of byPath) {
    for (const operation of operations)
      app[operation.method](path, (request, response) => handleRequest(operation, { guard, tierReplies }, request, response));
    // Not `app.all`, which adds a handler for each of 35 methods.
    app.route(path).all((request, response) => rejectMethod(operations, guard, request, response));
  }
}

const PUBLIC_ACCESS = { access: 'public', cost: 'normal' } as const;

interface Handling {
  guard: Guard;
  tierReplies: TierReplies | null;
}

async function handleRequest(route: Route, handling: Handling, request: Request, response: Response): Promise<void> {
  response.vary('Authorization');
  const units =
    handling.tierReplies === null || route.sharedByTier !== true ? route.units : toSharedUnits(route, handling.tierReplies, request);
  const guarded = route.isWebSocket === true ? PUBLIC_ACCESS : { ...route, units };
  const stream = await handling.guard(guarded, request, response, (context) => answerRequest(route, handling, context, response));
  // At the pace of the client, in no unit of work.
  await stream?.();
}

/** Sends the answer, or returns the function that streams its body. */
async function answerRequest(
  route: Route,
  { tierReplies }: Handling,
  context: RequestContext,
  response: Response,
): Promise<(() => Promise<void>) | null> {
  const { req: request } = response;
  const { caller } = context;
  if (route.method === 'get' && route.access === 'public' && route.cost === 'normal' && route.isLive !== true && isPublicCaller(caller))
    markReusable(response);
  // Only after admission: a rejected client must not cost the parsing of its body.
  if ((route.body ?? route.json) !== undefined) await readBody(request, response, context);
  if (route.problemMembers !== undefined) setProblemMembers(response, route.problemMembers(request.body));
  const input = {
    ...parseRequest(route, request),
    caller,
    context,
    accept: request.get('accept') ?? '',
    source: getRequestSource(response),
    header: (name: string) => request.get(name),
    isHead: request.method === 'HEAD',
  };
  // Answers to anonymous callers are sent again as bytes; both together would be twice as old.
  const isShared = route.sharedByTier === true && !isPublicCaller(caller);
  const reply = await (isShared && tierReplies !== null ? readShared(route, tierReplies, input, request) : route.handle(input));
  return sendReply(request, response, {
    status: route.status,
    ...personalizeReply(route, reply, caller),
    headers: { ...reply.headers, ...buildCacheHeaders(route, request, caller, reply) },
  });
}

type HandlerInput = Parameters<Route['handle']>[0];

/** The handler gets the tier alone, so that nothing of one caller can reach another. */
function readShared(route: Route, tierReplies: TierReplies, input: HandlerInput, request: Request): Promise<Reply> {
  const { tier } = input.caller;
  return tierReplies.get(toSharedKey(route, tier, request), async () => route.handle({ ...input, caller: { tier } }));
}

/** Everything that a shared reply depends on. */
function toSharedKey({ name }: Route, tier: Caller['tier'], request: Request): string {
  return JSON.stringify([name, tier, request.originalUrl, request.get('accept') ?? '', request.method === 'HEAD']);
}

function toSharedUnits(route: Route, tierReplies: TierReplies, request: Request): Units {
  return (caller) => {
    const isMemoised = !isPublicCaller(caller) && tierReplies.has(toSharedKey(route, caller.tier, request));
    return isMemoised ? MEMOISED_UNITS : route.units;
  };
}

function personalizeReply({ personalize }: Route, reply: Reply, caller: Caller): Reply {
  if (personalize === undefined || !('body' in reply)) return reply;
  return { ...reply, body: personalize(reply.body as object, caller) };
}

/** Shared caches keep only public GETs without `Authorization`, even of a rejected token: it may be valid next time, or the reverse. */
function buildCacheHeaders({ method, access }: Route, request: Request, caller: Caller, { headers }: Reply): Record<string, string> {
  const isShareable = method === 'get' && access === 'public' && isPublicCaller(caller) && request.get('authorization') === undefined;
  if (!isShareable) return { 'Cache-Control': 'private, no-store' };
  return { 'Cache-Control': headers?.['Cache-Control'] ?? 'no-cache' };
}

async function sendReply(request: Request, response: Response, reply: Reply): Promise<(() => Promise<void>) | null> {
  const { status = 200, headers = {} } = reply;
  const { Vary: varyOn, ...others } = headers;
  const unchanged = isNotModified(request, headers);
  const body = unchanged ? null : await encodeReplyBody(request, reply);
  if (body !== null && body.kind !== 'streamed' && request.method !== 'HEAD')
    await requireSendCapacity(request.socket, body.content.length);
  response.status(unchanged ? 304 : status).set(others);
  // Added to the `Vary` that the guard and the content coding set.
  if (varyOn !== undefined) response.vary(varyOn);
  if (body?.kind === 'streamed') return () => streamBody(request, response, body.streamed);
  if (body === null) response.end();
  else writeReplyBody(response, body);
  return null;
}

/** RFC 9110, section 13.2.2. Express `request.fresh` is false under `Cache-Control: no-cache`, which fetch adds beside `If-None-Match`. */
function isNotModified(request: Request, headers: Readonly<Record<string, string>>): boolean {
  const ifNoneMatch = request.get('If-None-Match');
  if (ifNoneMatch !== undefined) return headers.ETag !== undefined && matchesEtag(ifNoneMatch, headers.ETag);
  const [modified, since] = [headers['Last-Modified'], request.get('If-Modified-Since')];
  return modified !== undefined && since !== undefined && Date.parse(modified) <= Date.parse(since);
}

type WholeBody = { kind: 'encoded'; content: Buffer; encoding: string | null } | { kind: 'raw' | 'json'; content: string };

type ReplyBody = WholeBody | { kind: 'streamed'; streamed: StreamedBody };

async function encodeReplyBody(request: Request, reply: Reply): Promise<ReplyBody | null> {
  if ('raw' in reply) return { kind: 'raw', content: reply.raw };
  if ('streamed' in reply) return { kind: 'streamed', streamed: reply.streamed };
  if ('encoded' in reply) {
    const encoding = reply.encoded.chooseEncoding(request.get('Accept-Encoding'));
    return { kind: 'encoded', encoding, content: encoding === null ? reply.encoded.bytes : await reply.encoded.encode(encoding) };
  }
  return reply.body === undefined ? null : { kind: 'json', content: JSON.stringify(reply.body) };
}

function writeReplyBody(response: Response, body: WholeBody): void {
  if (body.kind === 'encoded') sendEncoded(response, body.content, body.encoding);
  else if (body.kind === 'raw') response.send(body.content);
  else sendJson(response, body.content);
}

/** `Content-Encoding` or `Content-Length` keeps the compression middleware from encoding the body again. */
function sendEncoded(response: Response, content: Buffer, encoding: string | null): void {
  response.vary('Accept-Encoding');
  if (encoding !== null) response.setHeader('Content-Encoding', encoding);
  response.setHeader('Content-Length', content.length);
  response.end(content);
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

/** Sets the ETag that Express would set, but before `send`, so that headers and body leave in one segment. */
function sendJson(response: Response, text: string): void {
  if (!response.hasHeader('ETag')) response.setHeader('ETag', response.app.get('etag fn')(text, 'utf8'));
  if (!response.hasHeader('Content-Type')) response.type('json');
  response.send(text);
}

async function rejectMethod(operations: readonly Route[], guard: Guard, request: Request, response: Response): Promise<void> {
  // The methods of an admin path are disclosed to the operator alone.
  const access = operations.every((operation) => operation.access === 'admin') ? 'admin' : 'public';
  const allowed = operations.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  await guard({ ...PUBLIC_ACCESS, access }, request, response, () => {
    response.set('Allow', allowed.join(', '));
    sendProblem(
      response,
      new OracleError('METHOD_NOT_ALLOWED', `${request.method} is not allowed on this path`, {
        suggestedAction: `Use ${allowed.join(' or ')}.`,
      }),
    );
  });
}
