import { setTimeout as delay } from 'node:timers/promises';
import { type Address, type Hex, isAddressEqual, type LocalAccount, zeroAddress } from 'viem';
import { z } from 'zod';
import type { OnChainJob } from '../../chain/erc8183.ts';
import type { Log } from '../../platform/log.ts';
import { toDatabaseError } from '../../platform/mongo.ts';
import { createOperatorFetch, type OutboundInit, readJson } from '../../platform/outbound/operator.ts';
import { formatMoney, type Offering, usdFromMicros } from '../offerings.ts';
import { toTypedFields } from '../receipts.ts';
import type { JobDoc, JobStore } from './job-store.ts';

export interface JobPolicy {
  /** Known evaluators: their jobs are accepted at any price. */
  evaluators: readonly Address[];
  /** Maximum price with an unknown evaluator, in millionths of a US dollar; 0 rejects such jobs. */
  maxMicros: bigint;
  /** For how long an unpaid delivery to an unknown evaluator blocks the delivery slot. */
  unpaidPauseMs: number;
  /** Jobs without an evaluator; null: none. */
  direct: DirectJobPolicy | null;
}

/** Accepted but unfunded jobs per client, since each costs a transaction. Concurrent processes may exceed it slightly. */
export const MAX_OPEN_OFFERS = 20;
const MIN_TIME_TO_EXPIRY_MS = 5 * 60_000;
/** Minimum time to expiry for a delivery, which must be on chain before the job expires. */
export const MIN_DELIVERY_TIME_MS = 2 * 60_000;

export interface JobApplication {
  job: OnChainJob;
  offering: Offering;
  policy: JobPolicy;
  provider: Address;
  at: Date;
  /** The client or evaluator rejected an earlier delivery or let it expire. */
  hasUnpaid: boolean;
  offers: number;
  /** Expiry of another job's hold on the delivery slot, or null. */
  takenUntil: Date | null;
  /** Null for a job with an evaluator. */
  direct: DirectJobFacts | null;
}

/** Never the zero address, which judges nothing: jobs without an evaluator have rules of their own. */
export function isKnownEvaluator({ evaluators }: Pick<JobPolicy, 'evaluators'>, evaluator: Address): boolean {
  return !isAddressEqual(evaluator, zeroAddress) && evaluators.some((known) => isAddressEqual(known, evaluator));
}

/** Why a job is rejected, as a sentence; null for an acceptable job. */
export function findJobRejection(application: JobApplication): string | null {
  const { job, policy, provider, at, offers } = application;
  const { evaluator, hook, expiresAt } = job;
  // A job that was funded before it was seen is accepted until its delivery is impossible.
  const minTimeMs = job.state === 'FUNDED' ? MIN_DELIVERY_TIME_MS : MIN_TIME_TO_EXPIRY_MS;
  if (!isAddressEqual(hook, zeroAddress)) return 'The job has a hook, which could block it: create one with the zero address as hook.';
  if (isAddressEqual(evaluator, provider)) return 'The evaluator is the provider, which does not judge its own work: name another one.';
  if (expiresAt.getTime() - at.getTime() < minTimeMs) return 'The job expires too soon: give it more than 5 minutes.';
  if (job.state === 'OPEN' && offers >= MAX_OPEN_OFFERS) {
    return `The client has ${MAX_OPEN_OFFERS} jobs that are not funded: fund or reject one of them, then create this one again.`;
  }
  if (isKnownEvaluator(policy, evaluator)) return null;
  const { direct, offering, hasUnpaid } = application;
  if (direct === null) return findUnknownEvaluatorRejection(application);
  const reason = findDirectJobRejection(policy.direct, direct, { offering, state: job.state });
  if (reason !== null) return reason;
  if (hasUnpaid) return 'An earlier job without an evaluator, or of this client, was delivered and not paid: buy by another channel.';
  return direct.isKnownClient ? null : findSlotRejection(application);
}

/** An unknown evaluator could read the deliverable and then reject it. */
function findUnknownEvaluatorRejection(application: JobApplication): string | null {
  const { offering, policy, hasUnpaid } = application;
  if (policy.maxMicros === 0n) return 'The evaluator is unknown to this provider: name one that the offerings list.';
  if (offering.price.amount > policy.maxMicros) {
    return `The evaluator is unknown to this provider, and such jobs are accepted up to ${formatMoney(usdFromMicros(policy.maxMicros))} only.`;
  }
  if (hasUnpaid) return 'The client or the evaluator rejected an earlier delivery, or let it expire: buy by another channel.';
  return findSlotRejection(application);
}

/** A funded job waits for the slot. */
function findSlotRejection({ job, takenUntil }: JobApplication): string | null {
  if (takenUntil === null || job.state !== 'OPEN') return null;
  return `Jobs of unknown evaluators are delivered one at a time: create it again once the current one is paid, or after ${takenUntil.toISOString()}.`;
}

/** Direct jobs have no evaluator: a contract that allows them completes and pays a job with its submission. ERC-8183 itself does not. */
interface DirectJobPolicy {
  /** keccak256 of the runtime code of contracts, and of implementations behind proxies, that pay with the submission. */
  codeHashes: readonly Hex[];
  /** Maximum price, in millionths of a US dollar. */
  maxMicros: bigint;
  /** Jobs at a time of all clients without a paid job, over the last hour. Concurrent processes may exceed it slightly. */
  maxOpen: number;
}

export interface DirectJobFacts {
  isKnownCode: boolean;
  /** The client has paid a job before. */
  isKnownClient: boolean;
  openJobs: number;
}

export function isDirectJob({ evaluator }: Pick<OnChainJob, 'evaluator'>): boolean {
  return isAddressEqual(evaluator, zeroAddress);
}

/** Why a job without an evaluator is rejected, as a sentence; null for an acceptable one. */
function findDirectJobRejection(
  policy: DirectJobPolicy | null,
  { isKnownCode, isKnownClient, openJobs }: DirectJobFacts,
  { offering, state }: { offering: Offering; state: OnChainJob['state'] },
): string | null {
  if (policy === null) return 'The job has no evaluator and could never be completed: name one.';
  if (!isKnownCode)
    return 'The job has no evaluator, and the code of the contract is none that is known to pay such a job: name an evaluator.';
  if (offering.price.amount > policy.maxMicros)
    return `Jobs without an evaluator are accepted up to ${formatMoney(usdFromMicros(policy.maxMicros))} only.`;
  // A funded job has cost its client the price.
  if (isKnownClient || state !== 'OPEN' || openJobs < policy.maxOpen) return null;
  return `New clients have ${policy.maxOpen} jobs without an evaluator at a time: create it again in an hour, or name an evaluator.`;
}

export interface PostDeliveriesDeps {
  contract: Address;
  store: JobStore;
  marketplace: Marketplace;
  log: Log;
  now(): Date;
}

const MAX_PER_RUN = 20;
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 600_000;

/**
 * Posts deliveries whose hash is on chain. Separate from the processing of jobs: an outage delays nothing there. A process that dies after a
 * post repeats it with the same text.
 */
export async function postDeliveries(deps: PostDeliveriesDeps): Promise<void> {
  const { contract, store, now } = deps;
  for (const job of await store.listUnposted(contract, now(), MAX_PER_RUN)) await tryPost(deps, job);
}

async function tryPost({ store, marketplace, log, now }: PostDeliveriesDeps, { _id, jobId, delivery, posting }: JobDoc): Promise<void> {
  const attempts = (posting?.attempts ?? 0) + 1;
  try {
    await marketplace.postDelivery({ jobId, text: delivery!.text });
  } catch (error) {
    if (attempts === 1) log.warn({ job: _id, err: error }, 'the marketplace does not take a delivery; it is tried again');
    const due = new Date(now().getTime() + Math.min(RETRY_MS * 2 ** Math.min(attempts, 10), MAX_RETRY_MS));
    return store.update(_id, { posting: { attempts, due, postedAt: null } });
  }
  return store.update(_id, { posting: { attempts, due: null, postedAt: now() } });
}

/** Until the signal aborts. */
export async function watchDeliveries(deps: PostDeliveriesDeps, intervalMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await postDeliveries(deps).catch((error: unknown) => {
      deps.log.error({ err: toDatabaseError(error) }, 'posting deliveries to the marketplace failed; it goes on');
    });
    // An abort ends the pause, and with it the loop.
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

interface Marketplace {
  /**
   * May be repeated. @param delivery the exact text whose hash is on chain @throws Error for an answer other than success, of the connection,
   * and as the account for its signature
   */
  postDelivery(delivery: { jobId: string; text: string }): Promise<void>;
}

interface MarketplaceOptions {
  url: string;
  chainId: number;
  /** Of the provider. */
  account: Pick<LocalAccount, 'address' | 'signTypedData'>;
  now(): Date;
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 65_536;
const TOKEN_RESPONSE = z.looseObject({ data: z.looseObject({ token: z.string().min(1).max(8_192) }) });

/** EIP-712 login of an agent, as the ACP SDK v2 signs it. */
const AUTH_TYPES = { AgentAuth: toTypedFields('address wallet, uint256 chainId, uint256 issuedAt') };

/** The part of the ACP v2 API from which buyers read deliveries (`@virtuals-protocol/acp-node-v2`: `AcpHttpClient`, `AcpApiClient`). */
export function createMarketplace({ url, chainId, account, now }: MarketplaceOptions): Marketplace {
  const base = url.replace(/\/+$/, '');
  const send = createOperatorFetch({ base, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  let token: string | null = null;

  async function logIn(): Promise<string> {
    const issuedAt = now().getTime();
    const wallet = account.address;
    const signature = await account.signTypedData({
      domain: { name: 'ACP', version: '1', chainId },
      types: AUTH_TYPES,
      primaryType: 'AgentAuth',
      message: { wallet, chainId: BigInt(chainId), issuedAt: BigInt(issuedAt) },
    });
    const response = await send(`${base}/auth/agent`, toPost({ walletAddress: wallet, signature, issuedAt, chainId }));
    if (!response.ok) throw new Error(`the login was answered with status ${response.status}`);
    return TOKEN_RESPONSE.parse(await readJson(response, MAX_BYTES)).data.token;
  }

  async function post(path: string, body: object): Promise<number> {
    token ??= await logIn();
    const { status } = await send(`${base}${path}`, toPost(body, token));
    if (status === 401) token = null;
    return status;
  }

  return {
    async postDelivery({ jobId, text }) {
      const path = `/jobs/${chainId}/${jobId}/deliverable`;
      const body = { deliverable: text };
      const first = await post(path, body);
      // The token has expired.
      const status = first === 401 ? await post(path, body) : first;
      if (status < 200 || status > 299) throw new Error(`the delivery was answered with status ${status}`);
    },
  };
}

function toPost(body: object, token?: string): OutboundInit {
  const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  return { method: 'POST', headers, body: JSON.stringify(body) };
}
