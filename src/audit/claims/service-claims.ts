import { z } from 'zod';
import { formatHorizonName } from '../../forecast/model.ts';
import { getErrorMessage, OracleError } from '../../platform/errors.ts';
import { readJson } from '../../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import type { ClaimedScorecard } from '../../verify/evidence.ts';
import { buildPageQuery, MAX_ROWS, ROWS_PER_PAGE, readPages } from './scorecard-pages.ts';

const SHORT_TEXT = z.string().max(100);

/** The compared fields of a scorecard row. */
const CLAIMED_ROW_FIELDS = z.object({
  date: SHORT_TEXT,
  sequence: z.number(),
  status: SHORT_TEXT,
  signal: SHORT_TEXT.nullable(),
  direction: SHORT_TEXT.nullable(),
  confidence: z.number().nullable(),
  pUp: z.number().nullable(),
  btcPrice: z.number().nullable(),
  btcAtSignal: z.number().nullable(),
  provisional: z.boolean().optional(),
  btcAtResolution: z.number().nullable(),
  returnBps: z.number().nullable(),
  outcome: z.object({ actualReturn: z.number(), actualDirection: SHORT_TEXT, correct: z.boolean() }).nullable(),
  resolved: z.boolean(),
  resolvedAt: SHORT_TEXT.nullable(),
  windowOpensAt: SHORT_TEXT,
  resolvesAt: SHORT_TEXT,
  missed: z.boolean(),
  replayed: z.boolean().optional(),
  attestationUid: SHORT_TEXT.nullable(),
  resolutionUid: SHORT_TEXT.nullable(),
});

/** A provisional price is not the close of the outcome window and is not compared. */
const CLAIMED_ROW = CLAIMED_ROW_FIELDS.transform(({ provisional = false, ...row }) => (provisional ? { ...row, btcAtSignal: null } : row));

/** The compared parts of a scorecard. Unknown names are kept, so that they can be reported. */
const CLAIMED_SCORECARD = z.looseObject({
  horizon: SHORT_TEXT.optional(),
  summary: z.record(z.string(), z.unknown()),
  stats: z.record(z.string(), z.unknown()).optional(),
  statistics: z.record(z.string(), z.unknown()).optional(),
  byHorizon: z.array(z.looseObject({ horizon: SHORT_TEXT })).optional(),
  predictions: z.array(CLAIMED_ROW).max(MAX_ROWS),
  /** Absent in a response with all entries. */
  nextCursor: SHORT_TEXT.nullable().optional(),
});

/** The public claims of a service. */
export interface ServiceClaims {
  /** Base URL. */
  source: string;
  /** @throws OracleError SERVICE_UNREACHABLE */
  scorecard(horizonDays: number): Promise<ClaimedScorecard>;
}

const REQUEST_TIMEOUT_MS = 30_000;
const MAX_BYTES = 16 * 2 ** 20;

/** Reads the scorecards of a running service. @param url may have a path @param pageRows entries per page, 1 to 1,000 */
export function claimsOf(url: string, pageRows = ROWS_PER_PAGE): ServiceClaims {
  const base = url.replace(/\/+$/, '');
  return {
    source: base,
    async scorecard(horizonDays) {
      const read = (before: string | null) => fetchScorecardPage(base, horizonDays, buildPageQuery(horizonDays, pageRows, before));
      const pages = await readPages(read, () => serviceUnreachable(base, 'its scorecard pages do not end'));
      const { nextCursor: _, count: __, ...newest } = pages[0];
      return { ...newest, predictions: pages.flatMap(({ predictions }) => predictions) };
    },
  };
}

async function fetchScorecardPage(base: string, horizonDays: number, query: string): Promise<z.infer<typeof CLAIMED_SCORECARD>> {
  const parsed = CLAIMED_SCORECARD.safeParse(await fetchJson(`${base}/api/svc/scorecard?${query}`));
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0];
  const problem = `${path.join('.')}: ${message.slice(0, 200)}`;
  throw serviceUnreachable(base, `its ${formatHorizonName(horizonDays)} scorecard cannot be read: ${problem}`);
}

async function fetchJson(url: string): Promise<unknown> {
  const { origin, pathname } = new URL(url);
  let status: number;
  try {
    const fetchService = createOperatorFetch({ base: url, timeoutMs: REQUEST_TIMEOUT_MS, maxBytes: MAX_BYTES });
    const response = await fetchService(url, { headers: { accept: 'application/json' } });
    if (response.ok) return await readJson(response);
    status = response.status;
    await response.body?.cancel();
  } catch (cause) {
    throw serviceUnreachable(origin, getErrorMessage(cause), cause);
  }
  throw serviceUnreachable(origin, `${pathname} answers ${status}`);
}

function serviceUnreachable(where: string, why: string, cause?: unknown): OracleError {
  const suggestedAction = 'Start it with npm start, or set its URL with --service; use --rpc without --service to audit the chain alone.';
  return new OracleError('SERVICE_UNREACHABLE', `The service at ${where} does not respond as expected: ${why}`, { suggestedAction, cause });
}
