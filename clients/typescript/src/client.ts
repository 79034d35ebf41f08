import createClient, { type Client } from 'openapi-fetch';
import { IntegrityError, OracleError, TransportError, toServiceProblem } from './errors.ts';
import type { EventName, EventTypes } from './events.ts';
import {
  createAuthorizedSend,
  createCredentials,
  createSend,
  type HttpOptions,
  type OracleAccount,
  parseServiceUrl,
  readJson,
  type Send,
  type Session,
  WalletLogin,
} from './http.ts';
import type { Payer } from './payment.ts';
import { type StreamOptions, streamEvents } from './stream.ts';
import type {
  Dataset,
  ExpectedRange,
  Forecast,
  Horizon,
  OracleSignal,
  PaidAnswer,
  PaymentOptions,
  PreparedPayment,
  Product,
  paths,
  Scorecard,
  Signal,
  SignalHorizon,
  TrackRecord,
  TrackRecordFilters,
  Verification,
} from './types.ts';
import type { ForecastVerification, VerifyOptions } from './verify.ts';

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

/** Every method throws ServiceProblem for an error response and TransportError without a response. An address has 60 requests a minute. */
export interface Reads {
  /** The public signal: market context; direction and confidence stay gated until the outcome. Do not trade on the direction. */
  signal(horizon?: SignalHorizon): Promise<Signal>;
  /** The newest forecast with direction and confidence, for a token holder. The direction has no demonstrated skill. */
  oracle(horizon?: SignalHorizon): Promise<OracleSignal>;
  /** Central 50, 80 and 90 % range of the price at the end of the horizon. */
  expectedRange(horizon?: SignalHorizon): Promise<ExpectedRange>;
  /** The record with its error bars and a page of forecasts; `before` is the `nextCursor` of the page before. */
  scorecard(horizon?: Horizon, page?: { limit?: number; before?: number }): Promise<Scorecard>;
  /** All forecasts of a horizon, newest first, over all pages; HOLD, void and missed days included. */
  forecasts(horizon?: Horizon): AsyncGenerator<Forecast, void, undefined>;
  /** Statistics of exactly the forecasts that pass the filters, and these. */
  trackRecord(filters?: TrackRecordFilters): Promise<TrackRecord>;
  /** An attestation compared with the record by the service itself; `verifyForecast` does not trust the service. */
  verify(uid: string): Promise<Verification>;
  /** The tables of the resolved record, with licence, columns and digests. */
  dataset(): Promise<Dataset>;
  /** The bytes of a table, checked against the digest in `dataset`. @throws IntegrityError; OracleError NOT_FOUND for an unknown table */
  datasetTable(name: string, format?: 'csv' | 'parquet'): Promise<Uint8Array>;
}

type Api = Client<paths, `${string}/${string}`>;

const PAGE_SIZE = 1_000;
const DEFAULT_PAGE = 20;
const DEFAULT_HORIZON = '7d';

export function createReads(api: Api): Reads {
  const scorecard: Reads['scorecard'] = (horizon = DEFAULT_HORIZON, page = {}) =>
    unwrap(api.GET('/api/svc/scorecard', { params: { query: { horizon: toDays(horizon), limit: DEFAULT_PAGE, ...page } } }));
  const dataset = () => unwrap(api.GET('/api/svc/dataset'));
  return {
    signal: (horizon = DEFAULT_HORIZON) => unwrap(api.GET('/api/svc/open/signal', { params: { query: { horizon } } })),
    oracle: (horizon = DEFAULT_HORIZON) => unwrap(api.GET('/api/svc/oracle', { params: { query: { horizon } } })),
    expectedRange: (horizon = DEFAULT_HORIZON) => unwrap(api.GET('/api/svc/open/range', { params: { query: { horizon } } })),
    scorecard,
    async *forecasts(horizon) {
      for (let before: number | undefined; ; ) {
        const page: Scorecard = await scorecard(horizon, { limit: PAGE_SIZE, before });
        yield* page.predictions;
        if (page.nextCursor === null) return;
        before = Number(page.nextCursor);
      }
    },
    trackRecord: async (filters = {}) => (await unwrap(api.POST('/api/svc/skills/get_track_record', { body: filters }))).output,
    verify: (uid) => unwrap(api.GET('/api/svc/onchain-oracle/verify/{uid}', { params: { path: { uid } } })),
    dataset,
    datasetTable: async (name, format = 'csv') => downloadTable(api, await dataset(), { name, format }),
  };
}

function toDays(horizon: Horizon): 1 | 2 | 3 | 7 {
  return Number(horizon.slice(0, -1)) as 1 | 2 | 3 | 7;
}

/** The body of a successful response of openapi-fetch. @throws ServiceProblem, TransportError */
export async function unwrap<Data>(answer: Promise<{ data?: Data; error?: unknown; response: Response }>): Promise<Data> {
  const { data, error, response } = await answer.catch((cause: unknown) => {
    throw cause instanceof SyntaxError ? notServedError(cause) : cause;
  });
  if (!response.ok) throw toServiceProblem(response, error);
  if (typeof data !== 'object' || data === null) throw notServedError();
  return data;
}

function notServedError(cause?: unknown): TransportError {
  return new TransportError('The response is not JSON of this service: is this its address?', { cause });
}

async function downloadTable(
  api: Api,
  { tables }: Dataset,
  { name, format }: { name: string; format: 'csv' | 'parquet' },
): Promise<Uint8Array> {
  const file = tables.find((table) => table.name === name)?.files.find((one) => one.format === format);
  if (file === undefined) {
    const known = tables.map((table) => table.name).join(', ');
    throw new OracleError('NOT_FOUND', `There is no ${format} of ${name}; there are ${known}`, { field: 'name' });
  }
  const path = format === 'csv' ? '/api/svc/dataset/{table}.csv' : '/api/svc/dataset/{table}.parquet';
  const request = { params: { path: { table: name as 'forecasts' } }, parseAs: 'arrayBuffer', headers: { Accept: '*/*' } } as const;
  const { data, error, response } = await api.GET(path, request);
  if (!response.ok || data === undefined) throw toServiceProblem(response, error);
  const bytes = new Uint8Array(data);
  if (toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))) === file.sha256) return bytes;
  throw new IntegrityError(`${name}.${format} differs from its digest`);
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
