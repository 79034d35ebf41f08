import type { Context } from '../context.ts';
import { DAY_MS, type Day, formatDay } from '../forecast/day.ts';
import { buildDistribution, computeScale, probabilityAbove } from '../forecast/distribution.ts';
import { HORIZONS } from '../forecast/model.ts';
import { REGIMES, type Regime } from '../forecast/regime.ts';
import { isWeeklyStrike, type StrikeSnapshot, selectNearTheMoney } from '../market/feed.ts';
import type { Market } from '../market/market.ts';
import { btcPriceReport, fearGreedReport } from '../market/reports/bitcoin.ts';
import { etfFlowsReport } from '../market/reports/etf.ts';
import { macroCorrelationReport } from '../market/reports/macro.ts';
import type { MarketReport, ReportEnvelope, ReportedInput } from '../market/reports/report.ts';
import type { SeriesId } from '../market/series.ts';
import { roundTo } from '../platform/validation.ts';
import type { Quote, StrikeMarket } from '../wager/venue.ts';
import { fromCents } from './forecast-doc.ts';
import { type ForecastRecord, isOwnVenue } from './forecasts.ts';
import type { ModelDoc } from './model-card.ts';
import type { DayWithValues, KnownDay } from './projection.ts';
import { computeFreshness, loadOrNoteMissing, type MissingPart, notYetMadeError } from './public-signal.ts';
import type { ContextSection, MarketContextReply } from './schemas/market-context.ts';

type Sections = { [Section in ContextSection]: NonNullable<MarketContextReply[Section]> };
type FigureOrigin = Pick<Sections['price'], 'source' | 'observedAt' | 'ageSeconds' | 'stale'>;

/** All sections of one request share an instant. */
type ContextRequest = Context & { at: Date };

/** The requested sections, each figure with source and age; unavailable parts are null and listed in `missing`. */
export async function readMarketContext(context: Context, include: readonly ContextSection[]): Promise<MarketContextReply> {
  const request: ContextRequest = { ...context, at: context.now() };
  const missing: MissingPart[] = [];
  const load = async <Section extends ContextSection>(section: Section): Promise<Sections[Section] | null> =>
    include.includes(section) ? loadOrNoteMissing(missing, section, () => SECTION_READERS[section](request)) : null;
  const loading = [load('price'), load('sentiment'), load('flows'), load('macro'), load('regime')] as const;
  const [price, sentiment, flows, macro, regime] = await Promise.all(loading);
  const sections = { price, sentiment, flows, macro, regime };
  return {
    asOf: request.at.toISOString(),
    source: context.market.source,
    kind: context.market.kind,
    include: [...include],
    ...sections,
    missing: [...missing, ...listNullFigures(sections)].toSorted((a, b) => (a.part < b.part ? -1 : 1)),
  };
}

const SECTION_READERS: { [Section in ContextSection]: (request: ContextRequest) => Promise<Sections[Section]> } = {
  async price(request) {
    const { price, change24h, currency, inputs } = await readReport<PriceReport>(request, btcPriceReport);
    return { btcPrice: price, change24h, currency, ...toFigureOrigin(inputs[0], request) };
  },
  async sentiment(request) {
    const { value, label, date, attribution, inputs } = await readReport<SentimentReport>(request, fearGreedReport);
    return { fearGreed: value, fearGreedLabel: label, date, attribution: attribution ?? null, ...toFigureOrigin(inputs[0], request) };
  },
  async flows(request) {
    const { flow7d, flow30d, lastDay, lastDayDate, provisional, inputs } = await readReport<FlowsReport>(request, etfFlowsReport);
    return { etfFlows7d: flow7d, etfFlows30d: flow30d, lastDay, lastDayDate, provisional, ...toFigureOrigin(inputs[0], request) };
  },
  async macro(request) {
    const { inputs, ...report } = await readReport<MacroReport>(request, macroCorrelationReport);
    const origin = (series: SeriesId) => toFigureOrigin(inputs.find((input) => input.series === series)!, request);
    return {
      dxy: { ...origin('dxy'), ...report.dxy },
      sp500: { ...origin('sp500'), ...report.sp500 },
      goldBtcRatio: { ...origin('gold'), ...report.goldBtcRatio },
      ismPmi: { ...origin('pmi'), ...report.ismPmi },
    };
  },
  async regime({ record, market, at }) {
    const { regime: name, description, riskLevel, date, timestamp, ageSeconds, stale } = await getCurrentRegime({ record, market }, at);
    return { name, description, riskLevel, date, source: market.source, observedAt: timestamp, ageSeconds, stale };
  },
};

type PriceReport = { price: number } & Pick<Sections['price'], 'change24h' | 'currency'>;
type SentimentReport = { value: number | null; label: Sections['sentiment']['fearGreedLabel']; date: string | null; attribution?: string };
type FlowsReport = { flow7d: number | null; flow30d: number | null } & Pick<Sections['flows'], 'lastDay' | 'lastDayDate' | 'provisional'>;
type MacroReport = { [Figure in keyof Sections['macro']]: Omit<Sections['macro'][Figure], 'source' | 'observedAt' | 'ageSeconds'> };

async function readReport<Fields>({ market, at }: ContextRequest, report: MarketReport): Promise<Fields & ReportEnvelope> {
  return (await market.report(report, at.getTime())) as Fields & ReportEnvelope;
}

function toFigureOrigin({ source, observedAt, stale }: ReportedInput, { at }: ContextRequest): FigureOrigin {
  const ageSeconds = observedAt === null ? null : Math.max(0, Math.round((at.getTime() - Date.parse(observedAt)) / 1000));
  return { source, observedAt, ageSeconds, stale };
}

/** Reasons for null figures in a present section, by path. */
const NULL_REASONS: Record<string, string> = {
  'price.change24h': 'the price source has no 24-hour change',
  'sentiment.fearGreed': 'no value is known yet',
  'flows.etfFlows7d': 'none of the 7 calendar days has a figure',
  'flows.etfFlows30d': 'none of the 30 calendar days has a figure',
  'flows.lastDay': 'no day has a figure yet',
};

function listNullFigures({ macro, ...sections }: { [Section in ContextSection]: Sections[Section] | null }): MissingPart[] {
  const figures = Object.entries(sections).flatMap(([section, values]) =>
    Object.entries(values ?? {}).map(([name, value]): [string, unknown] => [`${section}.${name}`, value]),
  );
  const plain = figures.flatMap(([part, value]) => (value === null && part in NULL_REASONS ? [{ part, reason: NULL_REASONS[part] }] : []));
  const ofMacro = Object.entries(macro ?? {}).flatMap(([name, { value, correlation }]) => [
    ...(value === null ? [{ part: `macro.${name}.value`, reason: 'no value is known yet' }] : []),
    ...(correlation === null ? [{ part: `macro.${name}.correlation`, reason: 'too few pairs of changes are known' }] : []),
  ]);
  return [...plain, ...ofMacro];
}

const STRIKES_PER_LADDER = 5;
/** By which a model's probability differs from a price. */
export const MIN_STRIKE_DIFFERENCE = 0.05;
const MAX_DIFFERENCES = 5;
/** A later expiry is extrapolated: the longest horizon opens within a day of its forecast. */
const MAX_DAYS_TO_EXPIRY = Math.max(...HORIZONS) + 1;

/** Open strikes near the money; and of all within the horizons those that differ from the model, the largest difference first, old prices apart. */
export async function listPricedStrikes(
  context: Context,
  { day, model }: { day: DayWithValues; model: ModelDoc | null },
  missing: MissingPart[],
) {
  const now = context.now();
  const [seen, own, spot] = await Promise.all([
    loadOrNoteMissing(missing, 'strikes', () => context.market.strikes(now.getTime())),
    loadOrNoteMissing(missing, `strikes of ${context.venue.name}`, () => context.venueMarkets()),
    loadOrNoteMissing([], 'price', () => context.market.spot(now.getTime())),
  ]);
  const spotUsd = spot?.priceUsd ?? fromCents(day.price!.cents);
  const tracked = [...(seen ?? []).map(toSnapshotStrike), ...(own ?? []).map((entry) => toVenueStrike(context.venue.name, entry))];
  const open = tracked.filter(({ expiresAt }) => expiresAt > now);
  const at = day.signalAt;
  const probability =
    model && (({ strikeUsd, expiresAt }: TrackedStrike) => computeStrikeProbability({ day, model, strikeUsd, expiresAt, at }));
  const view = (strikes: readonly TrackedStrike[]) => viewStrikes(strikes, { spotUsd, now, gated: false, probability }).map(toPricedStrike);
  const distance = ({ difference }: { difference: number | null }) => Math.abs(difference ?? 0);
  const differences = view(open.filter(({ expiresAt }) => findNearestHorizon({ expiresAt, at }).days <= MAX_DAYS_TO_EXPIRY))
    .filter((strike) => !strike.stale && distance(strike) >= MIN_STRIKE_DIFFERENCE)
    .toSorted((a, b) => distance(b) - distance(a))
    .slice(0, MAX_DIFFERENCES);
  return { near: view(selectPerLadder(open, spotUsd, STRIKES_PER_LADDER)), differences };
}

/** The strikes nearest to a price, of each venue and expiry. */
function selectPerLadder(strikes: readonly TrackedStrike[], spotUsd: number, count: number): TrackedStrike[] {
  const ladders = Map.groupBy(strikes, ({ venue, expiresAt }) => `${venue} ${expiresAt.getTime()}`);
  return [...ladders.values()].flatMap((ladder) => selectNearTheMoney(ladder, spotUsd, count));
}

function toPricedStrike(view: StrikeView) {
  const { resolution, strikeUsd, lastPrice, weekly, noPrice, providerTime, ageSeconds, modelProbabilityGated, ...shown } = view;
  const { modelProbability, yesPrice } = shown;
  const difference = modelProbability === null || yesPrice === null ? null : roundTo(modelProbability - yesPrice, 4);
  return { ...shown, difference };
}

interface StrikeQuestion {
  day: Pick<DayWithValues, 'variance' | 'price' | 'forecasts'>;
  model: ModelDoc;
  strikeUsd: number;
  expiresAt: Date;
  at: Date;
}

/** The horizon nearest to the time to expiry: its residuals and P(up) price the strike. */
export function findNearestHorizon({ expiresAt, at }: Pick<StrikeQuestion, 'expiresAt' | 'at'>) {
  const days = (expiresAt.getTime() - at.getTime()) / DAY_MS;
  const horizonDays = HORIZONS.reduce((best, horizon) => (Math.abs(horizon - days) < Math.abs(best - days) ? horizon : best));
  return { days, horizonDays };
}

/** P(price above the strike) at expiry, from the residual quantiles of the nearest horizon; the time to expiry may be fractional. */
export function computeStrikeProbability({ day, model, strikeUsd, expiresAt, at }: StrikeQuestion): number {
  const { v94, v99 } = day.variance!;
  const { days, horizonDays } = findNearestHorizon({ expiresAt, at });
  const { residualQuantiles } = model.horizons.find((fit) => fit.horizonDays === horizonDays)!;
  const { pUp } = day.forecasts[horizonDays];
  const distribution = buildDistribution({ residualQuantiles, scale: computeScale(v94, v99, days), pUp });
  return probabilityAbove({ distribution, spot: fromCents(day.price!.cents), strike: strikeUsd });
}

const STALE_AFTER_MS = 30 * 60_000;

export interface TrackedStrike
  extends Pick<StrikeSnapshot, 'marketId' | 'question' | 'strikeUsd' | 'bid' | 'ask' | 'lastPrice' | 'bids' | 'asks'> {
  venue: string;
  resolution: string | null;
  expiresAt: Date;
  weekly: boolean;
  url: string | null;
  madeByService: boolean;
  observedAt: Date;
  providerAt: Date | null;
}

export function toSnapshotStrike(snapshot: StrikeSnapshot): TrackedStrike {
  const { venue, marketId, question, resolution, strikeUsd, bid, ask, lastPrice, bids, asks, url, providerAtMs } = snapshot;
  return {
    venue,
    marketId,
    question,
    resolution,
    strikeUsd,
    bid,
    ask,
    lastPrice,
    bids,
    asks,
    url,
    expiresAt: new Date(snapshot.expiresAtMs),
    weekly: isWeeklyStrike(snapshot),
    madeByService: false,
    observedAt: new Date(snapshot.receivedAtMs),
    providerAt: providerAtMs === null ? null : new Date(providerAtMs),
  };
}

/** A strike of the service's own venue, which lists weekly strikes only. */
export function toVenueStrike(venue: string, { market, quote }: { market: StrikeMarket; quote: Quote }): TrackedStrike {
  const { id, question, strikeUsd, expiresAt } = market;
  const { bid, ask, at } = quote;
  return {
    venue,
    marketId: id,
    question,
    strikeUsd,
    expiresAt,
    bid,
    ask,
    resolution: null,
    weekly: true,
    lastPrice: null,
    bids: [],
    asks: [],
    url: null,
    madeByService: isOwnVenue(venue),
    observedAt: at,
    providerAt: at,
  };
}

interface StrikeViewOptions {
  spotUsd: number | null;
  now: Date;
  gated: boolean;
  /** P(price above the strike) by the model; null before the first forecast. */
  probability: ((strike: TrackedStrike) => number) | null;
}

type StrikeView = ReturnType<typeof viewStrike>;

export function viewStrikes(strikes: readonly TrackedStrike[], options: StrikeViewOptions): StrikeView[] {
  const central = new Set(options.spotUsd === null ? [] : selectPerLadder(strikes, options.spotUsd, 1));
  return strikes
    .toSorted((a, b) => +a.expiresAt - +b.expiresAt || a.venue.localeCompare(b.venue) || a.strikeUsd - b.strikeUsd)
    .map((strike) => viewStrike(strike, central.has(strike), options));
}

function viewStrike(tracked: TrackedStrike, central: boolean, { now, gated, probability }: StrikeViewOptions) {
  const { expiresAt, observedAt, providerAt, ...strike } = tracked;
  const ageMs = Math.max(0, now.getTime() - observedAt.getTime());
  const yesPrice = strike.bid === null || strike.ask === null ? strike.lastPrice : roundProbability((strike.bid + strike.ask) / 2);
  return {
    ...strike,
    strike: strike.strikeUsd,
    expiresAt: expiresAt.toISOString(),
    atTheMoney: central,
    yesPrice,
    noPrice: yesPrice === null ? null : roundProbability(1 - yesPrice),
    observedAt: observedAt.toISOString(),
    providerTime: providerAt?.toISOString() ?? null,
    ageSeconds: Math.round(ageMs / 1000),
    stale: ageMs > STALE_AFTER_MS,
    modelProbability: gated || probability === null ? null : roundProbability(probability(tracked)),
    modelProbabilityGated: gated,
  };
}

/** Finer than any tick. */
function roundProbability(probability: number): number {
  return roundTo(probability, 4);
}

type EvaluatedDay = KnownDay & { regime: Regime };

export async function getCurrentRegime({ record, market }: { record: ForecastRecord; market: Pick<Market, 'coverage'> }, now: Date) {
  const days = record.known.listDays();
  const newest = findNewestEvaluatedDay(days, Number.MAX_SAFE_INTEGER);
  if (newest === null || newest.regimeFactors === null) throw notYetMadeError('regime');
  const { day, regime, regimeFactors: factors, signalAt, replayed } = newest;
  const { riskLevel, description } = REGIMES[regime];
  const { since, previousRegime } = findRegimeRun(days, newest);
  const { lastDay: lastCovered } = await market.coverage();
  const { nextSignalAt: nextEvaluationAt, ...freshness } = computeFreshness(newest, { known: record.known, lastCovered }, now);
  const held = { date: formatDay(day), since: formatDay(since), daysHeld: day - since + 1, previousRegime };
  return { regime, description, riskLevel, timestamp: signalAt.toISOString(), factors, ...held, ...freshness, nextEvaluationAt, replayed };
}

/** First day of the current run and the regime before it; a missed day does not end a run. */
function findRegimeRun(days: readonly KnownDay[], { regime }: EvaluatedDay): { since: Day; previousRegime: Regime | null } {
  const other = days.findLast((one) => one.regime !== null && one.regime !== regime);
  const first = days.find((one) => one.day > (other?.day ?? -1) && one.regime === regime);
  return { since: first!.day, previousRegime: other?.regime ?? null };
}

function findNewestEvaluatedDay(days: readonly KnownDay[], before: Day): EvaluatedDay | null {
  return (days.findLast(({ day, regime }) => day < before && regime !== null) as EvaluatedDay | undefined) ?? null;
}

export function listRegimes({ known }: ForecastRecord, limit: number) {
  const days = known.listDays().slice(-limit).toReversed();
  const before = days.length === 0 ? null : findNewestEvaluatedDay(known.listDays(), days.at(-1)!.day);
  const shown = days.map(({ day, regime, signalAt, missedBecause, replayed }) => ({
    date: formatDay(day),
    regime,
    riskLevel: regime && REGIMES[regime].riskLevel,
    timestamp: signalAt.toISOString(),
    missed: missedBecause !== null,
    replayed,
  }));
  return { days: shown, transitions: listTransitions(days.toReversed(), before).reverse() };
}

function listTransitions(days: readonly KnownDay[], before: EvaluatedDay | null) {
  const evaluated = days.filter((day): day is EvaluatedDay => day.regime !== null);
  return evaluated.flatMap(({ day, regime, signalAt, replayed }, index) => {
    const from = (evaluated[index - 1] ?? before)?.regime;
    if (from === undefined || from === regime) return [];
    return [{ date: formatDay(day), from, to: regime, timestamp: signalAt.toISOString(), replayed }];
  });
}
