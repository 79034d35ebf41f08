import type { Hex } from 'viem';
import type { CentralHalfWidths } from '../forecast/central-range.ts';
import type { Day } from '../forecast/day.ts';
import type { RegimeFactors } from '../forecast/regime/factors.ts';
import type { Regime } from '../forecast/regime/regime.ts';
import type { CategoryName, CategoryScore } from '../forecast/signal.ts';
import type { FearGreedLabel } from '../market/series/fear-greed-label.ts';
import type { OutboxEntry } from '../platform/outbox.ts';
import type { Metadata } from './commitment/metadata.ts';
import type { DayDistributions, DayModel } from './distributions/day-distributions.ts';
import type { CommittedValues } from './forecast-doc.ts';

export interface InputSource {
  series: string;
  source: string;
  observedDay: string | null;
  availableAt: string | null;
}

/** Inputs of a day's forecasts, written once before all else of the day. `_id` is `YYYY-MM-DD`. */
export interface DayDoc {
  _id: string;
  day: Day;
  sequence: number;
  signalAt: Date;
  replayed: boolean;
  late: boolean;
  missedBecause: string | null;
  price: { cents: number; observedAt: Date; source: string } | null;
  context: { fearGreed: number | null; fearGreedLabel: FearGreedLabel | null; etfFlows7dUsd: number | null } | null;
  modelVersion: string | null;
  regime: Regime | null;
  regimeFactors: RegimeFactors | null;
  /** Category scores in [-1, 1] with their signals. */
  categories: Record<CategoryName, CategoryScore> | null;
  /** One-day variances of the log return (EWMA .94 and .99), which scale distributions of other horizons. */
  variance: { v94: number; v99: number } | null;
  /** Widths of the predictive distributions without their location, by horizon in days; absent from older days, and null for a missed one. */
  halfWidths?: Record<string, CentralHalfWidths> | null;
  inputsDigest: Hex;
  metadata: Metadata;
  /** Keyed by horizon in days. */
  forecasts: Record<string, CommittedValues>;
  /** Absent from days of before distributions were committed; empty for a missed day. */
  models?: DayModel[];
  distributions?: DayDistributions;
  /** Absent without events to publish. */
  outbox?: OutboxEntry<'made'>[];
}
