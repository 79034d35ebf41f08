import type { Express, Request, Response } from 'express';
import { type Caller, isPublicCaller } from '../../../auth/caller.ts';
import type { RequestContext } from '../../../auth/request-context.ts';
import { OracleError } from '../../../platform/errors.ts';
import { parseRequest } from './parsing/parse-request.ts';
import { readBody } from './parsing/read-body.ts';
import { sendProblem } from './problems/problem.ts';
import { setProblemMembers } from './problems/problem-members.ts';
import type { ContentEncoding } from './replies/encoded-text.ts';
import { isNotModified } from './replies/preconditions.ts';
import type { Reply, Route } from './route.ts';
import { getRequestSource } from './security/request-log.ts';
import { requireSendCapacity } from './sockets/require-send-capacity.ts';

/** Decides who asks, and whether the request is let in. @throws OracleError UNAUTHENTICATED, TIER_REQUIRED, RATE_LIMITED */
export type Guard = (route: Pick<Route, 'access' | 'cost' | 'boughtAs'>, request: Request, response: Response) => Promise<RequestContext>;

/** Mounts routes; another method on a known path is refused by name. */
export function mountRoutes(app: Express, routes: readonly Route[], guard: Guard): void {
  const byPath = Map.groupBy(routes, ({ path }) => path.replaceAll(/\{(\w+)\}/g, ':$1'));
  for (const [path, operations] of byPath) {
    for (const operation of operations)
      app[operation.method](path, (request, response) => handleRequest(operation, guard, request, response));
    app.all(path, (request, response) => rejectMethod(operations, guard, request, response));
  }
}

const PUBLIC_ACCESS = { access: 'public', cost: 'normal' } as const;

async function handleRequest(route: Route, guard: Guard, request: Request, response: Response): Promise<void> {
  response.vary('Authorization');
  const context = await guard(route.isWebSocket === true ? PUBLIC_ACCESS : route, request, response);
  const { caller } = context;
  // Whoever is not let in sends his body for nothing.
  if ((route.body ?? route.json) !== undefined) await readBody(request, response);
  if (route.problemMembers !== undefined) setProblemMembers(response, route.problemMembers(request.body));
  const requestFacts = {
    ...{ caller, context, accept: request.get('accept') ?? '', source: getRequestSource(response) },
    header: (name: string) => request.get(name),
    isHead: request.method === 'HEAD',
  };
  const reply = await route.handle({ ...parseRequest(route, request), ...requestFacts });
  await sendReply(request, response, {
    status: route.status,
    ...reply,
    headers: { ...reply.headers, ...buildCacheHeaders(route, request, caller, reply) },
  });
}

/** No cache keeps what depends on the caller, changes something, or answers a request with a token, which may be rejected next time. */
function buildCacheHeaders({ method, access }: Route, request: Request, caller: Caller, { headers }: Reply): Record<string, string> {
  const isShareable = method === 'get' && access === 'public' && isPublicCaller(caller) && request.get('authorization') === undefined;
  if (!isShareable) return { 'Cache-Control': 'private, no-store' };
  return { 'Cache-Control': headers?.['Cache-Control'] ?? 'no-cache' };
}

async function sendReply(request: Request, response: Response, reply: Reply): Promise<void> {
  const { status = 200, headers = {} } = reply;
  const unchanged = isNotModified(request, headers);
  const body = unchanged ? null : await encodeReplyBody(request, reply);
  if (body !== null && request.method !== 'HEAD') await requireSendCapacity(request.socket, body.content.length);
  const { Vary: varyOn, ...others } = headers;
  response.status(status).set(others);
  // Beside what the door itself lets an answer depend on.
  if (varyOn !== undefined) response.vary(varyOn);
  if (unchanged) response.status(304).end();
  else if (body === null) response.end();
  else writeReplyBody(response, body);
}

/** `encoded`: made before, in this encoding or in none. `raw` and `json`: for the framework to encode. */
type ReplyBody =
  | { kind: 'encoded'; content: Buffer; encoding: ContentEncoding | null }
  | { kind: 'raw'; content: string }
  | { kind: 'json'; content: string };

async function encodeReplyBody(request: Request, reply: Reply): Promise<ReplyBody | null> {
  if ('raw' in reply) return { kind: 'raw', content: reply.raw };
  if ('encoded' in reply) {
    const encoding = reply.encoded.chooseEncoding(request.get('Accept-Encoding'));
    return { kind: 'encoded', encoding, content: encoding === null ? reply.encoded.bytes : await reply.encoded.encode(encoding) };
  }
  return reply.body === undefined ? null : { kind: 'json', content: JSON.stringify(reply.body) };
}

function writeReplyBody(response: Response, body: ReplyBody): void {
  if (body.kind === 'encoded') sendEncoded(response, body);
  else if (body.kind === 'raw') response.send(body.content);
  else sendJson(response, body.content);
}

/** The framework's compression leaves alone what has an encoding, or a length, already. */
function sendEncoded(response: Response, { content, encoding }: Extract<ReplyBody, { kind: 'encoded' }>): void {
  response.vary('Accept-Encoding');
  if (encoding !== null) response.setHeader('Content-Encoding', encoding);
  response.setHeader('Content-Length', content.length);
  response.end(content);
}

/** As the framework would send it, and tag it; but in one piece with its headers, as it would not send what it tags itself. */
function sendJson(response: Response, text: string): void {
  if (!response.hasHeader('ETag')) response.setHeader('ETag', response.app.get('etag fn')(text, 'utf8'));
  if (!response.hasHeader('Content-Type')) response.type('json');
  response.send(text);
}

async function rejectMethod(operations: readonly Route[], guard: Guard, request: Request, response: Response): Promise<void> {
  // Who may not know of a path is not told its methods.
  const access = operations.every((operation) => operation.access === 'admin') ? 'admin' : 'public';
  await guard({ ...PUBLIC_ACCESS, access }, request, response);
  const allowed = operations.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  response.set('Allow', allowed.join(', '));
  sendProblem(
    response,
    new OracleError('METHOD_NOT_ALLOWED', `${request.method} is not allowed on this path`, {
      suggestedAction: `Use ${allowed.join(' or ')}.`,
    }),
  );
}
