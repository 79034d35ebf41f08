import type { PrivateKeyAccount } from 'viem/accounts';
import { formatLoginMessage } from '../../../src/auth/login-message.ts';
import { createOperatorFetch, type OutboundInit } from '../../../src/platform/outbound/operator.ts';

/** Wallets of a local chain: two with a tier, one without, one with stablecoin. */
export type ExampleWallets = Record<'basic' | 'premium' | 'poor' | 'buyer', PrivateKeyAccount>;

export interface ExampleRequest {
  method?: string;
  token?: string;
  /** Sent as JSON; `URLSearchParams` as a form. */
  body?: object;
  accept?: string;
  headers?: Record<string, string> | undefined;
  /** Client address for a service behind a trusted proxy; default: a new one per request. */
  from?: string;
}

export interface ExampleClient {
  wallets: ExampleWallets;
  rpcUrl: string;
  nowMs(): number;
  request(path: string, request?: ExampleRequest): Promise<Response>;
  /** JSON of a successful response; throws for others. */
  // biome-ignore lint/suspicious/noExplicitAny: callers read single fields for the next request
  requestJson(path: string, request?: ExampleRequest): Promise<any>;
  /** A single-use body of POST /api/svc/oracle/verify. */
  buildLoginBody(wallet: keyof ExampleWallets): Promise<object>;
  logIn(wallet: 'basic' | 'premium'): Promise<string>;
}

/** Tier of the wallet that logs in. */
export type TokenHolder = 'basic' | 'premium';

export interface ExampleCall {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  headers?: Record<string, string>;
  /** The operation is public, and answers a login only. */
  needsToken?: true;
  /** The call revokes its token. */
  endsSession?: true;
}

export type ExampleCalls = Record<string, (client: ExampleClient, holder: TokenHolder) => Promise<ExampleCall> | ExampleCall>;

export type ExampleClientOptions = Pick<ExampleClient, 'rpcUrl' | 'wallets' | 'nowMs'> & { url: string };

export function createExampleClient({ url, rpcUrl, wallets, nowMs }: ExampleClientOptions): ExampleClient {
  let logins = 0;
  let requestCount = 0;
  const fetchService = createOperatorFetch({ base: url, timeoutMs: 60_000, maxBytes: 64 * 2 ** 20 });
  const request = (path: string, options: ExampleRequest = {}) => {
    requestCount += 1;
    return fetchService(url + path, toFetchInit({ from: `198.18.${(requestCount >> 8) & 255}.${requestCount & 255}`, ...options }));
  };
  const requestJson: ExampleClient['requestJson'] = async (path, options) => {
    const response = await request(path, options);
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const buildLoginBody = async (name: keyof ExampleWallets) => {
    logins += 1;
    const { address: wallet } = wallets[name];
    // A signature is accepted once, so each login has its own timestamp within the window.
    const timestamp = nowMs() - 30_000 - logins;
    return { wallet, signature: await wallets[name].signMessage({ message: formatLoginMessage(wallet, timestamp) }), timestamp };
  };
  const logIn = async (name: 'basic' | 'premium') =>
    (await requestJson('/api/svc/oracle/verify', { method: 'POST', body: await buildLoginBody(name) })).token;
  return { wallets, rpcUrl, nowMs, request, requestJson, buildLoginBody, logIn };
}

const FORM_MEDIA_TYPE = 'application/x-www-form-urlencoded;charset=UTF-8';

function toFetchInit({ method = 'GET', token, body, accept, from, headers }: ExampleRequest): OutboundInit {
  return {
    method,
    headers: {
      ...headers,
      ...(from === undefined ? {} : { 'X-Forwarded-For': from }),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': body instanceof URLSearchParams ? FORM_MEDIA_TYPE : 'application/json' }),
      ...(accept === undefined ? {} : { Accept: accept }),
    },
    ...(body === undefined ? {} : { body: body instanceof URLSearchParams ? String(body) : JSON.stringify(body) }),
  };
}
