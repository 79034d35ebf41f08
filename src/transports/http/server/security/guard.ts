import type { Request, Response } from 'express';
import { type Caller, PUBLIC_CALLER } from '../../../../auth/caller.ts';
import { toCapacityClient } from '../../../../auth/rate-limit/shared-capacity.ts';
import type { RequestContext } from '../../../../auth/request-context.ts';
import { isTierAtLeast, type PaidTier, requireTier } from '../../../../auth/tiers/tiers.ts';
import { REJECTED_TOKEN_CHALLENGE } from '../../../../auth/tokens/access-tokens.ts';
import type { ClaimedPayer } from '../../../../chain/stablecoin/claimed-payer.ts';
import { formatSingleAnswerHint } from '../../../../commerce/payment-instructions.ts';
import { isOracleError, OracleError } from '../../../../platform/errors.ts';
import type { AppOptions } from '../app-options.ts';
import type { Guard } from '../mount-routes.ts';
import { buildNotFoundError } from '../not-found.ts';
import { hasPaymentHeader } from '../payments/payment-headers.ts';
import { hasPaymentPayload } from '../payments/payment-proof.ts';
import { type ChainWork, createResponseCounter } from './chain-work.ts';
import { getClientAddress } from './client-address.ts';
import { releaseCapacity, waitForCapacity } from './load-shedding.ts';
import { createRequestCounter, type RequestCounter } from './request-counter.ts';
import { getRequestSource, setLoggedCaller } from './request-log.ts';
import { findCrossSiteError } from './same-origin.ts';

interface IncomingRequest {
  authorization: string | undefined;
  address: string;
  origin: string | undefined;
  counter: RequestCounter;
  chainWork?: ChainWork | undefined;
}

type GuardOptions = Pick<AppOptions, 'identify' | 'admin' | 'limits' | 'chainWork' | 'loadShedder'>;

/**
 * Authenticates and rate-limits every request of this server. A request without a token, or with a rejected one, counts against its
 * address; a valid token counts against its wallet alone, so that clients behind one address do not exhaust each other's limits. The
 * tier and the limit of chain calls are checked after that. An admitted request waits for capacity, but payments and the delivery of
 * what is paid, which have limits of their own, the operator's requests and those that cost nothing.
 */
export function createGuard({ identify, admin, limits, chainWork, loadShedder }: GuardOptions): Guard {
  return async (route, request, response, carriesPayment): Promise<RequestContext> => {
    const { access, cost, boughtAs, isSold = false, deliversPaid, ownerOnly, ownPagesOnly } = route;
    const counter = createRequestCounter(cost === 'free' ? undefined : limits, response);
    const incoming = { ...toIncomingRequest(request, counter), chainWork };
    if (ownPagesOnly === true) await rejectCrossSite(incoming, request);
    if (access === 'admin') {
      await admitOperator(admin, incoming, request, response);
      return createRequestContext(PUBLIC_CALLER, incoming, response);
    }
    if (access === 'paid' || (isSold && incoming.authorization === undefined)) {
      const payer = await admitPayer(incoming, request, response);
      if (!hasPaymentPayload((name) => request.get(name))) await waitForCapacity(loadShedder, 'anonymous', response);
      return payer;
    }
    if (cost === 'free' && access === 'public') return createRequestContext(PUBLIC_CALLER, incoming, response);
    const caller = await identifyCaller(identify, incoming, response);
    setLoggedCaller(response, caller);
    if (ownerOnly === true && caller.keyId !== undefined) throw ownerRequired();
    const isBuyer = isSold && !isTierAtLeast(caller.tier, access as PaidTier) && mayBuy(caller, request);
    if ((access === 'basic' || access === 'premium') && !isBuyer) requireTier(caller, access, formatSingleAnswerHint(boughtAs));
    if (isBuyer && hasPaymentHeader(request)) admitPayment(incoming, response, caller);
    const context = createRequestContext(caller, incoming, response);
    if (deliversPaid !== true)
      await waitForCapacity(
        loadShedder,
        caller.wallet === undefined ? 'anonymous' : 'token',
        response,
        carriesPayment ?? (async () => isBuyer && hasPaymentPayload((name) => request.get(name))),
      );
    if (cost !== 'rpc') return context;
    await context.countChainCall();
    return { ...context, countChainCall: async () => undefined };
  };
}

/** Admits requests of a protocol adapter under the same limits; a caller without a valid token is anonymous. */
export type Admit = (request: Request, response: Response, adapter: AdmissionRules) => Promise<RequestContext>;

interface AdmissionRules {
  carriesPayment(): Promise<boolean>;
  /** Absent: as for all routes. */
  identify?: AppOptions['identify'] | undefined;
}

/** @throws by the function it returns: OracleError RATE_LIMITED, CHAIN_UNREACHABLE */
export function createAdmission(options: Omit<GuardOptions, 'admin'>): Admit {
  const guard = createGuard(options);
  return (request, response, { carriesPayment, identify }) => {
    const admit = identify === undefined ? guard : createGuard({ ...options, identify });
    return admit({ access: 'public', cost: 'normal' }, request, response, carriesPayment);
  };
}

/** Admits a client that authenticates in another way, under the limits of requests with `Authorization`. */
type AdmitTokenHolder = <Holder extends { caller: Caller }>(
  request: Request,
  response: Response,
  identify: () => Promise<Holder>,
) => Promise<Holder>;

/** @throws by the function it returns: OracleError RATE_LIMITED, and the errors of `identify` */
export function createTokenHolderAdmission({ limits }: Pick<AppOptions, 'limits'>): AdmitTokenHolder {
  return async (request, response, identify) => {
    const incoming = toIncomingRequest(request, createRequestCounter(limits, response));
    const holder = await countOnFailure(incoming, identify);
    setLoggedCaller(response, holder.caller);
    await countCall(holder.caller, incoming);
    return holder;
  };
}

function toIncomingRequest(request: Request, counter: RequestCounter): IncomingRequest {
  return { authorization: request.get('authorization'), address: getClientAddress(request), origin: request.get('origin'), counter };
}

function createRequestContext(caller: Caller, incoming: IncomingRequest, response: Response): RequestContext {
  const beginWork = createResponseCounter(incoming.chainWork, response, () => toCapacityClient({ caller, address: incoming.address }));
  return {
    caller,
    ...getRequestSource(response),
    ...(incoming.origin === undefined ? {} : { origin: incoming.origin }),
    countCall: () => countCall(caller, incoming),
    async countChainCall() {
      await incoming.counter.count('rpc', incoming.address);
      beginWork();
      releaseCapacity(response);
    },
    countTask: (units) => countTask(caller, incoming, units),
    countClient: () => incoming.counter.count('clients', incoming.address),
    ...createPaymentLimits(incoming),
  };
}

type PaymentLimits = Pick<RequestContext, 'requirePaymentRoom' | 'hasPaymentRoom' | 'countRejectedPayment'>;

/**
 * Rejected payments count per payer first, so that one payer does not lock out others behind its address; then per address, since payers
 * can be invented. An unproven payer is a claim: it counts per claiming address, so that a named payer is not locked out.
 */
function createPaymentLimits({ address, counter }: IncomingRequest): PaymentLimits {
  const getPayerKey = ({ wallet, isProven }: ClaimedPayer) => (isProven ? wallet : `${wallet}@${address}`);
  return {
    requirePaymentRoom(payer) {
      counter.requireRemaining('payments', address);
      counter.requireRemaining('payer', getPayerKey(payer));
    },
    hasPaymentRoom: (payer) => counter.hasRemaining('payments', address) && counter.hasRemaining('payer', getPayerKey(payer)),
    async countRejectedPayment(payer) {
      await counter.countSilently('payments', address);
      await counter.count('payer', getPayerKey(payer));
    },
  };
}

/** Token holders have a limit of tasks per wallet elsewhere. */
async function countTask({ tier }: Caller, { address, counter }: IncomingRequest, units: number): Promise<void> {
  if (!isTierAtLeast(tier, 'basic')) await counter.count('tasks', address, units);
}

async function identifyCaller(identify: AppOptions['identify'], incoming: IncomingRequest, response: Response): Promise<Caller> {
  const { authorization, address, counter } = incoming;
  if (authorization === undefined) {
    await counter.count('public', address);
    return identify(undefined);
  }
  const caller = await countOnFailure(incoming, () => identifyOrAnonymous(identify, authorization));
  if (caller.rejectedToken !== undefined) response.set('WWW-Authenticate', REJECTED_TOKEN_CHALLENGE);
  await countCall(caller, incoming);
  return caller;
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

function countCall({ wallet }: Caller, { address, counter }: IncomingRequest): Promise<void> {
  return wallet === undefined ? counter.count('public', address) : counter.count('wallet', wallet.toLowerCase());
}

/**
 * A payer has the limit of a wallet, independent of anonymous requests from its address; a token changes nothing. Verifying a rejected
 * payment costs chain calls: beyond the `payments` limit of an address none is verified.
 */
async function admitPayer(incoming: IncomingRequest, request: Request, response: Response): Promise<RequestContext> {
  const { address, counter } = incoming;
  const context = createRequestContext(PUBLIC_CALLER, incoming, response);
  if (request.method === 'HEAD' || !hasPaymentHeader(request)) {
    await counter.count('public', address);
    return context;
  }
  await counter.count('wallet', `paying:${address}`);
  admitPayment(incoming, response, PUBLIC_CALLER);
  return context;
}

function admitPayment({ address, counter, chainWork }: IncomingRequest, response: Response, caller: Caller): void {
  counter.requireRemaining('payments', address);
  createResponseCounter(chainWork, response, () => toCapacityClient({ caller, address }, true))();
}

function ownerRequired(): OracleError {
  return new OracleError('UNAUTHENTICATED', 'An API key cannot grant or end access that lasts: this needs the wallet itself', {
    suggestedAction: 'Log in with the wallet: POST /api/svc/oracle/verify, then send Authorization: Bearer <token>.',
  });
}

/** A client with a rejected token expects the access of its tier: it gets the reason, unless it pays. */
function mayBuy({ rejectedToken }: Caller, request: Request): boolean {
  return rejectedToken === undefined || hasPaymentHeader(request);
}

/** Limits failed logins only. Without a configured password admin paths answer 404. */
async function admitOperator(admin: AppOptions['admin'], incoming: IncomingRequest, request: Request, response: Response): Promise<void> {
  const { authorization, address, counter } = incoming;
  if (admin === undefined) {
    await counter.count('public', address);
    throw buildNotFoundError();
  }
  counter.requireRemaining('failures', address);
  response.set('Cross-Origin-Resource-Policy', 'same-origin');
  response.set('WWW-Authenticate', 'Basic realm="oracle admin", charset="UTF-8"');
  await rejectCrossSite(incoming, request);
  await countOnFailure(incoming, () => checkPassword(incoming, () => admin(authorization, getRequestSource(response))));
  response.removeHeader('WWW-Authenticate');
}

/** Wrong passwords have a count of their own: only beyond it are guesses rejected unchecked. */
async function checkPassword({ authorization, address, counter }: IncomingRequest, compare: () => void | Promise<void>): Promise<void> {
  try {
    await compare();
  } catch (error) {
    if (authorization !== undefined && isOracleError(error, 'UNAUTHENTICATED')) await counter.countSilently('failures', address);
    throw error;
  }
}

/**
 * CSRF protection: a browser adds a stored password to requests of any page, and names the page in `Sec-Fetch-Site`, or in `Origin` alone
 * where it is old. Such a request does not count as a failed login, or a page could lock the operator out.
 */
async function rejectCrossSite({ address, counter }: IncomingRequest, request: Request): Promise<void> {
  const error = request.method === 'GET' || request.method === 'HEAD' ? null : findCrossSiteError(request);
  if (error === null) return;
  await counter.count('public', address);
  throw error;
}

/** A failed admission counts against the address. */
async function countOnFailure<T>({ address, counter }: IncomingRequest, admit: () => Promise<T> | T): Promise<T> {
  try {
    return await admit();
  } catch (error) {
    await counter.count('public', address);
    throw error;
  }
}
