import express, { type Express, type Request, type Response } from 'express';
import type { z } from 'zod';
import type { ZodOpenApiMetadata } from 'zod-openapi';
import type { RequestContext } from '../auth/auth.ts';
import { type Caller, isPublicCaller, PUBLIC_CALLER } from '../auth/caller.ts';
import { isTierAtLeast, type PaidTier, requireTier } from '../auth/tiers.ts';
import { REJECTED_TOKEN_CHALLENGE } from '../auth/tokens.ts';
import type { ClaimedPayer } from '../chain/stablecoin.ts';
import { formatSingleAnswerHint } from '../commerce/offerings.ts';
import { isOracleError, OracleError } from '../errors.ts';
import { findMisspelledName, parseInput } from '../platform/validation.ts';
import { RequestWork, requireSendCapacity } from './admission.ts';
import type { AnswerMemo } from './memo.ts';
import { buildNotFoundError, hasPaymentPayload, sendProblem, setProblemMembers } from './problems.ts';
import { encodeReply, negotiateMediaType, type Reply, sendReply } from './replies.ts';
import { type AppOptions, createRequestCounter, getClientAddress, getRequestSource, hasPaymentHeader, setLoggedCaller } from './request.ts';
import { MEMOISED_UNITS, type Route, type RouteInput } from './route.ts';

interface IncomingRequest {
  authorization: string | undefined;
  address: string;
  origin: string | undefined;
  counter: RequestCounter;
  /** Price of the request; 1 by default. */
  units?: Units;
  work: RequestWork;
}

type RequestCounter = ReturnType<typeof createRequestCounter>;

type Counted = Omit<IncomingRequest, 'work'>;

type GuardOptions = Pick<AppOptions, 'identify' | 'admin' | 'limits' | 'chainWork' | 'loadShedder' | 'isStale'>;

/** Of answers that may lack changes of the record of more than the declared lag. */
const STALE_HEADER = 'X-Stale';

/**
 * Authenticates, rate-limits and admits every request of this server, and runs its handler as a unit of work. A request without a token,
 * or with a rejected one, counts against its address; a valid token counts against its wallet alone, so that clients behind one address
 * do not exhaust each other's limits. Anonymous requests are admitted before anything is read from the database for them; a token is
 * verified first, as it decides the share of capacity. Payments and the delivery of what is paid, which have limits of their own, the
 * operator's requests and those that cost nothing are not kept waiting.
 */
export function createGuard({ identify, admin, limits, chainWork, loadShedder, isStale }: GuardOptions): Guard {
  return async (route, request, response, handle, carriesPayment = async () => false) => {
    if (isStale?.() === true) response.setHeader(STALE_HEADER, 'true');
    const counter = createRequestCounter(route.cost === 'free' ? undefined : limits, response);
    const address = getClientAddress(request);
    const work = new RequestWork({ loadShedder, chainWork, response, address }, PUBLIC_CALLER);
    const incoming = { ...toIncomingRequest(request, counter), work, units: route.units };
    if (route.ownPagesOnly === true) await rejectCrossSite(incoming, request);
    const { access, cost, isSold = false } = route;
    if (access === 'admin') {
      await admitOperator(admin, incoming, request, response);
      return handle(createRequestContext(PUBLIC_CALLER, incoming, response));
    }
    if (cost === 'free' && access === 'public') return handle(createRequestContext(PUBLIC_CALLER, incoming, response));
    if (access === 'paid' || (isSold && incoming.authorization === undefined)) return admitPayer(incoming, request, response, handle);
    const admitted = { route, request, response, handle, carriesPayment, identify };
    const { authorization } = incoming;
    return authorization === undefined ? admitAnonymous(incoming, admitted) : admitIdentified(incoming, authorization, admitted);
  };
}

interface Admitted<T> extends Pick<GuardOptions, 'identify'> {
  route: GuardedRoute;
  request: Request;
  response: Response;
  handle: HandleAdmitted<T>;
  carriesPayment(): Promise<boolean>;
}

/** The limit of a client that is known to be over it rejects before there is any work. */
function admitAnonymous<T>(incoming: IncomingRequest, { route, response, handle, carriesPayment }: Admitted<T>): Promise<T> {
  const { counter, address, work } = incoming;
  if (route.units === undefined) counter.requireRemaining('public', address);
  const unit = async () => {
    await countCall(PUBLIC_CALLER, incoming);
    requireAccess(PUBLIC_CALLER, route);
    return handleCounted(createRequestContext(PUBLIC_CALLER, incoming, response), route, handle);
  };
  return work.run(unit, route.deliversPaid === true ? 'delivery' : 'work', carriesPayment);
}

async function admitIdentified<T>(
  incoming: IncomingRequest,
  authorization: string,
  { route, request, response, handle, carriesPayment, identify }: Admitted<T>,
): Promise<T> {
  const { work, counter, address } = incoming;
  const caller = await countOnFailure(incoming, () => identifyOrAnonymous(identify, authorization));
  if (caller.rejectedToken !== undefined) response.set('WWW-Authenticate', REJECTED_TOKEN_CHALLENGE);
  await countCall(caller, incoming);
  setLoggedCaller(response, caller);
  work.identify(caller);
  if (route.ownerOnly === true && caller.keyId !== undefined) {
    throw new OracleError('UNAUTHENTICATED', 'An API key cannot grant or end access that lasts: this needs the wallet itself', {
      suggestedAction: 'Log in with the wallet: POST /api/svc/oracle/verify, then send Authorization: Bearer <token>.',
    });
  }
  // A client with a rejected token expects the access of its tier: it gets the reason, unless it pays.
  const mayBuy = caller.rejectedToken === undefined || hasPaymentHeader(request);
  const isBuyer = route.isSold === true && !isTierAtLeast(caller.tier, route.access as PaidTier) && mayBuy;
  if (!isBuyer) requireAccess(caller, route);
  const isPaying = isBuyer && hasPaymentHeader(request);
  if (isPaying) counter.requireRemaining('payments', address);
  const unit = () => {
    if (isPaying) work.beginChainCall(true);
    return handleCounted(createRequestContext(caller, incoming, response), route, handle);
  };
  const pays = async () => (isPaying && hasPaymentPayload((name) => request.get(name))) || carriesPayment();
  return work.run(unit, route.deliversPaid === true ? 'delivery' : 'work', pays);
}

/** @throws OracleError UNAUTHENTICATED, TIER_REQUIRED */
function requireAccess(caller: Caller, { access, boughtAs }: GuardedRoute): void {
  if (access === 'basic' || access === 'premium') requireTier(caller, access, formatSingleAnswerHint(boughtAs));
}

async function handleCounted<T>(context: RequestContext, { cost }: GuardedRoute, handle: HandleAdmitted<T>): Promise<T> {
  if (cost !== 'rpc') return handle(context);
  await context.countChainCall();
  return handle({ ...context, countChainCall: async () => undefined });
}

/** Admits requests of a protocol adapter under the same limits; a caller without a valid token is anonymous. */
export type Admit = <T>(
  request: Request,
  response: Response,
  /** `identify` absent: as for all routes. */
  adapter: { carriesPayment(): Promise<boolean>; identify?: AppOptions['identify'] | undefined },
  handle: HandleAdmitted<T>,
) => Promise<T>;

/** @throws by the function it returns: OracleError RATE_LIMITED, CHAIN_UNREACHABLE */
export function createAdmission(options: Omit<GuardOptions, 'admin'>): Admit {
  const guard = createGuard(options);
  return (request, response, { carriesPayment, identify }, handle) => {
    const admit = identify === undefined ? guard : createGuard({ ...options, identify });
    return admit({ access: 'public', cost: 'normal' }, request, response, handle, carriesPayment);
  };
}

/**
 * Admits a client that authenticates in another way, under the limits of requests with `Authorization`.
 * @throws by the function it returns: OracleError RATE_LIMITED, and the errors of `identify`
 */
export function createTokenHolderAdmission({ limits }: Pick<AppOptions, 'limits'>) {
  return async <Holder extends { caller: Caller }>(request: Request, response: Response, identify: () => Promise<Holder>) => {
    const incoming = toIncomingRequest(request, createRequestCounter(limits, response));
    const holder = await countOnFailure(incoming, identify);
    setLoggedCaller(response, holder.caller);
    await countCall(holder.caller, incoming);
    return holder;
  };
}

function toIncomingRequest(request: Request, counter: RequestCounter): Counted {
  return { authorization: request.get('authorization'), address: getClientAddress(request), origin: request.get('origin'), counter };
}

function createRequestContext(caller: Caller, incoming: IncomingRequest, response: Response): RequestContext {
  const { work, counter, address, origin } = incoming;
  return {
    caller,
    ...getRequestSource(response),
    ...(origin === undefined ? {} : { origin }),
    run: (unit, kind) => work.run(unit, kind),
    suspend: (waiting) => work.suspend(waiting),
    detach: () => work.detach(),
    reserveAnswer: (bytes) => requireSendCapacity(response.req.socket, bytes),
    countCall: (units = 1) => countCall(caller, { ...incoming, units }),
    async countChainCall() {
      await counter.count('rpc', address);
      work.beginChainCall();
    },
    beginPayment: () => work.beginChainCall(true),
    async countTask(units) {
      // Token holders have a limit of tasks per wallet elsewhere.
      if (!isTierAtLeast(caller.tier, 'basic')) await counter.count('tasks', address, units);
    },
    ...createPaymentLimits(incoming),
  };
}

/**
 * Rejected payments count per payer first, so that one payer does not lock out others behind its address; then per address, since payers
 * can be invented. An unproven payer is a claim: it counts per claiming address, so that a named payer is not locked out.
 */
function createPaymentLimits({ address, counter }: Counted) {
  const getPayerKey = ({ wallet, isProven }: ClaimedPayer) => (isProven ? wallet : `${wallet}@${address}`);
  return {
    requirePaymentRoom(payer: ClaimedPayer) {
      counter.requireRemaining('payments', address);
      counter.requireRemaining('payer', getPayerKey(payer));
    },
    hasPaymentRoom: (payer: ClaimedPayer) => counter.hasRemaining('payments', address) && counter.hasRemaining('payer', getPayerKey(payer)),
    async countRejectedPayment(payer: ClaimedPayer) {
      await counter.countSilently('payments', address);
      await counter.count('payer', getPayerKey(payer));
    },
  };
}

/** A caller with a rejected token is anonymous; a route that requires a tier rejects it with the reason. */
async function identifyOrAnonymous(identify: AppOptions['identify'], authorization: string): Promise<Caller> {
  try {
    return await identify(authorization);
  } catch (error) {
    if (!isOracleError(error, 'UNAUTHENTICATED')) throw error;
    return { ...PUBLIC_CALLER, rejectedToken: error.message };
  }
}

function countCall(caller: Caller, { address, counter, units }: Counted): Promise<void> {
  const { wallet } = caller;
  const price = typeof units === 'function' ? units(caller) : units;
  return wallet === undefined ? counter.count('public', address, price) : counter.count('wallet', wallet.toLowerCase(), price);
}

/**
 * A payer has the limit of a wallet, independent of anonymous requests from its address; a token changes nothing. Verifying a rejected
 * payment costs chain calls: beyond the `payments` limit of an address none is verified.
 */
async function admitPayer<T>(incoming: IncomingRequest, request: Request, response: Response, handle: HandleAdmitted<T>): Promise<T> {
  const { address, counter, work } = incoming;
  const isPaying = request.method !== 'HEAD' && hasPaymentHeader(request);
  const [policy, client] = isPaying ? (['wallet', `paying:${address}`] as const) : (['public', address] as const);
  counter.requireRemaining(policy, client);
  if (isPaying) counter.requireRemaining('payments', address);
  const run = async () => {
    await counter.count(policy, client);
    if (isPaying) work.beginChainCall(true);
    return handle(createRequestContext(PUBLIC_CALLER, incoming, response));
  };
  return work.run(run, isPaying && hasPaymentPayload((name) => request.get(name)) ? 'payment' : 'work');
}

/** Limits failed logins only. Without a configured password admin paths answer 404. */
async function admitOperator(admin: AppOptions['admin'], incoming: Counted, request: Request, response: Response): Promise<void> {
  const { authorization, address, counter } = incoming;
  if (admin === undefined) {
    await counter.count('public', address);
    throw buildNotFoundError();
  }
  counter.requireRemaining('failures', address);
  response.set('Cross-Origin-Resource-Policy', 'same-origin');
  response.set('WWW-Authenticate', 'Basic realm="oracle admin", charset="UTF-8"');
  await rejectCrossSite(incoming, request);
  await countOnFailure(incoming, async () => {
    try {
      await admin(authorization, getRequestSource(response));
    } catch (error) {
      // Wrong passwords have a count of their own: only beyond it are guesses rejected unchecked.
      if (authorization !== undefined && isOracleError(error, 'UNAUTHENTICATED')) await counter.countSilently('failures', address);
      throw error;
    }
  });
  response.removeHeader('WWW-Authenticate');
}

/**
 * CSRF protection: a browser adds a stored password to requests of any page, and names the page in `Sec-Fetch-Site`, or in `Origin` alone
 * where it is old. Such a request does not count as a failed login, or a page could lock the operator out.
 */
async function rejectCrossSite({ address, counter }: Counted, request: Request): Promise<void> {
  const error = request.method === 'GET' || request.method === 'HEAD' ? null : findCrossSiteError(request);
  if (error === null) return;
  await counter.count('public', address);
  throw error;
}

/** A failed admission counts against the address. */
async function countOnFailure<T>({ address, counter }: Counted, admit: () => Promise<T> | T): Promise<T> {
  try {
    return await admit();
  } catch (error) {
    await counter.count('public', address);
    throw error;
  }
}

/** Error for a request that a page of another origin has sent; null for one of this service's pages, or of no page. */
export function findCrossSiteError(request: Pick<Request, 'get' | 'host'>): OracleError | null {
  const site = request.get('Sec-Fetch-Site');
  const field = site === undefined ? 'Origin' : 'Sec-Fetch-Site';
  const origin = request.get('Origin');
  // An opaque origin (`null`) is never this service's, not even where a request names no host.
  const isOwnOrigin = () => origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.host);
  const isOwn = site === undefined ? isOwnOrigin() : /^(?:none|same-origin)$/.test(site);
  if (isOwn) return null;
  return new OracleError('UNAUTHENTICATED', 'Cross-site requests are rejected', { field });
}

type GuardedRoute = Pick<Route, 'access' | 'cost' | 'boughtAs' | 'isSold' | 'deliversPaid' | 'ownerOnly' | 'ownPagesOnly'> & {
  units?: Units;
};

/** Of the rate limit, by the caller where its tier decides. */
export type Units = Route['units'] | ((caller: Caller) => number | undefined);

type HandleAdmitted<T> = (context: RequestContext) => Promise<T> | T;

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

/** Mounts routes; any other method on their paths answers 405. @param memo null: each answer is made for its request alone */
export function mountRoutes(app: Express, routes: readonly Route[], guard: Guard, memo: AnswerMemo | null): void {
  const byPath = Map.groupBy(routes, ({ path }) => path.replaceAll(/\{(\w+)\}/g, ':$1'));
  for (const [path, operations] of byPath) {
    for (const operation of operations) {
      app[operation.method](path, async (request, response) => {
        response.vary('Authorization');
        const guarded = operation.isWebSocket === true ? PUBLIC_ACCESS : { ...operation, units: getUnits(operation, memo, request) };
        const stream = await guard(guarded, request, response, (context) => answerRequest(operation, memo, context, response));
        // At the pace of the client, in no unit of work.
        await stream?.();
      });
    }
    // Not `app.all`, which adds a handler for each of 35 methods.
    app.route(path).all((request, response) => rejectMethod(operations, guard, request, response));
  }
}

const PUBLIC_ACCESS = { access: 'public', cost: 'normal' } as const;

/** Sends the answer, or returns the function that streams its body. */
async function answerRequest(route: Route, memo: AnswerMemo | null, context: RequestContext, response: Response) {
  const { req: request } = response;
  const { caller } = context;
  const begun = { state: null, atMs: memo?.now() ?? 0 };
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
  const isReusable = route.method === 'get' && route.access === 'public' && route.cost === 'normal' && route.isLive !== true;
  const { tier } = caller;
  const { reply, made } =
    memo !== null && route.shared !== undefined
      ? await memo.share(toSharedKey(route, tier, request), route.shared, async () => {
          // The handler gets the tier alone, so that nothing of one caller can reach another.
          const shared = await route.handle({ ...input, caller: { tier } });
          return route.personalize === undefined ? encodeReply(shared, response) : shared;
        })
      : { reply: await route.handle(input), made: begun };
  const headers = { ...reply.headers, 'Cache-Control': getCacheControl(route, request, caller, reply) };
  const own = route.personalize !== undefined && 'body' in reply ? { body: route.personalize(reply.body as object, caller) } : {};
  const answer: Reply = { status: route.status, ...reply, ...own, headers };
  const keep = isReusable && isPublicCaller(caller) ? (content: Buffer) => memo?.keep(request, response, content, made) : undefined;
  return sendReply(request, response, answer, keep);
}

/** Everything that a shared reply depends on, beside what changes. */
function toSharedKey({ name }: Route, tier: Caller['tier'], request: Request): string {
  return JSON.stringify([name, tier, request.originalUrl, request.get('accept') ?? '', request.method === 'HEAD']);
}

/** Of an anonymous request that reaches its route: what the route declares. */
function getUnits(route: Route, memo: AnswerMemo | null, request: Request): Units {
  if (memo === null || route.shared === undefined || request.get('authorization') === undefined) return route.units;
  return (caller) => (!isPublicCaller(caller) && memo.has(toSharedKey(route, caller.tier, request)) ? MEMOISED_UNITS : route.units);
}

/** Shared caches keep only public GETs without `Authorization`, even of a rejected token: it may be valid next time, or the reverse. */
function getCacheControl({ method, access }: Route, request: Request, caller: Caller, { headers }: Reply): string {
  const isShareable = method === 'get' && access === 'public' && isPublicCaller(caller) && request.get('authorization') === undefined;
  return isShareable ? (headers?.['Cache-Control'] ?? 'no-cache') : 'private, no-store';
}

async function rejectMethod(operations: readonly Route[], guard: Guard, request: Request, response: Response): Promise<void> {
  // The methods of an admin path are disclosed to the operator alone.
  const access = operations.every((operation) => operation.access === 'admin') ? 'admin' : 'public';
  const allowed = operations.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  await guard({ ...PUBLIC_ACCESS, access }, request, response, () => {
    response.set('Allow', allowed.join(', '));
    const suggestedAction = `Use ${allowed.join(' or ')}.`;
    sendProblem(response, new OracleError('METHOD_NOT_ALLOWED', `${request.method} is not allowed on this path`, { suggestedAction }));
  });
}

/** Paging parameters of common APIs, in lower case without `_` and `-`. */
const PAGING_NAMES =
  'page pageno pagenumber perpage pagesize pagetoken nexttoken continuationtoken cursor nextcursor before nextbefore after skip start from offset limit count size take first last';

/** Longest name that an error echoes; all names of the list are shorter. */
const MAX_NAME_CHARS = 30;

type Parsed = Record<string, unknown>;

const PART_NAMES = { path: 'path parameter', query: 'query parameter', body: 'body field' } as const;

type RequestSchemas = Pick<Route, 'params' | 'query' | 'body' | 'bodyOptional' | 'json'> &
  Partial<Pick<Route, 'method' | 'cost' | 'reply' | 'alternatives' | 'takesAnyQuery'>>;

const JSON_OR_HTML = ['application/json', 'text/html'] as const;

/** Parses path, query and body by the schemas of a route. @throws OracleError INPUT_INVALID naming the first invalid field */
export function parseRequest(
  route: RequestSchemas,
  request: Request,
): Pick<RouteInput<Parsed, Parsed, Parsed>, 'params' | 'query' | 'body' | 'json'> {
  const { params, query, body, bodyOptional, json, method, cost, reply, takesAnyQuery, alternatives = {} } = route;
  // Whether a client could page through it; HTML pages and health checks accept any parameter.
  const isPageable = method === 'get' && cost !== 'free' && reply !== null && takesAnyQuery !== true;
  const isPage = 'text/html' in alternatives && negotiateMediaType(request.get('accept') ?? '', JSON_OR_HTML) === 'text/html';
  return {
    params: parsePart(params, request.params, 'path'),
    query: parseQuery(query, request, isPageable && !isPage),
    body: parsePart(body, body === undefined ? undefined : requireJsonBody(request, bodyOptional), 'body'),
    json: json === undefined ? undefined : requireJsonBody(request),
  };
}

function parsePart(schema: z.ZodObject | undefined, value: unknown, place: keyof typeof PART_NAMES): Parsed {
  return schema === undefined ? {} : parseInput(schema, value, { kind: PART_NAMES[place], root: place });
}

function requireJsonBody(request: Request, optional = false): unknown {
  if (request.body !== undefined) return request.body;
  const hasBody = request.get('transfer-encoding') !== undefined || Number(request.get('content-length') ?? 0) > 0;
  if (optional && !hasBody) return {};
  const type = request.get('content-type');
  // The parser skips a body without a Content-Type.
  if (type === undefined ? optional : !request.is('application/json')) {
    throw new OracleError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json', {
      field: 'Content-Type',
      suggestedAction: 'Send JSON with Content-Type: application/json.',
    });
  }
  const suggestedAction = 'Send a JSON object with Content-Type: application/json.';
  throw new OracleError('INPUT_INVALID', 'The request has no body', { field: 'body', suggestedAction });
}

/** @throws OracleError INPUT_INVALID naming the first parameter that is invalid, misspells a known one or, ignored, would return one page for every page */
export function parseQuery<Schema extends z.ZodObject>(
  schema: Schema | undefined,
  { query }: Pick<Request, 'query'>,
  isPageable = false,
): z.output<Schema> {
  const shape = schema?.shape ?? {};
  for (const name of Object.keys(query)) if (!Object.hasOwn(shape, name)) requireMeaningless(name, Object.keys(shape), isPageable);
  return parsePart(schema, query, 'query') as z.output<Schema>;
}

/** Cache busters and campaign tags are ignored. */
function requireMeaningless(name: string, taken: readonly string[], isPageable: boolean): void {
  const accepted = taken.length === 0 ? 'no query parameters' : taken.join(', ');
  const meant = findMisspelledName(name, taken);
  if (meant !== undefined) {
    throw new OracleError('INPUT_INVALID', `query parameter "${name}": is unknown; did you mean "${meant}"?`, {
      field: name,
      suggestedAction: `Send "${meant}" instead of "${name}"; this operation takes ${accepted}.`,
    });
  }
  const isPaging = name.length <= MAX_NAME_CHARS && PAGING_NAMES.split(' ').includes(name.toLowerCase().replaceAll(/[-_]/g, ''));
  if (!isPageable || !isPaging) return;
  throw new OracleError('INPUT_INVALID', `query parameter "${name}": is unknown; this operation takes ${accepted}`, {
    field: name,
    suggestedAction: taken.length === 0 ? `Omit "${name}": the response has one page.` : `Omit "${name}", or send one of: ${accepted}.`,
  });
}

/** An order of magnitude above the largest body that an operation needs. */
export const BODY_LIMIT_BYTES = 64 * 1024;

/**
 * The function that parses the JSON body of an admitted request, once. It rejects with the error of the parser, which `createProblemHandler`
 * maps; also compressed bodies: a small one may inflate to a large one (zip bomb).
 */
export function createBodyReader({ types, limitBytes }: { types: readonly string[]; limitBytes: number }) {
  const parser = express.json({ limit: limitBytes, strict: true, inflate: false, type: [...types] });
  const parse = (request: Request, response: Response) =>
    new Promise<void>((resolve, reject) => parser(request, response, (error) => (error === undefined ? resolve() : reject(error))));
  // A client that sends slowly holds no capacity meanwhile.
  return (request: Request, response: Response, context?: Pick<RequestContext, 'suspend'>): Promise<void> =>
    request.complete || context === undefined ? parse(request, response) : context.suspend(() => parse(request, response));
}

export const readBody = createBodyReader({ types: ['application/json'], limitBytes: BODY_LIMIT_BYTES });

/** @param id name of a parameter that several operations share */
export const describeParameter = (schema: object, description: string, id?: string): ZodOpenApiMetadata => ({
  description,
  ...(id === undefined ? {} : { param: { id } }),
  override: ({ jsonSchema }) => {
    for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword as keyof typeof jsonSchema];
    Object.assign(jsonSchema, schema);
  },
});

export const MAX_URL_CHARS = 4_096;
