import type { z } from 'zod';
import { computeMeanInterval, type MeanInterval } from '../forecast/bootstrap.ts';
import { type Day, formatDay, formatDayOrNull, formatWeek, parseDay, toDay, toWeek } from '../forecast/day.ts';
import { mean } from '../forecast/math.ts';
import { boundedLogLoss, brierScore, type Interval, wilsonInterval } from '../forecast/signal.ts';
import { computeReliabilityBins } from '../forecast/statistics.ts';
import { roundTo } from '../platform/validation.ts';
import type { Side } from '../wager/sizing.ts';
import type { Venue } from '../wager/venue.ts';
import { buildWagerAccounts, compareSettledWagers, type WagerDoc } from '../wager/wagers.ts';
import { formatForecastId, fromCents } from './forecast-doc.ts';
import { isOwnVenue } from './forecasts.ts';
import type { RecordProjection } from './projection.ts';
import type { PREDICTION_MARKET } from './schemas/track-record.ts';
import { mayReadUnresolved, type ViewOptions, viewForecast } from './visibility.ts';

/** Strikes are weekly: they are compared with the 7-day forecast. */
const COMPARED_HORIZON_DAYS = 7;

const PAPER_NOTE = 'Quotes of the paper venue are made by this service to wager without money: they represent no real crowd.';
const GATED_NOTE = 'Outcomes and probabilities are shown up to `throughDate`: those of a later day would disclose an unresolved forecast.';
const STRIKE_QUESTION_NOTE =
  'A different question from UP or DOWN: whether the price is above the strike nearest to the money at the weekly expiry, one strike per week, whatever the horizon of this record.';
const OWN_QUOTES_NOTE = 'The quotes are made by this service itself: skill against them proves nothing.';
const REPLAYED_NOTE = 'Some of these days were replayed at their own dates when this demo first started.';

/** What is computed from all wagers, by the last day that a caller may read; once per change of the wagers. */
export class CrowdFigures {
  readonly #known: RecordProjection;
  readonly #venue: Pick<Venue, 'name' | 'sameBook'>;
  readonly #computed = new Map<'all' | 'public', { key: string; figures: ReturnType<typeof computeCrowdFigures> }>();

  constructor(known: RecordProjection, venue: Pick<Venue, 'name' | 'sameBook'>) {
    this.#known = known;
    this.#venue = venue;
  }

  /** @param through null without a limit */
  get(through: Day | null) {
    const { days, wagers } = this.#known.revisions;
    const name = through === null ? 'all' : 'public';
    const key = `${days} ${wagers} ${through}`;
    const computed = this.#computed.get(name);
    if (computed?.key === key) return computed.figures;
    const figures = computeCrowdFigures(this.#known, this.#venue.sameBook, through);
    this.#computed.set(name, { key, figures });
    return figures;
  }

  /** Accuracy of the prices alone, as far as the caller may read. */
  getAccuracy(view: ViewOptions) {
    const through = this.#getReadableThrough(view);
    const { accuracy, byVenue, pins } = this.get(through);
    return {
      ...this.#buildHeader(through),
      ...accuracy,
      byVenue: byVenue.map(({ venue, ...figures }) => ({ venue, quotesAreOurs: isOwnVenue(venue), ...figures })),
      notes: listNotes(pins.accuracy, through),
    };
  }

  /**
   * Totals cover all weeks; weeks and disagreements are those of the page, newest first.
   * @param page weeks before that one, `YYYY-Www`, or from the newest; null: all weeks
   */
  compareWeeks(view: ViewOptions, page: { limit: number; before: string | null } | null) {
    const { limit = Number.MAX_SAFE_INTEGER, before = null } = page ?? {};
    const through = this.#getReadableThrough(view);
    const figures = this.get(through);
    const older = figures.weeks.filter(({ weekId }) => before === null || weekId < before);
    const weeks = this.#addForecasts(older.slice(0, limit), view);
    const shown = new Set(weeks.map(({ weekId }) => weekId));
    return {
      ...this.#buildHeader(through),
      totals: figures.totals,
      weeks,
      count: weeks.length,
      total: figures.weeks.length,
      nextCursor: older.length > limit ? weeks[weeks.length - 1].weekId : null,
      disagreements: figures.disagreements.filter(({ weekId }) => shown.has(weekId)),
      disagreementTotals: figures.disagreementTotals,
      byDifference: figures.byDifference,
      notes: listNotes(figures.pins.comparison, through),
    };
  }

  /** Wagers of days with a pending forecast are excluded: the difference between two responses would reveal the model's side. */
  compareWagers(now: Date): MarketComparison {
    const through = this.#known.getLastPublicDay(now);
    const { headToHead, outcomes } = this.get(through);
    const { weight: weightGivenToModel, ...scores } = headToHead;
    return { ...this.#buildHeader(through), throughDate: formatDay(through), ...scores, weightGivenToModel, wagers: outcomes };
  }

  getMarketSkill(now: Date) {
    const through = this.#known.getLastPublicDay(now);
    const header = { ...this.#buildHeader(through), throughDate: formatDay(through) };
    const note = header.quotesAreOurs ? `${STRIKE_QUESTION_NOTE} ${OWN_QUOTES_NOTE}` : STRIKE_QUESTION_NOTE;
    return { ...header, skill: this.get(through).marketSkill, note };
  }

  #getReadableThrough(view: ViewOptions): Day | null {
    return mayReadUnresolved(view) ? null : this.#known.getLastPublicDay(view.now);
  }

  #buildHeader(through: Day | null) {
    const { name, sameBook } = this.#venue;
    return { venue: name, quotesAreOurs: sameBook.some(isOwnVenue), throughDate: formatDayOrNull(through) };
  }

  #addForecasts(weeks: readonly WeekComparison[], view: ViewOptions) {
    const docs = this.#known.listForecasts(weeks.map(({ date }) => formatForecastId(parseDay(date), COMPARED_HORIZON_DAYS)));
    const views = new Map(docs.map((doc) => [formatDay(doc.day), viewForecast(doc, view)]));
    return weeks.map((week) => {
      const { predictionId = null, signal = null, direction = null } = views.get(week.date) ?? {};
      return { ...week, predictionId, signal, direction };
    });
  }
}

function listNotes({ venues, hasReplayed }: ReturnType<typeof describePins>, through: Day | null): string[] {
  return [
    ...(venues.some(isOwnVenue) ? [PAPER_NOTE] : []),
    ...(hasReplayed ? [REPLAYED_NOTE] : []),
    ...(through === null ? [] : [GATED_NOTE]),
  ];
}

function computeCrowdFigures(known: RecordProjection, sameBook: readonly string[], through: Day | null) {
  const isReadable = ({ day }: { day: Day }) => through === null || day <= through;
  const [pins, all] = [listPins(known), known.listWagers().filter(isReadable)];
  const ofBook = pins.filter(({ venue }) => sameBook.includes(venue));
  const settled = pins.filter(isSettledPin).filter(isReadable);
  const { weeks, totals } = compareWeekly(ofBook, through);
  const countState = (state: 'WIN' | 'LOSS') => all.filter((wager) => wager.state === state).length;
  return {
    headToHead: compareSettledWagers(all, sameBook),
    outcomes: { wins: countState('WIN'), losses: countState('LOSS') },
    accounts: buildWagerAccounts(all),
    wagers: all.length,
    venuesOfWagers: [...new Set(all.map(({ venue }) => venue))],
    hasReplayedWagers: all.some(({ replayed }) => replayed),
    weeks,
    totals,
    ...buildDisagreementLog(weeks),
    byDifference: scoreByDifference(weeks),
    marketSkill: computeMarketSkill(ofBook, through),
    accuracy: computeCrowdAccuracy(settled.filter(({ venue }) => sameBook.includes(venue))),
    byVenue: computeAccuracyByVenue(settled),
    pins: { comparison: describePins(ofBook), accuracy: describePins(settled) },
  };
}

/** What the notes of an answer depend on. */
function describePins(pins: readonly { venue: string; replayed: boolean }[]) {
  return { venues: [...new Set(pins.map(({ venue }) => venue))], hasReplayed: pins.some(({ replayed }) => replayed) };
}

/** The market's own accuracy on settled pins, oldest first. Markets of one week share their outcome, so that intervals count weeks. */
export function computeCrowdAccuracy(pins: readonly SettledPin[]) {
  const firsts = selectFirstPins(pins, ({ venue, marketId }) => `${venue} ${marketId}`);
  const outcomes = firsts.map(({ pMarket: p, winner, weekId }) => ({ p, happened: winner === 'YES', weekId }));
  const calls = firsts.filter(({ pMarket }) => pMarket !== 0.5);
  const hits = calls.filter(({ pMarket, winner }) => pMarket > 0.5 === (winner === 'YES')).length;
  const hitRate = calls.length === 0 ? null : hits / calls.length;
  const callWeeks = countExpiryWeeks(calls);
  return {
    markets: firsts.length,
    weeks: countExpiryWeeks(firsts),
    brier: roundedMean(outcomes.map(({ p, happened }) => brierScore(p, happened))),
    logLoss: roundedMean(outcomes.map(({ p, happened }) => boundedLogLoss(p, happened))),
    calls: calls.length,
    hits,
    hitRate: hitRate && roundScore(hitRate),
    hitRateInterval95: hitRate === null ? null : roundInterval(wilsonInterval(hitRate * callWeeks, callWeeks)),
    reliability: computeReliabilityBins(outcomes, countExpiryWeeks).map((bin) => ({
      ...bin,
      meanProbability: bin.meanProbability && roundScore(bin.meanProbability),
      observedShare: bin.observedShare && roundScore(bin.observedShare),
      interval95: bin.interval95 && roundInterval(bin.interval95),
    })),
  };
}

export function computeAccuracyByVenue(pins: readonly SettledPin[]) {
  const byVenue = Map.groupBy(pins, ({ venue }) => venue);
  return [...byVenue].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([venue, members]) => ({ venue, ...computeCrowdAccuracy(members) }));
}

function countExpiryWeeks(outcomes: readonly { weekId: string }[]): number {
  return new Set(outcomes.map(({ weekId }) => weekId)).size;
}

function roundedMean(values: number[]): number | null {
  return values.length === 0 ? null : roundScore(mean(values));
}

function roundInterval({ low, high }: Interval): Interval {
  return { low: roundScore(low), high: roundScore(high) };
}

/** Price of the strike nearest to the money at signal time, stored once. */
export type CrowdPin = ReturnType<typeof toCrowdPin>;

export type SettledPin = CrowdPin & { winner: Side };

/** Of all wagers with a quoted market, with or without a stake, oldest first. */
export function listPins(known: Pick<RecordProjection, 'listWagers' | 'listDays'>): CrowdPin[] {
  const prices = new Map(known.listDays().map(({ day, price }) => [day, price]));
  const priced = known.listWagers().filter(({ market, qMarket, pModel }) => market !== null && qMarket !== null && pModel !== null);
  return priced.map((wager) => {
    const price = prices.get(wager.day) ?? null;
    return toCrowdPin(wager, price === null ? null : fromCents(price.cents));
  });
}

/** Requires a wager whose market was priced. */
export function toCrowdPin(
  { day, replayed, venue, market, quote, book, decidedAt, qMarket, pModel, winner, settledAt }: WagerDoc,
  btcPriceUsd: number | null,
) {
  const { id: marketId, question, strikeUsd, expiresAt } = market!;
  return {
    day,
    replayed,
    venue,
    marketId,
    question,
    strikeUsd,
    expiresAt,
    btcPriceUsd,
    winner,
    /** The market ended without a winner. */
    isVoid: winner === null && settledAt !== null,
    // A market on the close of Friday expires at 00:00 UTC of Saturday.
    weekId: formatWeek(toWeek(toDay(expiresAt.getTime() - 1))),
    pinnedAt: quote?.at ?? decidedAt,
    // Order book of YES contracts at signal time. Prices 0 to 1; the fee is a fraction of a contract's payout.
    book: quote && { bid: quote.bid, ask: quote.ask, fee: quote.fee, bids: book?.bids ?? [], asks: book?.asks ?? [] },
    // P(YES): the market's mid price, and the model's. Rounded as served, so that a client recomputes the same scores.
    pMarket: roundTo(qMarket!, 4),
    pOracle: roundTo(pModel!, 4),
  };
}

/** The first pin per key. Expects pins oldest first. */
function selectFirstPins<Pin extends CrowdPin>(pins: readonly Pin[], keyOf: (pin: Pin) => string): Pin[] {
  return [...Map.groupBy(pins, keyOf).values()].map(([first]) => first);
}

export function isSettledPin(pin: CrowdPin): pin is SettledPin {
  return pin.winner !== null;
}

/** Rounds a score, or a mean or bound of scores: squared errors of four-digit probabilities are exact in 8 digits. */
function roundScore(value: number): number {
  return roundTo(value, 8);
}

/** Minimum distance of two probabilities that disagree, in basis points; opposite sides of one half always disagree. */
const MIN_DISTANCE_BPS = 1_000;

/** Weeks in which crowd and oracle disagreed, without those that the caller may not read. Expects the newest first. */
export function buildDisagreementLog(weeks: readonly WeekComparison[]) {
  // How often each side was right, the current disagreement included.
  const score = { oracle: 0, market: 0 };
  const log = weeks.toReversed().flatMap((week) => {
    const { weekId, date, venue, question, strike, marketProbability, oracleProbability, status, winner, closer, replayed } = week;
    if (oracleProbability === null) return [];
    const oppositeSides = (marketProbability - 0.5) * (oracleProbability - 0.5) < 0;
    if (!oppositeSides && Math.round(Math.abs(oracleProbability - marketProbability) * 10_000) < MIN_DISTANCE_BPS) return [];
    // On opposite sides, the lower score belongs to the side that came true.
    const right = closer === 'tie' ? null : closer;
    if (right !== null) score[right]++;
    const disagreement = {
      weekId,
      date,
      venue,
      question,
      strike,
      marketProbability,
      oracleProbability,
      difference: roundTo(oracleProbability - marketProbability, 4),
      oppositeSides,
      status,
      winner,
      right,
      runningScore: { ...score },
      replayed,
    };
    return [disagreement];
  });
  const { oracle, market } = score;
  const settled = oracle + market;
  const interval = settled === 0 ? null : wilsonInterval(oracle, settled);
  const disagreementTotals = {
    disagreements: log.length,
    oppositeSides: log.filter(({ oppositeSides }) => oppositeSides).length,
    settled,
    oracleRight: oracle,
    marketRight: market,
    oracleShare: settled === 0 ? null : roundScore(oracle / settled),
    oracleShareInterval95: interval && roundInterval(interval),
    verdict: formatDisagreementVerdict(oracle, settled, interval),
  };
  return { disagreements: log.toReversed(), disagreementTotals };
}

/** Lower bounds of the distance of two probabilities, in basis points. */
const DISTANCE_BINS_BPS = [0, 500, 1_000, 2_000];

/** Scores of both on settled weeks, by how far they were apart. */
export function scoreByDifference(weeks: readonly WeekComparison[]) {
  const settled = weeks.flatMap(({ marketProbability, oracleProbability, market, oracle }) =>
    oracleProbability === null || market === null || oracle === null
      ? []
      : [{ distance: Math.round(Math.abs(oracleProbability - marketProbability) * 10_000), market: market.brier, oracle: oracle.brier }],
  );
  return DISTANCE_BINS_BPS.map((from, index) => {
    const to = DISTANCE_BINS_BPS[index + 1] ?? null;
    const members = settled.filter(({ distance }) => distance >= from && (to === null || distance < to));
    return {
      from: from / 10_000,
      to: to === null ? null : to / 10_000,
      n: members.length,
      oracleBrier: roundedMean(members.map(({ oracle }) => oracle)),
      marketBrier: roundedMean(members.map(({ market }) => market)),
    };
  });
}

function formatDisagreementVerdict(oracle: number, settled: number, interval: Interval | null): string {
  if (interval === null) return 'no disagreement is settled yet: no claim can be made';
  const { low, high } = interval;
  const range = `${oracle} of ${settled} disagreements went its way, 95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}`;
  if (low > 0.5) return `the oracle was right more often than the crowd where they disagreed: ${range}`;
  if (high < 0.5) return `the crowd was right more often than the oracle where they disagreed: ${range}`;
  return `where they disagreed, oracle and crowd cannot be distinguished: ${range}`;
}

type ProbabilityScores = Record<'brier' | 'logLoss', number>;

export type WeekComparison = ReturnType<typeof compareWeek>;

/** By the first pin of each week; `through` is the last day whose oracle side the caller may read, null without a limit. */
export function compareWeekly(pins: readonly CrowdPin[], through: Day | null) {
  const weeks = selectFirstPins(pins, ({ weekId }) => weekId).map((pin) => compareWeek(pin, through !== null && pin.day > through));
  return { weeks: weeks.toReversed(), totals: computeTotals(weeks) };
}

function compareWeek(pin: CrowdPin, gated: boolean) {
  const { weekId, venue, marketId, question, pMarket, pOracle, replayed } = pin;
  // Gated too: the settlement time may disclose whether there was a stake.
  const winner = gated ? null : pin.winner;
  const status: 'PENDING' | 'SETTLED' | 'VOID' = winner !== null ? 'SETTLED' : pin.isVoid && !gated ? 'VOID' : 'PENDING';
  const market = winner === null ? null : scoreProbability(pMarket, winner);
  const oracle = winner === null ? null : scoreProbability(pOracle, winner);
  return {
    weekId,
    date: formatDay(pin.day),
    venue,
    marketId,
    question,
    strike: pin.strikeUsd,
    btcPrice: pin.btcPriceUsd,
    expiresAt: pin.expiresAt.toISOString(),
    pinnedAt: pin.pinnedAt.toISOString(),
    book: pin.book,
    marketProbability: pMarket,
    oracleProbability: gated ? null : pOracle,
    gated,
    status,
    winner,
    market,
    oracle,
    closer: market === null || oracle === null ? null : findCloser(market, oracle),
    replayed,
  };
}

function scoreProbability(p: number, winner: Side): ProbabilityScores {
  const happened = winner === 'YES';
  return { brier: roundScore(brierScore(p, happened)), logLoss: roundScore(boundedLogLoss(p, happened)) };
}

function findCloser(market: ProbabilityScores, oracle: ProbabilityScores): 'oracle' | 'market' | 'tie' {
  if (oracle.brier === market.brier) return 'tie';
  return oracle.brier < market.brier ? 'oracle' : 'market';
}

function computeTotals(weeks: WeekComparison[]) {
  const pairs = weeks.flatMap(({ market, oracle }) => (market === null || oracle === null ? [] : [{ market, oracle }]));
  const difference = (score: keyof ProbabilityScores) =>
    roundMeanInterval(computeMeanInterval(pairs.map(({ market, oracle }) => oracle[score] - market[score])));
  const brierDifference = difference('brier');
  return {
    weeks: pairs.length,
    market: averageScores(pairs.map(({ market }) => market)),
    oracle: averageScores(pairs.map(({ oracle }) => oracle)),
    brierDifference,
    logLossDifference: difference('logLoss'),
    oracleCloser: weeks.filter(({ closer }) => closer === 'oracle').length,
    marketCloser: weeks.filter(({ closer }) => closer === 'market').length,
    verdict: formatComparisonVerdict(brierDifference),
  };
}

function averageScores(scores: ProbabilityScores[]): ProbabilityScores | null {
  const [brier, logLoss] = [roundedMean(scores.map((one) => one.brier)), roundedMean(scores.map((one) => one.logLoss))];
  return brier === null || logLoss === null ? null : { brier, logLoss };
}

function roundMeanInterval(interval: MeanInterval | null): MeanInterval | null {
  if (interval === null) return null;
  const { n, mean, low, high } = interval;
  const bound = (value: number | null) => (value === null ? null : roundScore(value));
  return { n, mean: roundScore(mean), low: bound(low), high: bound(high) };
}

function formatComparisonVerdict(difference: MeanInterval | null): string {
  if (difference === null) return 'no week is settled yet: no claim can be made';
  const { n, mean, low, high } = difference;
  if (low === null || high === null) return 'one settled week: no claim can be made';
  const range = `mean Brier difference ${mean.toFixed(4)} over ${n} weeks, 95 % interval ${low.toFixed(4)} to ${high.toFixed(4)}`;
  if (high < 0) return `the oracle was better than the crowd: ${range}`;
  if (low > 0) return `the crowd was better than the oracle: ${range}`;
  return `oracle and crowd cannot be distinguished: ${range}`;
}

/** Null before the first settled week, and while the market's score is 0. The interval is the weekly comparison's, so that both agree. */
export function computeMarketSkill(pins: readonly CrowdPin[], through: Day | null) {
  const { weeks, totals } = compareWeekly(pins, through);
  const pairs = weeks.flatMap(({ market, oracle }) => (market === null || oracle === null ? [] : [[oracle.brier, market.brier]]));
  const market = computeMeanInterval(pairs.map(([, theirs]) => theirs));
  const difference = computeMeanInterval(pairs.map(([ours, theirs]) => ours - theirs));
  if (market === null || market.mean === 0 || difference === null || totals.market === null || totals.oracle === null) return null;
  const skillAt = (distance: number) => roundScore(1 - (market.mean + distance) / market.mean);
  return {
    weeks: pairs.length,
    oracleBrier: totals.oracle.brier,
    marketBrier: totals.market.brier,
    value: skillAt(difference.mean),
    low: difference.high === null ? null : skillAt(difference.high),
    // A Brier score is at least 0, so that a skill is at most 1.
    high: difference.low === null ? null : Math.min(1, skillAt(difference.low)),
  };
}

export type MarketComparison = z.input<typeof PREDICTION_MARKET>;
