import type { HorizonName } from '../../forecast/model.ts';
import type { Regime, RiskLevel } from '../../forecast/regime/regime.ts';
import type { Interval } from '../../forecast/scoring.ts';
import type { Direction, Signal } from '../../forecast/signal.ts';
import type { FeedKind } from '../../market/feed.ts';
import type { FearGreedLabel } from '../../market/series/fear-greed-label.ts';
import type { SeriesId } from '../../market/series/series.ts';

/** A resolution that came on chain in the day before the brief. */
export interface BriefOutcome {
  predictionId: string;
  date: string;
  horizon: HorizonName;
  signal: Signal;
  direction: Direction;
  /** Probability of the direction as committed. */
  confidence: number;
  outcome: 'WIN' | 'LOSS' | 'HOLD';
  /** From the close at window open to that at resolution. */
  returnBps: number;
  btcAtSignal: number;
  btcAtResolution: number;
}

/** The record of one horizon so far. */
export interface BriefScore {
  horizon: HorizonName;
  forecasts: number;
  resolved: number;
  wins: number;
  losses: number;
  holds: number;
  pending: number;
  voids: number;
  accuracy: number | null;
  independent: number;
  accuracyInterval95: Interval | null;
  alwaysUpAccuracy: number | null;
  brier: { n: number; model: number; climatology: number } | null;
  verdict: string;
}

/** A forecast whose outcome is still open: that it exists is public, what it says is not. */
export interface BriefOpen {
  predictionId: string;
  horizon: HorizonName;
  signal: 'GATED';
  confidence: null;
  resolvesAt: string;
  attestationUid: string | null;
}

/** The public market figures at `asOf`; null where nothing recent enough was known. */
export interface BriefMarket {
  btcPrice: number | null;
  change24h: number | null;
  fearGreed: number | null;
  fearGreedLabel: FearGreedLabel | null;
  etfFlows7d: number | null;
  etfFlows30d: number | null;
  etfFlowLastDay: number | null;
}

export interface BriefCrowd {
  venue: string;
  quotesAreOurs: boolean;
  /** The venue's words, made plain. */
  question: string;
  strike: number;
  expiresAt: string;
  /** Of a price above the strike: the middle of bid and ask. */
  marketProbability: number;
}

export const NEXT_EVENTS = ['signal', 'attestation', 'wager', 'window-opens', 'resolution', 'brief', 'weekly-report'] as const;

export interface BriefNext {
  event: (typeof NEXT_EVENTS)[number];
  at: string;
}

export interface BriefInput {
  series: SeriesId;
  source: string;
  lastObserved: string | null;
  ageDays: number | null;
  stale: boolean;
}

/** The brief of a day, as it is kept and served: everybody gets the same, so that nothing unresolved is in it. Times in ISO 8601. */
export interface Brief {
  date: string;
  /** 03:00 UTC of the date: the instant that the brief is about, whenever it was made. */
  asOf: string;
  generatedAt: string;
  late: boolean;
  source: string;
  kind: FeedKind;
  /** Days of the record that the demo replay made. */
  replayedDays: number;
  market: BriefMarket;
  /** Of the newest forecast. */
  regime: { regime: Regime; riskLevel: RiskLevel; date: string } | null;
  resolved: BriefOutcome[];
  scorecard: BriefScore[];
  open: BriefOpen[];
  crowd: BriefCrowd | null;
  next: BriefNext[];
  data: BriefInput[];
  notes: string[];
}
