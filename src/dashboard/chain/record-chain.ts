import { createClient, type Hex, http } from 'viem';
import { type AuditChain, type ClientOptions, connectChain, OP_STACK_CHAIN_IDS, readAttestation } from '../../audit/chain/audit-chain.ts';
import { EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../../chain/addresses.ts';
import type { SchemaName } from '../../chain/eas/attestation-schemas.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import type { AttestationEvidence, Unread } from '../../verify/evidence.ts';
import { sendWithinLimit } from '../state/api.ts';
import type { ApiResponses } from '../state/responses.ts';

type ChainInfo = Pick<ApiResponses['info'], 'chain' | 'contracts'>;

const TIMEOUT_MS = 20_000;
const MAX_RETRIES = 2;
const RETRY_DELAY_MS = 500;
const OVERLOADED_STATUSES = [429, 502, 503, 504];

/**
 * Connects to the chain of the record by an endpoint that the reader has chosen and whose answers are not trusted, after checking that chain
 * and attestation contract are those of the record. @throws OracleError CHAIN_UNREACHABLE
 */
export async function openRecordChain(request: { info: ChainInfo; endpoint: string; signal: AbortSignal }): Promise<AuditChain> {
  const { info, endpoint, signal } = request;
  const doubt = explainContractDoubt(info);
  if (doubt !== null) throw new OracleError('CHAIN_UNREACHABLE', doubt);
  const addresses = { eas: EAS_ADDRESS, schemaRegistry: SCHEMA_REGISTRY_ADDRESS };
  const chain = await connectChain((options) => createPageClient(endpoint, signal, options), addresses);
  if (chain.chainId === info.chain.id) return chain;
  const problem = `${new URL(endpoint).host} is of chain ${chain.chainId}, the record is on chain ${info.chain.id}`;
  throw new OracleError('CHAIN_UNREACHABLE', problem);
}

/** Why the attestation contract that the service names cannot be trusted, or null. An arbitrary contract can return anything. */
export function explainContractDoubt({ chain: { id, local }, contracts }: ChainInfo): string | null {
  if (!OP_STACK_CHAIN_IDS.includes(id) && !local)
    return `the attestation contract of chain ${id} is not known to this page, and the service could name any`;
  if (contracts.eas.toLowerCase() === EAS_ADDRESS) return null;
  return `the service names ${contracts.eas.slice(0, 42)} as the attestation contract, but on chain ${id} it is at ${EAS_ADDRESS}`;
}

/** What went wrong, in one line. An error that is not the endpoint's is one of this page, and is reported. */
export function explainChainError(error: unknown): string {
  if (!isOracleError(error)) {
    reportError(error);
    return 'an error in this page';
  }
  const { cause, message } = error;
  return (cause instanceof Error ? cause.message : message).replace(/^HTTP request failed\. /, '').slice(0, 200);
}

/** What an endpoint returns, or did wrong. */
export function orProblem<T>(reading: Promise<T>): Promise<T | Unread> {
  return reading.catch((error: unknown) => {
    if (!isOracleError(error)) throw error;
    return { problem: explainChainError(error) };
  });
}

const UID_PATTERN = /^0x[0-9a-f]{64}$/i;

export type AttestationReader = ReturnType<typeof createAttestationReader>;

/** Reads each attestation once. A uid that is none exists on no chain. */
export function createAttestationReader(chain: AuditChain) {
  const contents = new Map<string, Promise<AttestationEvidence['content']>>();
  return async <S extends SchemaName>(schema: S, uid: string | null | undefined): Promise<AttestationEvidence<S> | null> => {
    if (uid == null) return null;
    const content = contents.get(uid) ?? (UID_PATTERN.test(uid) ? orProblem(readAttestation(chain, uid as Hex)) : Promise.resolve(null));
    contents.set(uid, content);
    return { uid: uid.toLowerCase() as Hex, schema, content: await content, blockAt: null };
  };
}

/** Sends neither credentials nor the URL of the page, and follows no redirect; the library bounds the size of a response. */
function createPageClient(endpoint: string, signal: AbortSignal, { batchSize, retries }: ClientOptions) {
  const transport = http(endpoint, {
    // Each attempt has its time; waits for a rate limit are as long as the endpoint asks for.
    ...{ batch: batchSize === undefined ? false : { batchSize }, retryCount: 0, timeout: 0 },
    fetchOptions: { credentials: 'omit', referrerPolicy: 'no-referrer', redirect: 'error' },
    fetchFn: (url, init) => sendWithinLimit(() => send(url, { ...init, signal }, retries ? MAX_RETRIES : 0), signal),
  });
  return createClient({ transport, ccipRead: false, cacheTime: 0 });
}

async function send(url: string | URL | Request, init: RequestInit & { signal: AbortSignal }, retriesLeft: number): Promise<Response> {
  const { signal } = init;
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { ...init, signal: AbortSignal.any([signal, limit]) }).catch(() => {
    throw new Error(limit.aborted ? `it does not answer within ${TIMEOUT_MS / 1_000} s` : 'it cannot be reached from this browser');
  });
  const namesWait = response.status === 429 && response.headers.get('retry-after') !== null;
  if (retriesLeft === 0 || namesWait || !OVERLOADED_STATUSES.includes(response.status)) return response;
  await response.body?.cancel();
  await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS * (MAX_RETRIES - retriesLeft + 1)));
  return send(url, init, retriesLeft - 1);
}
