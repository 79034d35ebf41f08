import { z } from 'zod';
import { parseDay } from '../src/forecast/day.ts';
import { parseHorizonDays } from '../src/forecast/horizon-input.ts';
import { REGIME_NAMES } from '../src/forecast/regime/regime.ts';
import { STATUS } from '../src/record/schemas/forecast.ts';
import { TRACK_RECORD } from '../src/record/schemas/track-record.ts';
import { readTrackRecord, type TrackRecordFilter } from '../src/record/scorecard/track-record.ts';
import { DATE_INPUT, recordHorizon } from './inputs.ts';
import { formatInterval, formatSource } from './outlines/format-figures.ts';
import { limitWords } from './outlines/limit-words.ts';
import { MAX_OUTLINED_ENTRIES, TRACK_RECORD_OUTLINE } from './outlines/track-record.ts';
import { defineSkill } from './skill.ts';

const STATUSES = STATUS.options;
const MAX_PAGE_SIZE = 100;
const MAX_PAGE_NUMBER = 100_000;

const pageInput = (fallback: number, max: number) =>
  z.int(`must be a whole number from 1 to ${max}`).min(1, 'must be at least 1').max(max, `must be at most ${max}`).default(fallback);

const FIELDS = z.strictObject({
  horizon: recordHorizon,
  from: DATE_INPUT.optional().describe('First forecast day, YYYY-MM-DD, UTC; default: start of the record'),
  to: DATE_INPUT.optional().describe('Last forecast day, inclusive, YYYY-MM-DD, UTC; default: today'),
  regime: z
    .enum(REGIME_NAMES, { error: `must be one of ${REGIME_NAMES.join(', ')}` })
    .optional()
    .describe('Only forecasts made in this market regime; default: all'),
  status: z
    .enum(STATUSES, { error: `must be one of ${STATUSES.join(', ')}` })
    .optional()
    .describe('Only forecasts with this status; default: all. Unresolved forecasts are PENDING, whatever their signal'),
  page: pageInput(1, MAX_PAGE_NUMBER).describe('Page number, from 1; newest forecasts first'),
  pageSize: pageInput(20, MAX_PAGE_SIZE).describe(`Forecasts per page, 1 to ${MAX_PAGE_SIZE}`),
});

const INPUT = FIELDS.superRefine((input, context) => {
  const { from, to } = input;
  if (from === undefined || to === undefined || from <= to) return;
  context.addIssue({ code: 'custom', path: ['from'], message: 'must not be later than "to": send the first day as "from"', input });
});

export const getTrackRecord = defineSkill({
  id: 'get_track_record',
  title: 'Track record with error bars',
  summary: 'Every forecast of a horizon with its outcome, and statistics with error bars',
  description:
    'The record without gaps, including HOLD, missed and void days; each entry has the uids of its attestations. Statistics cover exactly the filtered forecasts: accuracy with a 95 % interval for overlapping windows (Wilson, and block bootstrap over days for comparison), the score of always UP, Brier and log scores, skill against the base rate with its interval, reliability, coverage of the predictive distributions, streak and verdict, also by market regime and model version. Includes the whole record of each horizon, and the skill against a prediction market. Unresolved forecasts are counted, and gated for callers below Basic.',
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
  input: INPUT,
  output: TRACK_RECORD,
  outline: TRACK_RECORD_OUTLINE,
  tier: 'public',
  offering: null,
  freshness: { description: 'outcomes are resolved every 6 hours, one forecast a day is added at about 21:35 UTC', seconds: 3_600 },
  cost: 'normal',
  errors: [],
  run: (input, { deps, caller }) =>
    readTrackRecord(deps, { filter: toTrackRecordFilter(input), page: { page: input.page, pageSize: input.pageSize }, caller }),
  formatText(record) {
    const { totalPredictions, wins, losses, holds, voids, pending, verdict } = record.statistics;
    return [
      `${totalPredictions} forecasts over ${record.filters.horizon}${formatSelection(record.filters)}: ${wins} right, ${losses} wrong, ${holds} HOLD, ${voids} void, ${pending} pending.`,
      `Verdict: ${limitWords(verdict, MAX_VERDICT_WORDS)}.`,
      isSelection(record.filters) ? formatWholeRecord(record) : formatBrierLine(record.statistics),
      'Certain: times and outcomes, on chain. Not certain: skill beyond these intervals.',
      formatSource(record.source),
    ].join('\n');
  },
  formatRows({ entries, page, pages, total }) {
    if (entries.length === 0) return null;
    const shown = entries.slice(0, MAX_OUTLINED_ENTRIES);
    return [`${shown.length} of ${total}, newest first (page ${page} of ${pages}):`, ...shown.map(formatEntry)].join('\n');
  },
});

const MAX_VERDICT_WORDS = 58;

function formatEntry({ predictionId, signal, direction, pUp, status, returnBps }: Entry): string {
  const values = pUp === null ? (signal ?? 'none') : `${signal} ${direction} P(up) ${pUp.toFixed(4)}`;
  return `${predictionId} ${values} ${status}${returnBps === null ? '' : ` ${returnBps} bps`}`;
}

type Entry = z.input<typeof TRACK_RECORD>['entries'][number];

function toTrackRecordFilter({ horizon, from, to, regime, status }: z.output<typeof INPUT>): TrackRecordFilter {
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

function formatBrierLine({ brier, brierDifference }: z.input<typeof TRACK_RECORD>['statistics']): string {
  if (brier === null || brierDifference === null) return 'Brier score: none yet.';
  const { mean, low, high } = brierDifference;
  const interval = low === null || high === null ? 'no interval yet' : formatInterval({ low, high }, 3);
  return `Brier score ${brier.model.toFixed(3)}, base rate ${brier.climatology.toFixed(3)} (lower is better); difference ${mean.toFixed(3)}, ${interval}.`;
}
