import {
  accuracyOf,
  brierScore,
  type Interval,
  type Outcome,
  selectNonOverlapping,
  streaksOf,
  wilsonInterval,
} from '../forecast/scoring.ts';
import type { Direction } from '../forecast/signal.ts';
import type { CommittedValues, ForecastDoc } from './forecast.ts';
import { committedProbabilities, type ForecastView, type ViewOptions, viewForecast } from './views.ts';

/** One line of the scorecard: the fields of both shapes of the interface, section 2.3, where they do not clash. */
export interface ScorecardEntry extends Omit<ForecastView, 'result' | 'actualDirection' | 'correct'> {
  outcome: { actualReturn: number; actualDirection: Direction; correct: boolean } | null;
  attestationUid: string | null;
  resolutionUid: string | null;
}

export interface Streak {
  count: number;
  type: 'WIN' | 'LOSS' | null;
}

export interface ScorecardSummary {
  totalPredictions: number;
  /** Scored forecasts: wins and losses. */
  resolved: number;
  wins: number;
  losses: number;
  /** Counted and shown, never scored. */
  holds: number;
  voids: number;
  pending: number;
  /** Share of wins, 0 to 1; null before the first resolution. */
  accuracy: number | null;
  /** Forecasts left when overlapping windows are dropped: what the evidence is really worth. */
  dedupedTotal: number;
  dedupedAccuracy: number | null;
  /** 95 % Wilson interval of the accuracy, on the number of windows that do not overlap. */
  accuracyInterval95: Interval | null;
  /** What always saying UP would have scored on the same forecasts. */
  alwaysUpAccuracy: number | null;
  streak: Streak;
  /** The probabilities of all resolved forecasts, HOLD included, against the base rate known at the time. Null before the first. */
  brier: { n: number; model: number; climatology: number } | null;
  /** What the figures amount to, in words. */
  verdict: string;
}

export interface ScorecardStats {
  total: number;
  wins: number;
  losses: number;
  accuracy: number | null;
  /** Consecutive wins up to now. */
  currentStreak: number;
  /** Longest run of wins. */
  longestStreak: number;
}

export interface Scorecard {
  summary: ScorecardSummary;
  stats: ScorecardStats;
  /** Newest first. */
  predictions: ScorecardEntry[];
}

/** Scorecard of one horizon's forecasts, given in the order of their sequence. */
export function scorecardOf(docs: ForecastDoc[], horizonDays: number, options: ViewOptions): Scorecard {
  const summary = summaryOf(docs, horizonDays);
  return {
    summary,
    stats: {
      total: docs.length,
      wins: summary.wins,
      losses: summary.losses,
      accuracy: summary.accuracy,
      currentStreak: summary.streak.type === 'WIN' ? summary.streak.count : 0,
      longestStreak: streaksOf(docs.filter(isScored).map(outcomeOf)).longestWin,
    },
    predictions: docs.map((doc) => scorecardEntry(doc, options)).reverse(),
  };
}

/** Summary of one horizon's forecasts, given in the order of their sequence. */
export function summaryOf(docs: ForecastDoc[], horizonDays: number): ScorecardSummary {
  const scored = docs.filter(isScored);
  const { wins, n, accuracy, independent, independentAccuracy, interval95 } = shareOfWins(docs, horizonDays);
  const figures = {
    wins,
    scored: n,
    holds: countOf(docs, 'HOLD'),
    independent,
    interval: interval95,
    alwaysUpAccuracy: alwaysUp(scored),
    everyCallUp: scored.every(({ values }) => values?.direction === 'UP'),
  };
  return {
    totalPredictions: docs.length,
    resolved: n,
    wins,
    losses: countOf(docs, 'LOSS'),
    holds: figures.holds,
    voids: countOf(docs, 'VOID'),
    pending: countOf(docs, 'PENDING') + countOf(docs, 'DRAFT'),
    accuracy,
    dedupedTotal: independent,
    dedupedAccuracy: independentAccuracy,
    accuracyInterval95: interval95,
    alwaysUpAccuracy: figures.alwaysUpAccuracy,
    streak: streaksOf(scored.map(outcomeOf)).current ?? { count: 0, type: null },
    brier: brierOf(docs),
    verdict: verdictOf(figures),
  };
}

export interface ShareOfWins {
  /** Scored forecasts: wins and losses. */
  n: number;
  wins: number;
  /** wins / n; null without any. */
  accuracy: number | null;
  /** How many of them have windows that do not overlap: what the evidence is really worth. */
  independent: number;
  independentAccuracy: number | null;
  /** 95 % Wilson interval of the accuracy, on the number of windows that do not overlap; null without any. */
  interval95: Interval | null;
}

/** How often forecasts of one horizon, given in the order of their sequence, were right. */
export function shareOfWins(docs: ForecastDoc[], horizonDays: number): ShareOfWins {
  const scored = docs.filter(isScored);
  const independent = selectNonOverlapping(scored, horizonDays).map(outcomeOf);
  const accuracy = accuracyOf(scored.map(outcomeOf));
  return {
    n: scored.length,
    wins: countOf(docs, 'WIN'),
    accuracy,
    independent: independent.length,
    independentAccuracy: accuracyOf(independent),
    interval95: accuracy === null ? null : wilsonInterval(accuracy * independent.length, independent.length),
  };
}

/** One forecast as a caller may see it. */
export function scorecardEntry(doc: ForecastDoc, options: ViewOptions): ScorecardEntry {
  const { result, actualDirection, correct, ...view } = viewForecast(doc, options);
  const outcome =
    view.returnBps === null || actualDirection === null || correct === null
      ? null
      : { actualReturn: view.returnBps / 10_000, actualDirection, correct };
  return { ...view, outcome, attestationUid: doc.attestation?.uid ?? null, resolutionUid: doc.reveal?.uid ?? null };
}

/** Mean squared error of P(up), and of the training period's base rate on the same days. */
export function brierOf(docs: readonly ForecastDoc[]): ScorecardSummary['brier'] {
  const revealed = docs.filter(({ reveal }) => reveal !== null);
  if (revealed.length === 0) return null;
  const mean = (probability: (values: CommittedValues) => number) =>
    revealed.reduce((sum, { values, resolution }) => sum + brierScore(probability(values!), resolution?.actualDirection === 'UP'), 0) /
    revealed.length;
  return {
    n: revealed.length,
    model: mean((values) => committedProbabilities(values).pUp),
    climatology: mean(({ climatology }) => climatology),
  };
}

function isScored(doc: ForecastDoc): boolean {
  return doc.state === 'WIN' || doc.state === 'LOSS';
}

function outcomeOf(doc: ForecastDoc): Outcome {
  return doc.state === 'WIN' ? 'WIN' : 'LOSS';
}

function countOf(docs: ForecastDoc[], state: ForecastDoc['state']): number {
  return docs.filter((doc) => doc.state === state).length;
}

function alwaysUp(scored: ForecastDoc[]): number | null {
  return accuracyOf(scored.map((doc) => (doc.resolution?.actualDirection === 'UP' ? 'WIN' : 'LOSS')));
}

interface VerdictInput {
  wins: number;
  scored: number;
  holds: number;
  independent: number;
  interval: Interval | null;
  alwaysUpAccuracy: number | null;
  /** Then the accuracy is that of always saying UP, whatever it is. */
  everyCallUp: boolean;
}

function verdictOf({ wins, scored, holds, independent, interval, alwaysUpAccuracy, everyCallUp }: VerdictInput): string {
  if (interval === null || alwaysUpAccuracy === null) {
    return holds === 0
      ? 'nothing resolved yet: no claim can be made'
      : `no call made: all ${holds} forecasts that are over abstained (HOLD)`;
  }
  const { low, high } = interval;
  const range = `${wins} of ${scored} right, worth ${independent} independent ones, 95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}`;
  if (everyCallUp) return `no skill can show: every call was UP; ${range}`;
  const always = `always-UP scored ${alwaysUpAccuracy.toFixed(2)}`;
  if (low > alwaysUpAccuracy) return `better than always-UP: ${range}; ${always}`;
  if (high < alwaysUpAccuracy) return `worse than always-UP: ${range}; ${always}`;
  return `not distinguishable from always-UP: ${range}; ${always}`;
}
