import { PAYING_CALLER } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import { OracleError } from '../../errors.ts';
import { parseDay } from '../../forecast/day.ts';
import { roundOrNull } from '../../market/feed.ts';
import { btcPriceReport, fearGreedReport } from '../../market/reports/bitcoin.ts';
import { derivativesSummaryReport } from '../../market/reports/derivatives.ts';
import { etfAnalyticsReport } from '../../market/reports/etf.ts';
import { economicIndicatorsReport, interestRatesReport, macroCorrelationReport } from '../../market/reports/macro.ts';
import type { MarketReport, ReportEnvelope, ReportedInput } from '../../market/reports/report.ts';
import type { SeriesId } from '../../market/series.ts';
import { sanitizeText } from '../../platform/validation.ts';
import type { WeekComparison } from '../../record/crowd.ts';
import { type ForecastDoc, formatForecastId, fromCents } from '../../record/forecast-doc.ts';
import { findNearestHorizon } from '../../record/market.ts';
import { buildCommitmentProof, describeManualVerification } from '../../record/prediction.ts';
import type { DayWithValues } from '../../record/projection.ts';
import { mayRead, toVisibleStatus } from '../../record/visibility.ts';
import { type DocumentBody, probabilityToPercent, SOLD_HORIZON_DAYS } from './documents.ts';

const MAX_QUESTION_CHARS = 160;

const COMMITMENT_NOTE =
  "Committed on chain are the forecasts; the oracle's probability of a strike is computed from them by the formula in `evidence`, and quotes and winners are the venue's words.";

/** Probabilities of market and oracle for the running week, and the scores of both over all settled weeks. */
export async function composeCrowdVsOracle(context: Context): Promise<DocumentBody> {
  const { throughDate, total, nextCursor, ...comparison } = context.crowd.compareWeeks(context.viewFor(PAYING_CALLER), null);
  const { weeks, totals } = comparison;
  const now = context.now();
  const running = weeks.find(({ expiresAt, status }) => status === 'PENDING' && Date.parse(expiresAt) > now.getTime()) ?? null;
  const forecastId = running?.predictionId ?? null;
  const doc = forecastId === null ? null : context.record.known.findForecast(forecastId);
  return {
    forecastId,
    attestationUid: doc?.attestation?.uid ?? null,
    sentences: [formatRunningWeek(running), `Over ${totals.weeks} settled weeks: ${totals.verdict}.`, ...comparison.notes, COMMITMENT_NOTE],
    running,
    ...comparison,
    evidence: await composeCrowdEvidence(context, weeks),
  };
}

function formatRunningWeek(running: WeekComparison | null): string {
  if (running === null) return 'No strike of a week that is still running has been priced yet.';
  const { weekId, question, strike, marketProbability, oracleProbability, date } = running;
  const oracle = oracleProbability === null ? 'unknown' : probabilityToPercent(oracleProbability);
  return `${weekId}, "${sanitizeText(question, MAX_QUESTION_CHARS)}": for a price above ${strike} USD the market asked ${probabilityToPercent(marketProbability)} on ${date}, the oracle says ${oracle}.`;
}

async function composeCrowdEvidence(context: Context, weeks: readonly WeekComparison[]) {
  const { known } = context.record;
  const dayOf = (date: string) => known.findDay(parseDay(date));
  const inputs = weeks.map((week) => toStrikeInputs(dayOf(week.date), week, known.findWager(parseDay(week.date))?.decidedAt));
  const ids = weeks.map(({ date }, index) => listForecastIds(dayOf(date), inputs[index]));
  const used = inputs.filter((one) => one !== null);
  return {
    bases: BASES,
    formula: PROBABILITY_FORMULA,
    byHand: describeManualVerification(context),
    // A probability is null when the day is not in the record.
    weeks: weeks.map(({ weekId, date }, index) => {
      const proofs = ids[index].flatMap((id) => known.findForecast(id) ?? []).map((doc) => toWeekProof(context, doc));
      return { weekId, date, proofs, probability: inputs[index] };
    }),
    models: await readModelQuantiles(context, used),
  };
}

/** Ids of the 7-day forecast and of the forecast whose P(up) was used, when different. */
function listForecastIds(day: DayWithValues | null, inputs: StrikeInputs | null): string[] {
  if (day === null) return [];
  const horizons = new Set([SOLD_HORIZON_DAYS, inputs?.horizonDays ?? SOLD_HORIZON_DAYS]);
  return [...horizons].map((horizonDays) => formatForecastId(day.day, horizonDays));
}

/** The opening has the committed values as the numbers that are encoded; null when nothing was forecast. */
function toWeekProof(context: Context, doc: ForecastDoc) {
  const { _id: predictionId, attestation, reveal, commitment, values, modelVersion, regime } = doc;
  const isOpen = values !== null && modelVersion !== null && regime !== null && mayRead(doc, context.viewFor(PAYING_CALLER));
  return {
    predictionId,
    status: toVisibleStatus(doc, isOpen),
    predictionUid: attestation?.uid ?? null,
    resolutionUid: reveal?.uid ?? null,
    commitment,
    opening: isOpen ? buildCommitmentProof({ ...doc, values, modelVersion, regime }, context).opening : null,
  };
}

type StrikeInputs = NonNullable<ReturnType<typeof toStrikeInputs>>;

/** @param at start of the time to expiry */
function toStrikeInputs(day: DayWithValues | null, comparison: WeekComparison, at: Date | undefined) {
  const { strike, expiresAt, oracleProbability } = comparison;
  if (day === null || at === undefined) return null;
  const { price, variance, modelVersion, forecasts } = day;
  if (price === null || variance === null || modelVersion === null) return null;
  const { horizonDays } = findNearestHorizon({ expiresAt: new Date(expiresAt), at });
  const { pUp } = forecasts[horizonDays];
  return {
    strike,
    expiresAt,
    at: at.toISOString(),
    spot: fromCents(price.cents),
    horizonDays,
    pUp,
    v94: variance.v94,
    v99: variance.v99,
    modelVersion,
    oracleProbability,
  };
}

function readModelQuantiles({ models }: Context, used: readonly StrikeInputs[]) {
  const wanted = new Map(used.map(({ modelVersion, horizonDays }) => [`${modelVersion}:${horizonDays}`, { modelVersion, horizonDays }]));
  return Promise.all(
    [...wanted.values()].map(async ({ modelVersion, horizonDays }) => {
      const { horizons } = await models.get(modelVersion);
      const { residualQuantiles } = horizons.find((fit) => fit.horizonDays === horizonDays)!;
      return { modelVersion, horizonDays, residualQuantiles };
    }),
  );
}

/** Formula of the oracle's probability of a strike from the evidence of a week, as implemented in `src/record/market.ts`. */
const PROBABILITY_FORMULA = [
  'q(1) to q(199): `residualQuantiles` of the model named by `modelVersion` and `horizonDays`, the quantiles at 0.005, 0.010 to 0.995 of past returns over their scale.',
  'days = (expiresAt - at) in days of 86,400 seconds, with its fraction; `horizonDays` is the one of 1, 2, 3 and 7 nearest to it.',
  'scale = sqrt(days * (0.5 * v94 + 0.5 * v99)).',
  'lower = q(10) - mean(q(1) to q(9)); upper = mean(q(191) to q(199)) - q(190): the means of the tails.',
  'F(z), the share of returns up to z: 0.005 * exp((z - q(1)) / lower) below q(1); 1 - 0.005 * exp((q(199) - z) / upper) above q(199); between, straight lines through F(q(i)) = 0.005 * i.',
  'shift = the z with F(z) = 1 - pUp, so that P(up) over the horizon is what was forecast.',
  'probability of a price above the strike = 1 - F(ln(strike / spot) / scale + shift), rounded to four digits: `oracleProbability`.',
];

const BASES = [
  {
    basis: 'chain' as const,
    parts: ['signal', 'direction', 'confidence', 'P(up)', 'price at signal time'],
    note: 'Committed: `opening` hashes to `commitment`, which the attestation `predictionUid` carries. It was on chain before the outcome window opened, unless the status of the forecast is VOID. `pUp` is the committed probability before it was rounded to basis points, `spot` the committed price.',
  },
  {
    basis: 'model' as const,
    parts: ["the oracle's probability of the strike"],
    note: 'Not committed: it follows from the committed P(up) and price by `formula`, with the variances, the quantiles of the model and `at`, as published by this service. Variances follow from public daily closes, quantiles from the fit by the published method; the quotes determine the strike.',
  },
  {
    basis: 'venue' as const,
    parts: ['market', 'strike', 'expiry', "the crowd's probability", 'book', 'winner'],
    note: 'As read from the venue at that time; not committed. Quotes of the venue `paper` are generated by this service and represent no crowd.',
  },
];

type ReviewFigure = ReturnType<typeof toReviewFigure>;

const NOTES = [
  'No forecast is in this document.',
  'A correlation describes the past, most of them are weak, and none says which of the two moves the other.',
];

/** @throws OracleError PRICE_UNAVAILABLE before the first price, FEED_UNAVAILABLE */
export async function composeMacroReview(context: Context): Promise<DocumentBody> {
  const now = context.now();
  const reports = [...new Set(FIGURES.map(({ report }) => report))];
  const answers = new Map(
    await Promise.all(reports.map(async (report) => [report, await context.market.report(report, now.getTime())] as const)),
  );
  const figures = FIGURES.map((source) => ({ section: source.section, figure: toReviewFigure(source, answers.get(source.report)!, now) }));
  const listSection = (section: ReviewSection) => figures.filter((one) => one.section === section).map(({ figure }) => figure);
  return {
    forecastId: null,
    attestationUid: null,
    sentences: [...figures.map(({ figure }) => formatFigure(figure)), ...NOTES],
    ...Object.fromEntries(REVIEW_SECTIONS.map((section) => [section, listSection(section)])),
    notes: NOTES,
  };
}

/** The correlation is that of its changes with bitcoin's returns, -1 to 1. */
function toReviewFigure(source: FigureSource, report: ReportEnvelope, now: Date) {
  const input = report.inputs.find(({ series }) => series === source.series) as ReportedInput;
  const value = readNumberAt(report, source.value);
  const { change, correlation } = source;
  const found = change === undefined ? null : readNumberAt(report, change.path);
  const ageMs = input.observedAt === null ? null : now.getTime() - Date.parse(input.observedAt);
  return {
    id: source.id,
    title: source.title,
    value,
    unit: source.unit,
    change: change?.isEarlierValue && found !== null && value !== null ? roundOrNull(value - found, 2) : found,
    changeUnit: change?.unit ?? null,
    changeOver: change?.over ?? null,
    correlation: correlation === undefined ? null : readNumberAt(report, `${correlation.path}.correlation`),
    pairs: correlation === undefined ? null : readNumberAt(report, `${correlation.path}.pairs`),
    windowDays: correlation === undefined ? null : readNumberAt(report, correlation.windowDays),
    source: input.source,
    observedAt: input.observedAt,
    ageSeconds: ageMs === null ? null : Math.max(0, Math.round(ageMs / 1_000)),
    stale: input.stale,
    provisional: input.provisional,
  };
}

/** A field of a report by its path. @throws OracleError INTERNAL for an unknown path */
function readNumberAt(report: ReportEnvelope, path: string): number | null {
  const found = path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], report);
  if (typeof found === 'number' || found === null) return found;
  throw new OracleError('INTERNAL', `A market report has no number at ${path}`);
}

function formatFigure(figure: ReviewFigure): string {
  const { title, value, unit, change, changeUnit, changeOver, correlation, source, observedAt, stale } = figure;
  if (value === null) return `${title}: nothing is known.`;
  const changeText = change === null ? '' : `, ${formatSignedNumber(change)} ${changeUnit} over ${changeOver}`;
  const correlationText = correlation === null ? '' : `; correlation with bitcoin ${formatSignedNumber(correlation)}`;
  return `${title}: ${value} ${unit}${changeText}${correlationText} (${sanitizeText(source, 80)}, ${observedAt}${stale ? ', STALE' : ''}).`;
}

/** E.g. `+1.25`. */
function formatSignedNumber(value: number, digits = 2): string {
  return `${value > 0 ? '+' : ''}${value.toFixed(digits)}`;
}

const REVIEW_SECTIONS = ['price', 'macro', 'rates', 'flows', 'derivatives', 'sentiment'] as const;

type ReviewSection = (typeof REVIEW_SECTIONS)[number];

/** Source of a figure: a report, paths of its fields, and the series that gives source and age; by default `id` and `id.value`. */
interface FigureSource {
  id: string;
  title: string;
  section: ReviewSection;
  report: MarketReport;
  series: SeriesId | 'spot';
  value: string;
  unit: string;
  /** `isEarlierValue`: the path leads to the earlier value instead of the change. */
  change?: { path: string; unit: string; over: string; isEarlierValue?: true };
  /** Paths of the parent of `correlation` and `pairs`, and of the window in days. */
  correlation?: { path: string; windowDays: string };
}

type FigureInput = Pick<FigureSource, 'title' | 'unit'> & Partial<FigureSource>;

const changeOver5 = (id: string) => ({ path: `${id}.change5d`, unit: '%', over: 'five observations' });
const changeOver30Days = (id: string) => ({ path: `${id}.change30d`, unit: 'percentage points', over: '30 days' });
const changeSincePrevious = (id: string, unit: string) => ({ path: `${id}.change`, unit, over: 'the observation before' });
const defineFigures = (section: ReviewSection, report: MarketReport, figures: Record<string, FigureInput>): FigureSource[] =>
  Object.entries(figures).map(([id, figure]) => ({ id, section, report, series: id as SeriesId, value: `${id}.value`, ...figure }));
const correlationAt = (id: string) => ({ path: id, windowDays: `${id}.windowDays` });

const FIGURES: readonly FigureSource[] = [
  ...defineFigures('price', btcPriceReport, {
    btcPrice: { title: 'Bitcoin', series: 'spot', value: 'price', unit: 'USD', change: { path: 'change24h', unit: '%', over: '24 hours' } },
  }),
  ...defineFigures('macro', macroCorrelationReport, {
    dxy: { title: 'US dollar index', unit: 'points', change: changeOver5('dxy'), correlation: correlationAt('dxy') },
    sp500: { title: 'S&P 500', unit: 'points', change: changeOver5('sp500'), correlation: correlationAt('sp500') },
    goldBtcRatio: { title: 'An ounce of gold', series: 'gold', unit: 'BTC', correlation: correlationAt('goldBtcRatio') },
    ismPmi: { title: 'ISM manufacturing PMI', series: 'pmi', unit: 'points', correlation: correlationAt('ismPmi') },
  }),
  ...defineFigures('macro', economicIndicatorsReport, {
    gold: { title: 'Gold', unit: 'USD per ounce', change: changeSincePrevious('gold', 'USD per ounce') },
    vix: { title: 'VIX', unit: '% a year', change: changeSincePrevious('vix', 'points') },
  }),
  ...defineFigures('rates', interestRatesReport, {
    policyRate: { title: 'Federal funds target, upper limit', unit: '% a year', change: changeOver30Days('policyRate') },
    fedFunds: { title: 'Effective federal funds rate', unit: '% a year', change: changeOver30Days('fedFunds') },
    us2y: { title: 'US 2-year yield', unit: '% a year', change: changeOver30Days('us2y') },
    us10y: { title: 'US 10-year yield', unit: '% a year', change: changeOver30Days('us10y') },
    slope10y2y: { title: '10-year less 2-year yield', series: 'us10y', value: 'slope10y2y', unit: 'basis points' },
  }),
  ...defineFigures('flows', etfAnalyticsReport, {
    etfFlowLastDay: {
      title: 'Net flow into US spot Bitcoin ETFs, last day',
      series: 'etfFlow',
      value: 'total.lastDay',
      unit: 'USD',
      correlation: { path: 'correlation.sameDay', windowDays: 'correlation.windowDays' },
    },
    etfFlow7d: { title: 'The same, 7 calendar days', series: 'etfFlow', value: 'total.flow7d', unit: 'USD' },
    etfFlow30d: { title: 'The same, 30 calendar days', series: 'etfFlow', value: 'total.flow30d', unit: 'USD' },
  }),
  ...defineFigures('derivatives', derivativesSummaryReport, {
    fundingRate: { title: 'Funding of perpetuals', value: 'fundingRate.annualizedPct', unit: '% a year' },
    openInterest: {
      title: 'Open interest of perpetuals',
      value: 'openInterest.usd',
      unit: 'USD',
      change: { path: 'openInterest.change7dPct', unit: '%', over: '7 days' },
    },
    basis: { title: 'Basis of perpetuals', series: 'perpBasis', value: 'basis.perpetualPct', unit: '%' },
    dvol: { title: 'Implied volatility', value: 'impliedVolatility.dvolPct', unit: '% a year' },
    realizedVolatility: {
      title: 'Realised volatility, 30 days',
      series: 'btcClose',
      value: 'impliedVolatility.realized30dPct',
      unit: '% a year',
    },
  }),
  ...defineFigures('sentiment', fearGreedReport, {
    fearGreed: {
      title: 'Crypto Fear & Greed index',
      value: 'value',
      unit: 'of 100',
      change: { path: 'weekAgo.value', unit: 'points', over: '7 days', isEarlierValue: true },
    },
  }),
];
