import type { Request, Response } from 'express';
import type { RequestContext } from '../auth/auth.ts';
import { type Caller, PUBLIC_CALLER } from '../auth/caller.ts';
import { isTierAtLeast, type PaidTier, requireTier } from '../auth/tiers.ts';
import { REJECTED_TOKEN_CHALLENGE } from '../auth/tokens.ts';
import type { ClaimedPayer } from '../chain/stablecoin.ts';
import { formatSingleAnswerHint } from '../commerce/payment-instructions.ts';
import { isOracleError, OracleError } from '../errors.ts';
import { RequestWork, requireSendCapacity } from './admission.ts';
import type { Guard, GuardedRoute, HandleAdmitted, Units } from './mount-routes.ts';
import { hasPaymentHeader, hasPaymentPayload } from './problems.ts';
import { createRequestCounter, getClientAddress, type RequestCounter } from './request-counter.ts';
import { type AppOptions, buildNotFoundError, getRequestSource, setLoggedCaller } from './security.ts';

interface IncomingRequest {
  authorization: string | undefined;
  address: string;
  origin: string | undefined;
  counter: RequestCounter;
  /** Price of the request; 1 by default. */
  units?: Units;
  work: RequestWork;
}

type Counted = Omit<IncomingRequest, 'work'>;

type GuardOptions = Pick<AppOptions, 'identify' | 'admin' | 'limits' | 'chainWork' | 'loadShedder'>;

/**
 * Authenticates, rate-limits and admits every request of this server, and runs its handler as a unit of work. A request without a token,
 * or with a rejected one, counts against its address; a valid token counts against its wallet alone, so that clients behind one address
 * do not exhaust each other's limits. Anonymous requests are admitted before anything is read from the database for them; a token is
 * verified first, as it decides the share of capacity. Payments and the delivery of what is paid, which have limits of their own, the
 * operator's requests and those that cost nothing are not kept waiting.
 */
export function createGuard({ identify, admin, limits, chainWork, loadShedder }: GuardOptions): Guard {
  return async (route, request, response, handle, carriesPayment = async () => false) => {
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
function admitAnonymous<T>(incoming: IncomingRequest, { route, response, handle, carriesPayment, identify }: Admitted<T>): Promise<T> {
  const { counter, address, work } = incoming;
  if (route.units === undefined) counter.requireRemaining('public', address);
  const unit = async () => {
    await countCall(PUBLIC_CALLER, incoming);
    const caller = await identify(undefined);
    setLoggedCaller(response, caller);
    requireAccess(caller, route);
    return handleCounted(createRequestContext(caller, incoming, response), route, handle);
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
  const isOwn = site === undefined ? origin === undefined || URL.parse(origin)?.host === request.host : /^(?:none|same-origin)$/.test(site);
  if (isOwn) return null;
  return new OracleError('UNAUTHENTICATED', 'Cross-site requests are rejected', { field });
}
