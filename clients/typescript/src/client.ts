import createClient, { type Client } from 'openapi-fetch';
import type { OracleAccount } from './account.ts';
import { createAuthorizedSend, createCredentials } from './credentials.ts';
import { OracleError } from './errors.ts';
import type { EventName, EventTypes } from './events.ts';
import { createSend, type HttpOptions, parseServiceUrl, readJson, type Send } from './http.ts';
import { type Session, WalletLogin } from './login.ts';
import type { Payer } from './payment.ts';
import type { PaidAnswer, PaymentOptions, PreparedPayment, Product } from './payment-types.ts';
import { createReads, type Reads } from './reads.ts';
import { streamEvents } from './stream.ts';
import type { StreamOptions } from './stream-options.ts';
import type { paths } from './types.ts';
import type { ForecastVerification, VerifyOptions } from './verification.ts';

export interface OracleClientOptions extends HttpOptions {
  /** Of the service, with its path where it has one. */
  url: string;
  /** Long-lived key, `bso_...`, sent with each request. */
  apiKey?: string | undefined;
  /** Logs in where an operation needs it and there is no `apiKey`, and signs payments. */
  account?: OracleAccount | undefined;
}

export interface OracleClient extends Reads {
  /** Every operation of the service by openapi-fetch: `api.GET('/api/svc/regime')` resolves to `{ data, error, response }`. */
  readonly api: Client<paths, `${string}/${string}`>;
  /** Buys an answer by x402 and checks its receipt. Needs viem, and `account`. @throws PaymentDeclined, PaymentUncertain, ReceiptRejected */
  buy<What extends Product = 'signal'>(options: PaymentOptions<What>): Promise<PaidAnswer<What>>;
  /** Signs a payment without sending it, to be stored before `sendPayment`. */
  preparePayment<What extends Product = 'signal'>(options: PaymentOptions<What>): Promise<PreparedPayment<What>>;
  /** Sends a prepared payment, or the same once more: it is never paid twice. */
  sendPayment<What extends Product>(payment: PreparedPayment<What>, options?: { attempts?: number }): Promise<PaidAnswer<What>>;
  /** Live events: `for await (const event of client.stream({ since }))`. */
  stream<Name extends EventName = EventName>(options?: StreamOptions<Name>): AsyncGenerator<EventTypes[Name], void, undefined>;
  /** Checks a forecast against the chain by an endpoint of yours. Needs viem. */
  verifyForecast(id: string, options: VerifyOptions): Promise<ForecastVerification>;
  /** The session of the account, after a login where there is none. */
  session(): Promise<Session>;
  logOut(): Promise<void>;
}

/** A settlement is confirmed on chain before its answer is sent. */
const MIN_PAYMENT_TIMEOUT_MS = 60_000;

/** @throws OracleError CONFIG_INVALID for a malformed url or key, and on a runtime that is too old */
export function createOracleClient(options: OracleClientOptions): OracleClient {
  const { apiKey, account } = options;
  const url = parseServiceUrl(options.url);
  requireKey(apiKey);
  requireRuntime();
  const send = createSend(options);
  const login = new WalletLogin(url, send, account);
  const credentials = createCredentials(apiKey, login);
  const authorize = (mode: 'always' | 'on-401' | 'never') => createAuthorizedSend(send, credentials, mode);
  const api = createClient<paths>({
    baseUrl: url,
    fetch: authorize(apiKey !== undefined ? 'always' : account === undefined ? 'never' : 'on-401'),
    headers: { Accept: 'application/json' },
  });
  const authorized = authorize('always');
  const paySend = createSend({ ...options, timeoutMs: Math.max(MIN_PAYMENT_TIMEOUT_MS, options.timeoutMs ?? 0) });
  let payer: Promise<Payer> | undefined;
  const openPayer = () => {
    payer ??= loadWithViem(() => import('./payment.ts')).then(({ Payer }) => new Payer({ url, send: paySend, account }));
    return payer;
  };
  return {
    api,
    ...createReads(api),
    buy: async (request) => (await openPayer()).buy(request),
    preparePayment: async (request) => (await openPayer()).prepare(request),
    sendPayment: async (payment, request) => (await openPayer()).send(payment, request),
    stream: (request = {}) => streamEvents({ url, send: authorized, credentials }, request),
    async verifyForecast(id, request) {
      const { verifyForecastOnChain } = await loadWithViem(() => import('./verify.ts'));
      return verifyForecastOnChain({ url, request: (path) => requestJson(send, `${url}/${path}`) }, id, request);
    },
    session: () => login.session(),
    logOut: () => login.logOut(),
  };
}

async function requestJson(send: Send, url: string): Promise<unknown> {
  return readJson(await send(new Request(url, { headers: { Accept: 'application/json' } })));
}

/** Older runtimes fail later, in the middle of a check or a stream. */
function requireRuntime(): void {
  if (typeof Map.groupBy === 'function' && typeof globalThis.WebSocket === 'function') return;
  throw new OracleError('CONFIG_INVALID', 'This client needs Node 22 or later, or a browser that knows Map.groupBy and WebSocket');
}

function requireKey(apiKey: string | undefined): void {
  if (apiKey === undefined || /^[\x21-\x7e]+$/.test(apiKey)) return;
  throw new OracleError('CONFIG_INVALID', 'apiKey must be a key of the service, bso_ and its digits, without spaces', { field: 'apiKey' });
}

/** viem is an optional peer: reads, API keys and the stream do without it. */
async function loadWithViem<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new OracleError('CONFIG_INVALID', 'Payments and verification need viem', { suggestedAction: 'npm install viem', cause });
  }
}
