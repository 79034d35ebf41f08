import { z } from 'zod';
import { CHALLENGE_VERDICTS } from '../../forecast/challenge.ts';
import { formatDay } from '../../forecast/day.ts';
import { HORIZON_NAMES } from '../../forecast/horizon-input.ts';
import { formatHorizonName, HORIZONS, type HorizonDays } from '../../forecast/model.ts';
import { MODEL_NAMES } from '../../forecast/models.ts';
import { TESTED_REFERENCES } from '../../forecast/move-skill.ts';
import { ROLLING_DAYS, SERIES_MEASURE_NAMES, type SeriesMeasureName } from '../../forecast/record-statistics.ts';
import { renderModels } from '../../page/evidence.ts';
import { COUNT, DATE, keyedObject, listOf, PROBABILITY, SUCCESS, TIME } from '../../platform/validation.ts';
import { FIRST_CHAMPION, type RecordSeriesPoint } from '../../record/challenge.ts';
import { openRevealedDistributions } from '../../record/distributions.ts';
import { countBelow } from '../../record/projection.ts';
import { DISTRIBUTIONS } from '../../record/schemas/forecast.ts';
import { beforeInput, limitInput, PAGE_LIMITS, scorecardDaysInput } from '../parameters.ts';
import { buildNextPageHeaders } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';
import { prefersHtml, toDocumentReply } from './home.ts';

/** The model versions against each other on the record. */
export function challengeRoutes({ figures, champions, publicUrl }: Services): Route[] {
  return [
    route('GET /api/svc/challenge', 'getChallenge', {
      units: 0.2,
      tag: 'record',
      summary: 'Champion and challenger: their committed distributions scored, and whether the record proves one better',
      description:
        'Versions commit their distributions in the same attestation, with the same P(up). A test that stays valid whenever one looks ' +
        '(e-process, Ville) says whether the later version has the lower CRPS. The operator changes the champion, refused below the threshold ' +
        'unless forced, and every change stays listed.',
      reply: CHALLENGE_REPLY,
      alternatives: { 'text/html': { description: 'The same as a page for browsers.' } },
      shared: 'second',
      async handle({ accept }) {
        const [changes, horizons] = await Promise.all([
          champions.list(),
          Promise.all(HORIZONS.map((horizonDays) => figures.getChallenge(horizonDays))),
        ]);
        const champion = changes.at(-1)?.to ?? FIRST_CHAMPION;
        const listed = changes.map(({ _id, at, ...change }) => ({ at: at.toISOString(), ...change }));
        if (prefersHtml(accept))
          return toDocumentReply(publicUrl, 'Models', 'api/svc/challenge', renderModels({ champion, changes: listed, horizons }));
        return { headers: { Vary: 'Accept' }, body: { success: true as const, champion, changes: listed, horizons } };
      },
    }),
  ];
}

const MODEL = z.enum(MODEL_NAMES);
const HORIZON = z.enum(HORIZON_NAMES);
const E_VALUE = z.number().min(0);

const ESTIMATE = {
  low: z.number().nullable().describe('Lower bound of its 95 % interval by blocks of days; null with too few days'),
  high: z.number().nullable().describe('Upper bound'),
};

const PAIR = {
  challenger: MODEL.describe('The version that is tested'),
  against: MODEL.describe('The version before it'),
};

const DISTRIBUTION = z.object({
  name: z.string().describe('Name of the model version or baseline'),
  title: z.string().describe('What it is'),
  kind: z.enum(['model', 'baseline']).describe('Committed on chain, or computed from prices for comparison'),
  n: COUNT.describe('Resolved forecasts with its distribution'),
  crps: z.number().min(0).describe('Mean continuous ranked probability score in log-return units, lower is better'),
  skill: z
    .object({ value: z.number().describe('1 - CRPS / CRPS of climatology on the same days'), ...ESTIMATE })
    .nullable()
    .describe('Above 0 is better than climatology; null for climatology'),
  logScore: z.number().describe('Mean negative log density, lower is better'),
  coverage: listOf('Outcomes within the central ranges', {
    nominal: PROBABILITY.describe('Probability of the central range'),
    value: PROBABILITY.describe('Share of the outcomes within it'),
    ...ESTIMATE,
  }),
  coverage80ByWeekday: listOf('By weekday, which shows what the width does not know', {
    weekday: z.string().describe('Weekday, UTC, on which the outcome window begins'),
    n: COUNT.describe('Resolved forecasts'),
    observed: PROBABILITY.nullable().describe('Share within the 80 % band; null without any'),
  }),
});

export const CHALLENGE_REPLY = z.object({
  success: SUCCESS,
  champion: MODEL.describe('The version by which the service forecasts'),
  changes: listOf('Changes of the champion, by the operator, the oldest first', {
    at: TIME.describe('When'),
    from: MODEL.describe('The champion until then'),
    to: MODEL.describe('The champion since'),
    forced: z.boolean().describe('The record had not proven it better'),
    evidence: z.array(z.looseObject({ horizon: HORIZON.describe('Horizon') })).describe('The tests of both at that time, as in `horizons`'),
  }),
  horizons: listOf('One entry a horizon', {
    horizon: HORIZON.describe('Horizon'),
    horizonDays: z.literal([...HORIZONS]).describe('The same in days'),
    comparisons: listOf('Tests of each version against the one before', {
      ...PAIR,
      days: COUNT.describe('Resolved days on which both had committed a distribution'),
      throughDate: DATE.nullable().describe('The last of them; null without any'),
      threshold: z.number().describe('Evidence that proves a difference at 5 %, whenever one looks (Ville)'),
      eBetter: E_VALUE.describe('Evidence today that the challenger has the lower CRPS: the e-value'),
      eWorse: E_VALUE.describe('Evidence today that it has the higher CRPS'),
      maxBetter: E_VALUE.describe('Highest `eBetter` so far'),
      maxWorse: E_VALUE.describe('Highest `eWorse` so far'),
      verdict: z.enum(CHALLENGE_VERDICTS).describe('From the highest values: what was proven once stays proven'),
      since: DATE.nullable().describe('Forecast day whose outcome proved it; null while nothing is proven'),
    }),
    distributions: z.array(DISTRIBUTION).describe('Scores of all distributions over the record'),
  }),
});

const MEASURE_TEXTS: Record<SeriesMeasureName, string> = {
  hitRate: 'Share of calls whose direction came true',
  alwaysUp: 'The same of always saying UP on these days',
  hitAdvantage: 'hitRate - alwaysUp, in daily pairs',
  brierSkill: 'Brier skill of P(up) against the base rate known at the time',
  crpsSkill: 'CRPS skill of the committed distribution against climatology',
  coverage80: 'Share of outcomes within the 80 % band of the committed distribution',
  moveSkillFrequency: 'Brier skill of `pBig` against the four-year frequency',
  moveSkillEwma: 'The same against EWMA',
  bigWhenCalm: 'Share of big moves where the size was CALM',
  bigWhenUsual: 'Where it was USUAL',
  bigWhenWild: 'Where it was WILD',
};

const VALUE = z.object({ value: z.number().nullable().describe('Null without days'), ...ESTIMATE }).meta({ id: 'ScoreValue' });
const VALUES = keyedObject(SERIES_MEASURE_NAMES, (name) => VALUE.describe(MEASURE_TEXTS[name])).meta({ id: 'ScoreValues' });

export const SERIES_REPLY = z.object({
  success: SUCCESS,
  horizon: HORIZON.describe('Horizon'),
  rollingDays: COUNT.describe('Days of the rolling window'),
  points: listOf('One a resolved day, newest first', {
    date: DATE.describe('Day of the forecast'),
    n: COUNT.describe('Resolved forecasts up to it'),
    cumulative: VALUES.describe('Over all days up to it'),
    rolling: VALUES.describe('The same over the rolling window that ends with it'),
    evidence: listOf('E-values after it', {
      ...PAIR,
      eBetter: E_VALUE.describe('As in /api/svc/challenge'),
      eWorse: E_VALUE.describe('As there'),
    }),
    moveEvidence: listOf('E-values of `pBig`, to which replayed days add nothing', {
      against: z.enum(TESTED_REFERENCES).describe('The reference'),
      eBetter: E_VALUE.describe('As in `moveSkill`'),
      eWorse: E_VALUE.describe('As there'),
    }),
  }),
  nextCursor: DATE.nullable().describe('`before` of the next page; null on the last'),
});

const PATH = '/api/svc/scorecard/series';
const DESCRIPTION =
  'Each point covers the forecasts resolved up to its day, cumulatively and over a rolling window, with 95 % intervals. Points are paged, ' +
  'newest first. Send `nextCursor`, also in the header `Link` (RFC 8288), as `before` until it is null.';

const QUERY = z.object({
  horizon: scorecardDaysInput,
  limit: limitInput(PAGE_LIMITS.series.most, PAGE_LIMITS.series.default),
  before: z
    .string({ error: 'must be given once, as a date of the form YYYY-MM-DD' })
    .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date of the form YYYY-MM-DD')
    .optional()
    .describe('Only points before this day: `nextCursor` of the previous page'),
});

/** Scores over time. */
export function seriesRoutes(deps: Services): Route[] {
  return [
    route(`GET ${PATH}`, 'getScoreSeries', {
      units: 0.2,
      tag: 'record',
      summary: 'Hit rate, skill, coverage, the size of the move and the evidence over time, with intervals',
      description: DESCRIPTION,
      query: QUERY,
      reply: SERIES_REPLY,
      shared: 'state',
      async handle({ query }) {
        const { points, nextCursor, headers } = await readPage(deps, PATH, query);
        const horizon = formatHorizonName(query.horizon as HorizonDays);
        return { headers, body: { success: true as const, horizon, rollingDays: ROLLING_DAYS, points, nextCursor } };
      },
    }),
    route(`GET ${PATH}.csv`, 'getScoreSeriesCsv', {
      tag: 'record',
      summary: 'The same as a CSV file',
      description: DESCRIPTION,
      query: QUERY,
      reply: null,
      alternatives: { 'text/csv': { description: 'A header, and a line a point.' } },
      async handle({ query }) {
        const { points, headers } = await readPage(deps, `${PATH}.csv`, query);
        return { headers: { ...headers, 'Content-Type': 'text/csv; charset=utf-8' }, raw: renderSeriesCsv(points) };
      },
    }),
  ];
}

const WINDOWS = ['cumulative', 'rolling'] as const;
const BOUNDS = ['value', 'low', 'high'] as const;

/** Header and a line a point; an unknown number is an empty cell. Cells are dates, numbers and names, which need no quotes. */
function renderSeriesCsv(points: readonly RecordSeriesPoint[]): string {
  const figures = WINDOWS.flatMap((window) =>
    SERIES_MEASURE_NAMES.flatMap((measure) => BOUNDS.map((bound) => ({ window, measure, bound, name: `${window}_${measure}_${bound}` }))),
  );
  const pairs = [
    ...(points[0]?.evidence ?? []).map(({ challenger, against }) => `${challenger}_against_${against}`),
    ...(points[0]?.moveEvidence ?? []).map(({ against }) => `move_against_${against}`),
  ];
  const header = ['date', 'n', ...figures.map(({ name }) => name), ...pairs.flatMap((pair) => [`e_better_${pair}`, `e_worse_${pair}`])];
  const lines = points.map((point) => [
    point.date,
    point.n,
    ...figures.map(({ window, measure, bound }) => point[window][measure][bound] ?? ''),
    ...[...point.evidence, ...point.moveEvidence].flatMap(({ eBetter, eWorse }) => [eBetter, eWorse]),
  ]);
  return `${[header, ...lines].map((cells) => cells.join(',')).join('\r\n')}\r\n`;
}

async function readPage(deps: Services, path: string, { horizon, limit, before }: z.output<typeof QUERY>) {
  const { days, computePoint } = await deps.figures.getSeries(horizon);
  const end = before === undefined ? days.length : countBelow(days, (day) => formatDay(day) < before);
  const points = Array.from({ length: Math.min(limit, end) }, (_, index) => computePoint(end - 1 - index));
  const nextCursor = end > limit ? points.at(-1)!.date : null;
  const headers = buildNextPageHeaders(deps.publicUrl, path, nextCursor === null ? null : { horizon, limit, before: nextCursor });
  return { points, nextCursor, headers };
}

const DISTRIBUTIONS_PATH = '/api/svc/distributions';

const UNITS = 0.2;
const UNITS_PER_ENTRY = 0.008;

/** The committed distributions of resolved forecasts, as anyone can verify them. */
export function distributionRoutes(deps: Services): Route[] {
  return [
    route(`GET ${DISTRIBUTIONS_PATH}`, 'listDistributions', {
      tag: 'record',
      reply: DISTRIBUTIONS,
      summary: 'The distributions of all model versions that were committed with each resolved forecast of a horizon, with their scores',
      description:
        'Quantiles and salts open the digests in the metadata, whose sha2-256 is on chain since before the outcome window. Distributions ' +
        'of forecasts without an outcome on chain are returned to no caller. Entries are paged, newest first: send `nextCursor`, also in ' +
        'the header `Link` (RFC 8288), as `before` until it is null. A page counts as 0.008 units of the rate limit for each entry of `limit`.',
      query: z.object({
        horizon: scorecardDaysInput,
        limit: limitInput(PAGE_LIMITS.distributions.most, PAGE_LIMITS.distributions.default),
        before: beforeInput.describe('Only forecasts with a lower `sequence`: `nextCursor` of the previous page'),
      }),
      units: UNITS,
      shared: 'state',
      async handle({ query: { horizon, limit, before = null }, context }) {
        const units = limit * UNITS_PER_ENTRY;
        if (units > UNITS) await context.countCall(units - UNITS);
        const revealed = deps.record.known
          .listByHorizon(horizon)
          .filter(({ reveal, sequence }) => reveal !== null && (before === null || sequence < before));
        const newest = revealed.slice(-limit - 1).toReversed();
        const shown = newest.slice(0, limit);
        const next = newest.length > limit ? shown.at(-1)!.sequence : null;
        const data = await openRevealedDistributions(deps, shown);
        return {
          headers: buildNextPageHeaders(deps.publicUrl, DISTRIBUTIONS_PATH, next === null ? null : { horizon, limit, before: next }),
          body: {
            success: true as const,
            horizon: formatHorizonName(horizon),
            data,
            count: data.length,
            nextCursor: next === null ? null : String(next),
          },
        };
      },
    }),
  ];
}
