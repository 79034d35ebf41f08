import type { Request, Response } from 'express';
import type { Asker } from '../../access/asker.ts';
import { toCapacityClient } from '../../access/shared-capacity.ts';
import { isAtLeast, requireTier } from '../../access/tiers.ts';
import { REJECTED_TOKEN_CHALLENGE } from '../../access/tokens.ts';
import type { ClaimedPayer } from '../../chain/claimed-payer.ts';
import { orPay } from '../../commerce/how-to-pay.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import { type Caller, PUBLIC_CALLER } from '../../record/caller.ts';
import type { AppOptions } from '../app.ts';
import type { Guard } from '../mount.ts';
import { carriesPayment } from '../payment-headers.ts';
import { nothingServed } from '../unserved.ts';
import { type ChainWork, countWhileAnswering } from './chain-work.ts';
import { clientAddress } from './client-address.ts';
import { type RequestCounter, requestCounter } from './rate-limit.ts';
import { noteCaller, originOf } from './request-log.ts';

/** One request at the door. */
interface Arrival {
  authorization: string | undefined;
  address: string;
  origin: string | undefined;
  counter: RequestCounter;
  chainWork?: ChainWork | undefined;
}

type GuardOptions = Pick<AppOptions, 'identify' | 'admin' | 'limits' | 'chainWork'>;

/**
 * The one place where this door decides who asks and whether he is let in. Without a token the address is counted first; with one,
 * a rejected token counts against the address as a request without one does, and a good one against its wallet, whatever others at
 * that address have sent. Only then follow the tier, and the limit of calls to the chain.
 */
export function createGuard({ identify, admin, limits, chainWork }: GuardOptions): Guard {
  return async ({ access, cost, boughtAs }, request, response): Promise<Asker> => {
    const counter = requestCounter(cost === 'free' ? undefined : limits, response);
    const arrival = { ...arrivalOf(request, counter), chainWork };
    if (access === 'admin') {
      await admitOperator(admin, arrival, request, response);
      return askerOf(PUBLIC_CALLER, arrival, response);
    }
    if (access === 'paid') return admitPayer(arrival, request, response);
    if (cost === 'free' && access === 'public') return askerOf(PUBLIC_CALLER, arrival, response);
    const caller = await whoAsks(identify, arrival, response);
    noteCaller(response, caller);
    if (access === 'basic' || access === 'premium') requireTier(caller, access, orPay(boughtAs));
    if (cost !== 'rpc') return askerOf(caller, arrival, response);
    const asker = askerOf(caller, arrival, response);
    await asker.countChainCall();
    return { ...asker, countChainCall: async () => undefined };
  };
}

/** Admits requests of another protocol under the same limits; a caller without a good token is anonymous. */
export type Admit = (request: Request, response: Response) => Promise<Asker>;

/** @throws by what it makes: OracleError RATE_LIMITED, CHAIN_UNREACHABLE */
export function createAdmission(options: Omit<GuardOptions, 'admin'>): Admit {
  const guard = createGuard(options);
  return (request, response) => guard({ access: 'public', cost: 'normal' }, request, response);
}

/** Lets in whoever proves in his own way who he is, under the limits of those who send `Authorization`. */
export type AdmitHolder = <Holder extends { caller: Caller }>(
  request: Request,
  response: Response,
  identify: () => Promise<Holder>,
) => Promise<Holder>;

/** @throws by what it makes: OracleError RATE_LIMITED, and whatever `identify` throws */
export function createHolderAdmission({ limits }: Pick<AppOptions, 'limits'>): AdmitHolder {
  return async (request, response, identify) => {
    const arrival = arrivalOf(request, requestCounter(limits, response));
    const holder = await orCounted(arrival, identify);
    noteCaller(response, holder.caller);
    await countCall(holder.caller, arrival);
    return holder;
  };
}

function arrivalOf(request: Request, counter: RequestCounter): Arrival {
  return { authorization: request.get('authorization'), address: clientAddress(request), origin: request.get('origin'), counter };
}

function askerOf(caller: Caller, arrival: Arrival, response: Response): Asker {
  const beginWork = countWhileAnswering(arrival.chainWork, response, () => toCapacityClient({ caller, address: arrival.address }));
  return {
    caller,
    ...originOf(response),
    ...(arrival.origin === undefined ? {} : { origin: arrival.origin }),
    countCall: () => countCall(caller, arrival),
    async countChainCall() {
      await arrival.counter.take('rpc', arrival.address);
      beginWork();
    },
    countTask: (units) => countTask(caller, arrival, units),
    ...paymentLimits(arrival),
  };
}

/**
 * Rejected payments count per payer first, so that one bad payer does not lock out others behind the same address; then per address,
 * since payers can be invented. A payer who is not proven is only a claim: it counts at the address that makes the claim, so that
 * nobody else is locked out by being named.
 */
function paymentLimits({ address, counter }: Arrival): Pick<Asker, 'requirePaymentRoom' | 'countRejectedPayment'> {
  const keyOf = ({ wallet, isProven }: ClaimedPayer) => (isProven ? wallet : `${wallet}@${address}`);
  return {
    requirePaymentRoom(payer) {
      counter.refuseSpent('payments', address);
      counter.refuseSpent('payer', keyOf(payer));
    },
    async countRejectedPayment(payer) {
      await counter.note('payments', address);
      await counter.take('payer', keyOf(payer));
    },
  };
}

/** Tasks of token holders are bounded for each wallet by themselves. */
async function countTask({ tier }: Caller, { address, counter }: Arrival, units: number): Promise<void> {
  if (!isAtLeast(tier, 'basic')) await counter.take('tasks', address, units);
}

async function whoAsks(identify: AppOptions['identify'], arrival: Arrival, response: Response): Promise<Caller> {
  const { authorization, address, counter } = arrival;
  if (authorization === undefined) {
    await counter.take('public', address);
    return identify(undefined);
  }
  const caller = await orCounted(arrival, () => identifyOrAnonymous(identify, authorization));
  if (caller.rejectedToken !== undefined) response.set('WWW-Authenticate', REJECTED_TOKEN_CHALLENGE);
  await countCall(caller, arrival);
  return caller;
}

/** A rejected token makes its sender an anonymous caller: what needs a tier then refuses with the reason. */
async function identifyOrAnonymous(identify: AppOptions['identify'], authorization: string): Promise<Caller> {
  try {
    return await identify(authorization);
  } catch (error) {
    if (!isOracleError(error, 'UNAUTHENTICATED')) throw error;
    return { ...PUBLIC_CALLER, rejectedToken: error.message };
  }
}

function countCall({ wallet }: Caller, { address, counter }: Arrival): Promise<void> {
  return wallet === undefined ? counter.take('public', address) : counter.take('wallet', wallet.toLowerCase());
}

/**
 * Who sends a payment has the limit of a wallet, whatever others at that address have sent without one; a token changes nothing.
 * Payments that were no good have cost calls of the chain: beyond the limits of `paymentLimits` none is looked at.
 */
async function admitPayer(arrival: Arrival, request: Request, response: Response): Promise<Asker> {
  const { address, counter } = arrival;
  const asker = askerOf(PUBLIC_CALLER, arrival, response);
  if (request.method === 'HEAD' || !carriesPayment(request)) {
    await counter.take('public', address);
    return asker;
  }
  await counter.take('wallet', `paying:${address}`);
  counter.refuseSpent('payments', address);
  countWhileAnswering(arrival.chainWork, response, () => toCapacityClient({ caller: PUBLIC_CALLER, address }, true))();
  return asker;
}

/** The operator is not limited, whoever guesses is. Without a password set there is no such path. */
async function admitOperator(admin: AppOptions['admin'], arrival: Arrival, request: Request, response: Response): Promise<void> {
  const { authorization, address, counter } = arrival;
  if (admin === undefined) {
    await counter.take('public', address);
    throw nothingServed();
  }
  counter.refuseSpent('failures', address);
  response.set('Cross-Origin-Resource-Policy', 'same-origin');
  response.set('WWW-Authenticate', 'Basic realm="oracle admin", charset="UTF-8"');
  await refuseOtherSites(arrival, request);
  await orCounted(arrival, () => compareGuess(arrival, () => admin(authorization, originOf(response))));
  response.removeHeader('WWW-Authenticate');
}

/** A wrong password counts as such, beside the requests that anybody has: only then are guesses refused unseen. */
async function compareGuess({ authorization, address, counter }: Arrival, compare: () => void | Promise<void>): Promise<void> {
  try {
    await compare();
  } catch (error) {
    if (authorization !== undefined && isOracleError(error, 'UNAUTHENTICATED')) await counter.note('failures', address);
    throw error;
  }
}

/**
 * Browsers add a password that they know to whatever a page of somebody else's sends. They say whose page it is in `Sec-Fetch-Site`,
 * older ones in `Origin` only; what is no browser says neither. It is no guess at a password: nobody is locked out by a page he visits.
 */
async function refuseOtherSites({ address, counter }: Arrival, request: Request): Promise<void> {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const site = request.get('Sec-Fetch-Site');
  const field = site === undefined ? 'Origin' : 'Sec-Fetch-Site';
  if (site === undefined ? isOwnOrigin(request) : site === 'none' || site === 'same-origin') return;
  await counter.take('public', address);
  throw new OracleError('UNAUTHENTICATED', 'Requests that pages of other sites send are refused here', { field });
}

function isOwnOrigin(request: Request): boolean {
  const origin = request.get('Origin');
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.host);
}

/** What is not admitted counts against the address. */
async function orCounted<T>({ address, counter }: Arrival, admit: () => Promise<T> | T): Promise<T> {
  try {
    return await admit();
  } catch (error) {
    await counter.take('public', address);
    throw error;
  }
}
