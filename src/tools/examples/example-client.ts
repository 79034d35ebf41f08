import type { PrivateKeyAccount } from 'viem/accounts';
import { formatLoginMessage } from '../../auth/login/login-message.ts';
import { createOperatorFetch, type OutboundInit } from '../../platform/outbound/operator-fetch.ts';

/** The wallets of a local chain: two that open a tier, one that opens none, one that has money. */
export type ExampleWallets = Record<'basic' | 'premium' | 'poor' | 'buyer', PrivateKeyAccount>;

export interface ExampleRequest {
  method?: string;
  token?: string;
  /** JSON; `URLSearchParams` are sent as a form. */
  body?: object;
  accept?: string;
  /** Others beside those that follow from the rest. */
  headers?: Record<string, string> | undefined;
  /** Address that it comes from, where the service believes what it is told of that; unset: one of its own. */
  from?: string;
}

/** A running service, seen through its door only, and the chain that its callers pay on. */
export interface ExampleClient {
  wallets: ExampleWallets;
  rpcUrl: string;
  /** The time by which it is asked. */
  nowMs(): number;
  /** What a path answers, whatever that is. */
  request(path: string, request?: ExampleRequest): Promise<Response>;
  /** The JSON of an answer that succeeded. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are read for a field or two, which the next request is then made with
  requestJson(path: string, request?: ExampleRequest): Promise<any>;
  /** A body of POST /api/svc/oracle/verify; each can be used once. */
  buildLoginBody(wallet: keyof ExampleWallets): Promise<object>;
  /** A new access token. */
  logIn(wallet: 'basic' | 'premium'): Promise<string>;
}

/** Tier of the wallet that logs in. */
export type TokenHolder = 'basic' | 'premium';

/** Parameters of one request; method, path and token come from the operation. */
export interface ExampleCall {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  headers?: Record<string, string>;
  /** The call revokes its token. */
  endsSession?: true;
}

/** Calls by the name of their operation. */
export type ExampleCalls = Record<string, (client: ExampleClient, holder: TokenHolder) => Promise<ExampleCall> | ExampleCall>;

export interface ExampleClientOptions {
  /** Where it is reached. */
  url: string;
  rpcUrl: string;
  wallets: ExampleWallets;
  nowMs(): number;
}

/** Reads and logs in as any client would. */
export function createExampleClient({ url, rpcUrl, wallets, nowMs }: ExampleClientOptions): ExampleClient {
  let logins = 0;
  let requestCount = 0;
  const fetchService = createOperatorFetch({ base: url, timeoutMs: 60_000, maxBytes: 64 * 2 ** 20 });
  const ask = (path: string, request: ExampleRequest = {}) => {
    requestCount += 1;
    return fetchService(url + path, toFetchInit({ from: `198.18.${(requestCount >> 8) & 255}.${requestCount & 255}`, ...request }));
  };
  const json: ExampleClient['requestJson'] = async (path, request) => {
    const response = await ask(path, request);
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const loginBody = async (name: keyof ExampleWallets) => {
    logins += 1;
    const { address: wallet } = wallets[name];
    // A signature works once: each login has a time of its own, well within the window.
    const timestamp = nowMs() - 30_000 - logins;
    return { wallet, signature: await wallets[name].signMessage({ message: formatLoginMessage(wallet, timestamp) }), timestamp };
  };
  const logIn = async (name: 'basic' | 'premium') =>
    (await json('/api/svc/oracle/verify', { method: 'POST', body: await loginBody(name) })).token;
  return { wallets, rpcUrl, nowMs, request: ask, requestJson: json, buildLoginBody: loginBody, logIn };
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
