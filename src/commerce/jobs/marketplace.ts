import { setTimeout as delay } from 'node:timers/promises';
import type { Address, LocalAccount } from 'viem';
import { z } from 'zod';
import type { Log } from '../../platform/log.ts';
import { toDatabaseError } from '../../platform/mongo.ts';
import { createOperatorFetch, type OutboundInit, readJson } from '../../platform/outbound/operator.ts';
import type { JobDoc, JobStore } from './job-store.ts';

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

export interface Marketplace {
  /**
   * May be repeated. @param delivery the exact text whose hash is on chain @throws Error for an answer other than success, of the connection,
   * and as the account for its signature
   */
  postDelivery(delivery: { jobId: string; text: string }): Promise<void>;
}

export interface MarketplaceOptions {
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
const AUTH_TYPES = {
  AgentAuth: [
    { name: 'wallet', type: 'address' },
    { name: 'chainId', type: 'uint256' },
    { name: 'issuedAt', type: 'uint256' },
  ],
} as const;

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
