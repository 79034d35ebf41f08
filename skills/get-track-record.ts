import type { Hex } from 'viem';
import { z } from 'zod';
import type { Caller } from '../src/auth/caller.ts';
import type { Context } from '../src/context.ts';
import { type Day, formatDayOrNull, parseDay } from '../src/forecast/day.ts';
import { parseHorizonDays } from '../src/forecast/horizon-input.ts';
import { formatHorizonName } from '../src/forecast/model.ts';
import { publishRecordSummary } from '../src/forecast/record-statistics.ts';
import { REGIME_NAMES, type Regime } from '../src/forecast/regime.ts';
import { DATE, listOf, objectOf, TIME } from '../src/platform/validation.ts';
import { findLatestAttestation, listAttestations } from '../src/record/attestations.ts';
import { type ShareRow, summarizeAttestations, toFullStatistics } from '../src/record/figures.ts';
import type { ForecastDoc } from '../src/record/forecast-doc.ts';
import type { ForecastRecord } from '../src/record/forecasts.ts';
import { DIRECTION, HORIZON, INTERVAL, REGIME, SIGNAL, STATUS } from '../src/record/schemas/forecast.ts';
import { TRACK_RECORD, type TrackRecordReply } from '../src/record/schemas/track-record.ts';
import { buildScorecardPage, listScorecardRows, toScorecardEntry } from '../src/record/scorecard.ts';
import { type PublicStatus, toPublicStatus, type ViewOptions } from '../src/record/visibility.ts';
import { DATE_INPUT, defineOutline, defineSkill, forecastHorizon, formatInterval, formatSource, limitWords } from './skill.ts';
import { findDateRange, findHorizon, findNamed } from './text.ts';

/** Forecasts of a page that a short answer lists. */
const MAX_OUTLINED_ENTRIES = 10;

const COUNT = z.int();
const NUMBER = z.number().nullable();
const BOUNDS = z.object(INTERVAL.shape).nullable();

const TRACK_RECORD_OUTLINE = defineOutline(TRACK_RECORD, {
  schema: z.object({
    asOf: TIME,
    filters: z.object({
      horizon: HORIZON,
      from: DATE.nullable(),
      to: DATE.nullable(),
      regime: REGIME.nullable(),
      status: STATUS.nullable(),
    }),
    statistics: objectOf('Of exactly the filtered forecasts', {
      totalPredictions: COUNT,
      resolved: COUNT.describe('Wins and losses'),
      wins: COUNT,
      losses: COUNT,
      holds: COUNT.describe('Abstained, not scored'),
      voids: COUNT.describe('Missed or late, not scored'),
      pending: COUNT,
      accuracy: NUMBER,
      accuracyInterval95: BOUNDS.describe('On the effective sample size, given overlapping windows'),
      alwaysUpAccuracy: NUMBER,
      brier: z
        .object({ n: COUNT, model: z.number(), climatology: z.number(), climatology4y: NUMBER })
        .nullable()
        .describe('Lower is better'),
      brierDifference: z.object({ n: COUNT, mean: z.number(), low: NUMBER, high: NUMBER }).nullable().describe('Model minus base rate'),
      verdict: z.string(),
    }),
    wholeRecord: z.object({
      total: COUNT,
      resolved: COUNT,
      wins: COUNT,
      accuracy: NUMBER,
      effectiveN: z.number(),
      accuracyInterval95: BOUNDS,
      verdict: z.string(),
    }),
    moveVerdict: z.string().describe('What the record shows of P(big move)'),
    inference: z.string().describe('What the filters do to inference'),
    entries: listOf(`Newest first; in a summary at most ${MAX_OUTLINED_ENTRIES} of the page`, {
      date: DATE,
      predictionId: z.string(),
      signal: SIGNAL.nullable(),
      direction: DIRECTION.nullable(),
      pUp: NUMBER,
      status: STATUS,
      returnBps: z.int().nullable(),
    }),
    page: COUNT,
    pages: COUNT,
    total: COUNT.describe('Forecasts that match'),
    source: z.string(),
  }),
  cut: ({ entries, ...rest }) => ({ ...rest, entries: entries.slice(0, MAX_OUTLINED_ENTRIES) }),
});

const STATUSES = STATUS.options;
const MAX_PAGE_SIZE = 100;
const MAX_PAGE_NUMBER = 100_000;

const pageInput = (fallback: number, max: number) =>
  z.int(`must be a whole number from 1 to ${max}`).min(1, 'must be at least 1').max(max, `must be at most ${max}`).default(fallback);

const FIELDS = z.strictObject({
  horizon: forecastHorizon,
  from: DATE_INPUT.optional().describe('First day, UTC, not after `to`; default: the first'),
  to: DATE_INPUT.optional().describe('Last day, inclusive, not before `from`; default: today'),
  regime: z
    .enum(REGIME_NAMES, { error: `must be one of ${REGIME_NAMES.join(', ')}` })
    .optional()
    .describe('Market regime'),
  status: z
    .enum(STATUSES, { error: `must be one of ${STATUSES.join(', ')}` })
    .optional()
    .describe('Default: all. Unresolved forecasts are PENDING, whatever their signal'),
  page: pageInput(1, MAX_PAGE_NUMBER).describe('Newest first'),
  pageSize: pageInput(20, MAX_PAGE_SIZE).describe('Entries a page'),
});

const INPUT = FIELDS.superRefine((input, context) => {
  const { from, to } = input;
  if (from === undefined || to === undefined || from <= to) return;
  context.addIssue({ code: 'custom', path: ['from'], message: 'must not be later than "to": send the first day as "from"', input });
});

/** By name. CHOP also has everyday synonyms. */
const REGIME_PATTERNS = Object.fromEntries(
  REGIME_NAMES.map((regime) => {
    const name = regime === 'DEFAULT' ? 'regime default|default regime' : regime.toLowerCase().replace('_', '[ _-]');
    return [regime, new RegExp(`\\b(?:${name}${regime === 'CHOP' ? '|choppy|sideways' : ''})\\b`)];
  }),
) as Record<Regime, RegExp>;

const SELECTION_PATTERN = /\b(?:which|show|list|only)\b/;
const OUTCOME_PATTERNS = {
  WIN: /\b(?:(?:were|was|been|went) (?:right|correct)|won|wins)\b/,
  LOSS: /\b(?:wrong|lost|losses)\b/,
};

/** By name. Other words count only in a request for a list, because questions for a number contain them too. */
function findStatus(text: string): z.input<typeof STATUS> | undefined {
  const [, name] = /\bstatus (win|loss|hold|void|pending)\b/.exec(text) ?? [];
  if (name !== undefined) return STATUS.parse(name.toUpperCase());
  if (!SELECTION_PATTERN.test(text)) return undefined;
  const [outcome, other] = findNamed(text, OUTCOME_PATTERNS);
  return other === undefined ? outcome : undefined;
}

/** `the last 10`, unless a unit of time follows. */
function findPageSize(text: string): number | undefined {
  const [, count] = /\b(?:last|latest|newest) (\d{1,3})\b(?![ -]?(?:d|days?|w|weeks?|months?)\b)/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count);
}

export const getTrackRecord = defineSkill({
  id: 'get_track_record',
  title: 'Track record with error bars',
  summary: 'Every forecast of a horizon with its outcome, and statistics with error bars',
  description:
    'The record without gaps, with HOLD, missed and void days; each entry has its attestation uids. Statistics cover exactly the filtered forecasts: accuracy with a 95 % interval for overlapping windows, the score of always UP, Brier and log scores, skill against base rates with interval, reliability, coverage, streak and verdict, also by regime and model version. Includes the whole record of each horizon, scores of P(big move) and against a market. Unresolved forecasts are counted, and gated below Basic.',
  question: 'is it any good?',
  askedFirst: true,
  tags: ['bitcoin', 'track record', 'statistics', 'forecast verification'],
  examples: [
    { say: 'How good were your 7-day bitcoin forecasts?', input: { horizon: '7d' } },
    { say: 'Show me the last 10 calls over 2 days.', input: { horizon: '2d', pageSize: 10 } },
    {
      say: 'How did you do with 7-day forecasts from 2026-01-01 to 2026-03-31?',
      input: { horizon: '7d', from: '2026-01-01', to: '2026-03-31' },
    },
    { say: 'Which 3-day calls in the regime CHOP were wrong?', input: { horizon: '3d', regime: 'CHOP', status: 'LOSS' } },
  ],
  fromText: {
    words: [
      [7, /\b(?:track record|score ?card|hit rate|win rate|brier|calibrat\w+|statistics|stats)\b/],
      [7, /\b(?:accura\w+|performance|how (?:good|reliable|often|well|many)|right so far|past (?:forecasts|predictions|results))\b/],
      [4, /\b(?:history|results|record|won|lost|wins|losses|calls)\b/],
      [4, /\b(?:were|was|been) (?:right|wrong|correct)\b/],
      [7, /\bhow (?:did|have) you (?:do|done|fare|perform)\w*\b/],
      [7, /\b(?:any good|worth (?:it|listening|following|trusting|paying)|trust(?:worthy)?|reliable|turned out)\b/],
    ],
    rank: 2,
    read: (text) => ({
      horizon: findHorizon(text),
      ...findDateRange(text),
      regime: findNamed(text, REGIME_PATTERNS)[0],
      status: findStatus(text),
      pageSize: findPageSize(text),
    }),
  },
  input: INPUT,
  output: TRACK_RECORD,
  outline: TRACK_RECORD_OUTLINE,
  tier: 'public',
  offering: null,
  freshness: { description: 'outcomes are resolved every 6 hours, one forecast a day is added at about 21:35 UTC', seconds: 3_600 },
  cost: 'normal',
  errors: [],
  run: readTrackRecord,
  formatText(record) {
    const isReplayed = record.entries.some(({ replayed }) => replayed);
    const { totalPredictions, wins, losses, holds, voids, pending, verdict } = record.statistics;
    return [
      `${totalPredictions} forecasts over ${record.filters.horizon}${formatSelection(record.filters)}: ${wins} right, ${losses} wrong, ${holds} HOLD, ${voids} void, ${pending} pending.`,
      `Verdict: ${limitWords(verdict, MAX_VERDICT_WORDS)}.`,
      isSelection(record.filters) ? formatWholeRecord(record) : formatBrierLine(record.statistics),
      formatMoveLine(record.moveSkill),
      `Certain: times and outcomes, on chain${isReplayed ? REPLAYED : ''}. Not certain: skill beyond these intervals.`,
      formatSource(record.source),
    ].join('\n');
  },
  formatRows({ entries, page, pages, total }) {
    if (entries.length === 0) return null;
    const shown = entries.slice(0, MAX_OUTLINED_ENTRIES);
    return [`${shown.length} of ${total}, newest first (page ${page} of ${pages}):`, ...shown.map(formatEntry)].join('\n');
  },
});

/** The filtered forecasts with statistics over exactly these; entries are cut to the caller, figures are the same for all. */
async function readTrackRecord(
  { page, pageSize, ...input }: z.output<typeof INPUT>,
  context: Context,
  caller: Caller,
): Promise<TrackRecordReply> {
  const filter = toTrackRecordFilter(input);
  const { horizonDays, from, to, regime, status } = filter;
  const selects = toSelection(filter);
  const all = context.record.known.listByHorizon(horizonDays);
  const newestFirst = (selects === null ? all : all.filter(selects)).toReversed();
  const shown = newestFirst.slice((page - 1) * pageSize, page * pageSize);
  const [whole, selected, byHorizon] = await Promise.all([
    context.figures.getHorizon(horizonDays),
    selects === null
      ? context.figures.getHorizon(horizonDays)
      : context.figures.getSelection(horizonDays, JSON.stringify([from, to, regime, status]), selects),
    context.figures.getHorizonRows(),
  ]);
  const total = selected.summary.totalPredictions;
  const { horizon, holds, voids, missed, pending, ...wholeRecord } = whole.row;
  const statistics = toFullStatistics(selected);
  return {
    asOf: context.now().toISOString(),
    filters: { horizon, from: formatDayOrNull(from), to: formatDayOrNull(to), regime, status },
    statistics: status === null ? statistics : { ...statistics, ...OUTCOME_SELECTED_STATISTICS },
    byRegime: selected.byRegime.map((row) => hideSelectedShares(row, filter)),
    byModelVersion: selected.byModelVersion.map((row) => hideSelectedShares(row, filter)),
    byHorizon,
    wholeRecord,
    moveSkill: whole.moveSkill,
    moveVerdict: whole.moveVerdict,
    marketSkill: context.crowd.getMarketSkill(context.now()),
    inference: formatInferenceNote(filter),
    entries: shown.map((doc) => toScorecardEntry(doc, context.viewFor(caller))),
    page,
    pageSize,
    pages: Math.ceil(total / pageSize),
    total,
    source: context.market.source,
  };
}

/** Null: no selection. */
function toSelection({ from, to, regime, status }: TrackRecordFilter): ((doc: ForecastDoc) => boolean) | null {
  if (from === null && to === null && regime === null && status === null) return null;
  return (doc) =>
    (from === null || doc.day >= from) &&
    (to === null || doc.day <= to) &&
    (regime === null || doc.regime === regime) &&
    (status === null || toPublicStatus(doc) === status);
}

/** Selected by outcome, shares of wins are meaningless and left out. */
const OUTCOME_SELECTED_STATISTICS = {
  accuracy: null,
  dedupedAccuracy: null,
  accuracyInterval95: null,
  alwaysUpAccuracy: null,
  brier: null,
  dedupedInterval95: null,
  brierDifference: null,
  calls: null,
  probabilities: null,
  distribution: null,
  verdict: 'no verdict: these forecasts were selected by their outcome',
};

function hideSelectedShares<Row extends ShareRow>(row: Row, { status }: TrackRecordFilter): Row {
  return status === null ? row : { ...row, accuracy: null, accuracyInterval95: null, brier: null };
}

function formatInferenceNote({ from, to, regime, status }: TrackRecordFilter): string {
  if (status !== null) {
    return 'Selected by outcome: counts only. A share of wins among forecasts selected by outcome is meaningless; `wholeRecord` has that of all.';
  }
  if (from === null && to === null && regime === null) {
    return 'No selection: these are all forecasts of the horizon. The interval allows for overlapping windows by using the effective sample size.';
  }
  return 'A selection: the interval does not allow for the choice of filters. Of twenty selections, one misses its 95 % interval by luck alone; compare with `wholeRecord`, and fix filters before looking at outcomes.';
}

/** The record of a horizon as the scorecard of the interface (section 2.3) has it. @param page null: all forecasts, as short rows */
export async function readScorecard(
  horizonDays: number,
  page: { limit: number; before: number | null } | null,
  context: Context,
  caller: Caller,
) {
  const { record, crowd, viewFor, market } = context;
  const now = context.now();
  const [figures, details] = await Promise.all([context.figures.getHorizon(horizonDays), context.figures.getDetails(horizonDays)]);
  const { predictions, nextBefore } = readPredictions(record, { horizonDays, page }, viewFor(caller));
  const { summary, stats } = publishRecordSummary(figures.summary);
  return {
    horizon: formatHorizonName(horizonDays),
    source: market.source,
    summary,
    stats,
    ...details,
    marketSkill: crowd.getMarketSkill(now),
    predictionMarket: crowd.compareWagers(now),
    predictions,
    nextBefore,
  };
}

type ScorecardPage = Parameters<typeof readScorecard>[1];

function readPredictions(
  { known }: ForecastRecord,
  { horizonDays, page }: { horizonDays: number; page: ScorecardPage },
  options: ViewOptions,
) {
  if (page === null) return { predictions: listScorecardRows(known.listByHorizon(horizonDays), options), nextBefore: null };
  const { limit, before } = page;
  return buildScorecardPage(known.listNewest(horizonDays, { limit: limit + 1, before }), limit, options);
}

/** Attestations of the record (section 2.5), newest first. @throws OracleError INPUT_INVALID naming `before` */
export function readAttestations(
  wanted: { horizons: readonly number[]; limit: number; before: Hex | null },
  context: Context,
  caller: Caller,
) {
  return listAttestations(context, wanted, context.viewFor(caller));
}

/** The newest prediction attestation; null before the first. */
export function readLatestAttestation(horizons: readonly number[], context: Context, caller: Caller) {
  return findLatestAttestation(context.record, horizons, context.viewFor(caller));
}

export async function readAttestationStats(horizons: readonly number[], context: Context) {
  return summarizeAttestations(await context.figures.getAttestations(), horizons);
}

const REPLAYED = '; replayed times excepted';
const MAX_VERDICT_WORDS = 43;

function formatEntry({ predictionId, signal, direction, pUp, status, returnBps }: Entry): string {
  const values = pUp === null ? (signal ?? 'none') : `${signal} ${direction} P(up) ${pUp.toFixed(4)}`;
  return `${predictionId} ${values} ${status}${returnBps === null ? '' : ` ${returnBps} bps`}`;
}

type Entry = z.input<typeof TRACK_RECORD>['entries'][number];

interface TrackRecordFilter {
  horizonDays: number;
  from: Day | null;
  to: Day | null;
  regime: Regime | null;
  /** The public status: PENDING until the outcome is on chain. */
  status: PublicStatus | null;
}

function toTrackRecordFilter({ horizon, from, to, regime, status }: Omit<z.output<typeof INPUT>, 'page' | 'pageSize'>): TrackRecordFilter {
  const day = (date: string | undefined) => (date === undefined ? null : parseDay(date));
  return { horizonDays: parseHorizonDays(horizon), from: day(from), to: day(to), regime: regime ?? null, status: status ?? null };
}

function isSelection({ horizon: _, ...filters }: Filters): boolean {
  return Object.values(filters).some((filter) => filter !== null);
}

function formatSelection({ from, to, regime, status }: Filters): string {
  const filters = [from && ` from ${from}`, to && ` to ${to}`, regime && ` in ${regime}`, status && ` with the status ${status}`];
  return filters.filter((filter) => filter !== null).join('');
}

type Filters = z.input<typeof TRACK_RECORD>['filters'];

/** A selection can be right by luck, so its reader also gets the figures of the whole. */
function formatWholeRecord({ wholeRecord: { total, wins, resolved, accuracyInterval95 } }: z.input<typeof TRACK_RECORD>): string {
  const interval = accuracyInterval95 === null ? 'no interval yet' : formatInterval(accuracyInterval95);
  return `Whole record of ${total}: ${wins} of ${resolved} right, ${interval}. Intervals ignore the choice of filters.`;
}

/** Scores alone, which hold at every horizon; `moveVerdict` has their intervals. */
function formatMoveLine({ n, brier, references, tests }: z.input<typeof TRACK_RECORD>['moveSkill']): string {
  if (n === 0 || brier === null) return 'P(big move): none resolved yet.';
  const [frequency, ewma] = [references.frequency, references.ewma].map((found) => found?.brier.toFixed(3) ?? 'unknown');
  const verdicts = [...new Set([tests.frequency.verdict, tests.ewma.verdict])].join(' and ');
  return `P(big move): Brier score ${brier.toFixed(3)}, four-year frequency ${frequency}, EWMA ${ewma}; ${verdicts}.`;
}

function formatBrierLine({ brier, brierDifference }: z.input<typeof TRACK_RECORD>['statistics']): string {
  if (brier === null || brierDifference === null) return 'Brier score: none yet.';
  const { mean, low, high } = brierDifference;
  const interval = low === null || high === null ? 'no interval yet' : formatInterval({ low, high }, 3);
  const recent = brier.climatology4y === null ? '' : `, of four years ${brier.climatology4y.toFixed(3)}`;
  return `Brier score ${brier.model.toFixed(3)}, base rate ${brier.climatology.toFixed(3)}${recent} (lower is better); difference ${mean.toFixed(3)}, ${interval}.`;
}
