import type { Client } from 'openapi-fetch';
import { IntegrityError, OracleError, TransportError, toServiceProblem } from './errors.ts';
import type {
  Dataset,
  ExpectedRange,
  Forecast,
  Horizon,
  OracleSignal,
  paths,
  Scorecard,
  Signal,
  SignalHorizon,
  TrackRecord,
  TrackRecordFilters,
  Verification,
} from './types.ts';

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
const DEFAULT_HORIZON = '7d';

export function createReads(api: Api): Reads {
  const scorecard: Reads['scorecard'] = (horizon = DEFAULT_HORIZON, page = {}) =>
    unwrap(api.GET('/api/svc/scorecard', { params: { query: { horizon: toDays(horizon), ...page } } }));
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
