import { createClient, http } from 'viem';
import { type AuditChain, type ClientOptions, connectChain, OP_STACK_CHAIN_IDS } from '../../audit/chain-record.ts';
import { EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../../chain/addresses.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import { MINUTE_MS } from '../../forecast/day.ts';
import type { Unread } from '../../verify/evidence.ts';
import { el } from '../markup.ts';
import { sendWithinLimit } from './api.ts';
import type { ApiResponses } from './responses.ts';

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

const HINT_ID = 'endpoint-hint';
/** The choice is kept for this tab. */
const ENDPOINT_STORAGE_KEY = 'oracle-rpc';
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost'];

/** A local chain is only reachable through this service. @param base of the page */
export function getDefaultEndpoint({ local, rpcUrl }: Pick<ApiResponses['info']['chain'], 'local' | 'rpcUrl'>, base: string) {
  return local ? new URL('rpc', base).href : (rpcUrl ?? '');
}

/** Accepts `https:` anywhere, `http:` on this machine, and the origin of the service. @param base of the page */
export function parseEndpoint(text: string, base: string): { url: string } | { problem: string } {
  if (text.trim() === '') return { problem: 'Enter an RPC endpoint of the chain.' };
  const url = URL.parse(text.trim(), base);
  if (url === null) return { problem: 'This is not a URL.' };
  if (url.username !== '' || url.password !== '') return { problem: 'Browsers do not send user and password in a URL.' };
  const allowed =
    url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_HOSTS.includes(url.hostname)) || url.origin === new URL(base).origin;
  return allowed ? { url: url.href } : { problem: 'The URL must begin with https:// or point to this machine (127.0.0.1 or localhost).' };
}

/** @param onChange another endpoint has been chosen: it is to be drawn again */
export function createEndpointForm({ chain, contracts }: Pick<ApiResponses['info'], 'chain' | 'contracts'>, onChange: () => void) {
  const base = document.baseURI;
  const preset = getDefaultEndpoint(chain, base);
  let text = sessionStorage.getItem(ENDPOINT_STORAGE_KEY) ?? preset;
  const current = () => parseEndpoint(text, base);

  function choose(next: string) {
    text = next;
    const endpoint = current();
    if ('url' in endpoint && endpoint.url !== preset) sessionStorage.setItem(ENDPOINT_STORAGE_KEY, endpoint.url);
    else if ('url' in endpoint) sessionStorage.removeItem(ENDPOINT_STORAGE_KEY);
    onChange();
  }

  function render() {
    const endpoint = current();
    const isWrong = 'problem' in endpoint;
    const where = `for chain ${chain.id} and attestation contract ${contracts.eas.slice(0, 42)}`;
    const line = isWrong ? endpoint.problem : formatEndpointHint(new URL(endpoint.url), where, chain.local);
    const onsubmit = (event: Event) => {
      event.preventDefault();
      choose((event.currentTarget as HTMLFormElement).endpoint.value);
    };
    const attributes = {
      inputmode: 'url',
      spellCheck: 'false',
      autocomplete: 'off',
      'aria-describedby': HINT_ID,
      'aria-invalid': `${isWrong}`,
    };
    const onchange = ({ currentTarget }: { currentTarget: HTMLInputElement }) => choose(currentTarget.value);
    return el('form', { class: 'endpoint', onsubmit }, [
      el('label', { for: 'endpoint' }, 'Read the chain from'),
      el('input', { id: 'endpoint', type: 'text', value: text, ...attributes, onchange }),
      el('button', { type: 'submit' }, 'Use'),
      el('button', { type: 'button', onclick: () => choose(preset) }, 'Default'),
      el('p', { id: HINT_ID, class: 'quiet', role: 'status' }, el('span', { class: isWrong && 'bad' }, line)),
    ]);
  }
  return {
    render,
    /** The parsed endpoint, or its validation problem. */
    current,
  };
}

function formatEndpointHint({ host }: URL, where: string, isLocal: boolean): string {
  const caution = isLocal
    ? 'This is a demo with a throw-away chain that only this service can read, so you trust its answers. For a real chain, use'
    : 'The result is only as honest as the endpoint: use';
  return `JSON-RPC requests go to ${host}, ${where}. ${caution} an endpoint that you trust.`;
}

const MAX_METADATA_BYTES = 200_000;
/** The page shares the rate limit of its address, so metadata must not use all of it. */
const MAX_REQUESTS_PER_MINUTE = 25;

/** Fetches published metadata by CID. Content-addressed data never changes and is cached; requests per minute are limited. */
export function createMetadataReader(fetch: (path: string, request: RequestInit) => Promise<Response>, now = Date.now) {
  const cache = new Map<string, Uint8Array>();
  /** Times of the requests of the last minute. */
  let requestTimes: number[] = [];

  return async (cid: string, signal: AbortSignal): Promise<Uint8Array | Unread> => {
    const kept = cache.get(cid);
    if (kept !== undefined) return kept;
    requestTimes = requestTimes.filter((at) => at > now() - MINUTE_MS);
    if (requestTimes.length >= MAX_REQUESTS_PER_MINUTE)
      return { problem: 'the rate limit of the service is used up: try again in a minute' };
    requestTimes.push(now());
    try {
      const response = await sendWithinLimit(() => fetch(`ipfs/${cid}`, { signal }), signal);
      if (!response.ok) return { problem: `the service answers with status ${response.status}` };
      const bytes = await readBoundedBytes(response, MAX_METADATA_BYTES);
      cache.set(cid, bytes);
      return bytes;
    } catch (error) {
      if (signal.aborted) throw error;
      return { problem: 'the service does not return it' };
    }
  };
}

/** Reads a body up to a limit, since a server may send without end. */
async function readBoundedBytes({ body }: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = body?.getReader();
  for (let length = 0; ; ) {
    const value = (await reader?.read())?.value;
    if (value === undefined) return new Uint8Array(await new Blob(chunks).arrayBuffer());
    length += value.length;
    if (length > maxBytes) {
      await reader?.cancel();
      throw new Error('its response is too large');
    }
    chunks.push(value);
  }
}
