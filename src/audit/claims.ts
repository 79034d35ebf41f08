import { z } from 'zod';
import { messageOf, OracleError } from '../errors.ts';
import { horizonName } from '../forecast/model.ts';
import { boundedJson } from '../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../platform/outbound/operator-fetch.ts';
import { MAX_ROWS, PAGE_ROWS, pageQuery, readPages } from './scorecard-pages.ts';

const TEXT = z.string().max(100);

/** What is compared of a row of the scorecard. */
const ROW_FIELDS = z.object({
  date: TEXT,
  sequence: z.number(),
  status: TEXT,
  signal: TEXT.nullable(),
  direction: TEXT.nullable(),
  confidence: z.number().nullable(),
  pUp: z.number().nullable(),
  btcPrice: z.number().nullable(),
  btcAtSignal: z.number().nullable(),
  provisional: z.boolean().optional(),
  btcAtResolution: z.number().nullable(),
  returnBps: z.number().nullable(),
  outcome: z.object({ actualReturn: z.number(), actualDirection: TEXT, correct: z.boolean() }).nullable(),
  resolved: z.boolean(),
  resolvedAt: TEXT.nullable(),
  windowOpensAt: TEXT,
  resolvesAt: TEXT,
  missed: z.boolean(),
  replayed: z.boolean().optional(),
  attestationUid: TEXT.nullable(),
  resolutionUid: TEXT.nullable(),
});

/** A provisional price is not the close that an outcome is measured from: it is compared with nothing. */
const ROW = ROW_FIELDS.transform(({ provisional = false, ...row }) => (provisional ? { ...row, btcAtSignal: null } : row));

/** What is compared of a scorecard; figures as far as they are there. Other names are kept: what they tell is asked for. */
const SCORECARD = z.looseObject({
  horizon: TEXT.optional(),
  summary: z.record(z.string(), z.unknown()),
  stats: z.record(z.string(), z.unknown()).optional(),
  statistics: z.record(z.string(), z.unknown()).optional(),
  byHorizon: z.array(z.looseObject({ horizon: TEXT })).optional(),
  predictions: z.array(ROW).max(MAX_ROWS),
  /** Of a service that sends all entries at once there is none. */
  nextCursor: TEXT.nullable().optional(),
});

export type ClaimedRow = z.infer<typeof ROW>;
export type ClaimedScorecard = z.infer<typeof SCORECARD>;

/** What the service says of itself, as anybody may ask it. */
export interface Claims {
  /** Where it was asked. */
  source: string;
  /** @throws OracleError SERVICE_UNREACHABLE */
  scorecard(horizonDays: number): Promise<ClaimedScorecard>;
}

const PATIENCE_MS = 30_000;
const MAX_BYTES = 16 * 2 ** 20;

/** What a running service claims. @param url of the service, with the path it is served under, if any @param pageRows entries asked for at once */
export function claimsOf(url: string, pageRows = PAGE_ROWS): Claims {
  const base = url.replace(/\/+$/, '');
  return {
    source: base,
    scorecard: (horizonDays) => wholeScorecard(base, { horizonDays, pageRows }),
  };
}

interface Pages {
  horizonDays: number;
  /** Entries of a page, 1 to 1,000. */
  pageRows: number;
}

/** The newest page with the entries of all pages. */
async function wholeScorecard(base: string, pages: Pages): Promise<ClaimedScorecard> {
  const read = (before: string | null) => scorecardPage(base, pages, before);
  const all = await readPages(read, () => unreachable(base, 'its scorecard has no end'));
  const { nextCursor: _, count: __, ...newest } = all[0];
  return { ...newest, predictions: all.flatMap(({ predictions }) => predictions) };
}

async function scorecardPage(base: string, { horizonDays, pageRows }: Pages, before: string | null): Promise<ClaimedScorecard> {
  const answer = await ask(`${base}/api/svc/scorecard?${pageQuery(horizonDays, pageRows, before)}`);
  const parsed = SCORECARD.safeParse(answer);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0];
  throw unreachable(base, `its ${horizonName(horizonDays)} scorecard cannot be read: ${path.join('.')}: ${message.slice(0, 200)}`);
}

async function ask(url: string): Promise<unknown> {
  const { origin, pathname } = new URL(url);
  let status: number;
  try {
    const fetchService = createOperatorFetch({ base: url, timeoutMs: PATIENCE_MS, maxBytes: MAX_BYTES });
    const response = await fetchService(url, { headers: { accept: 'application/json' } });
    if (response.ok) return await boundedJson(response);
    status = response.status;
    await response.body?.cancel();
  } catch (cause) {
    throw unreachable(origin, messageOf(cause), cause);
  }
  throw unreachable(origin, `${pathname} answers ${status}`);
}

function unreachable(where: string, why: string, cause?: unknown): OracleError {
  const suggestedAction =
    'Start it with npm start, or name its address with --service; without --service and with --rpc the chain alone is audited.';
  return new OracleError('SERVICE_UNREACHABLE', `The service at ${where} does not answer as it should: ${why}`, { suggestedAction, cause });
}
