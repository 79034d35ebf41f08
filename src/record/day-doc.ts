import type { Hex } from 'viem';
import type { Day } from '../forecast/day.ts';
import type { RegimeFactors } from '../forecast/regime/factors.ts';
import type { Regime } from '../forecast/regime/regime.ts';
import type { CategoryName, CategoryScore } from '../forecast/signal.ts';
import type { FearGreedLabel } from '../market/series/fear-greed-label.ts';
import type { OutboxEntry } from '../platform/outbox.ts';
import type { Metadata } from './commitment/metadata.ts';
import type { CommittedValues } from './forecast-doc.ts';

/** Where one series stood when the forecast was made; the public half of the inputs. */
export interface InputSource {
  series: string;
  source: string;
  /** Date of the newest observation used, or null when the series was masked. */
  observedDay: string | null;
  /** When that observation became available, ISO 8601. */
  availableAt: string | null;
}

/** What a day's forecasts were made from: written once, before anything else of the day. `_id` is `YYYY-MM-DD`. */
export interface DayDoc {
  _id: string;
  day: Day;
  sequence: number;
  signalAt: Date;
  replayed: boolean;
  late: boolean;
  /** Why nothing was forecast, or null. */
  missedBecause: string | null;
  price: { cents: number; observedAt: Date; source: string } | null;
  /** Public figures at signal time. */
  context: { fearGreed: number | null; fearGreedLabel: FearGreedLabel | null; etfFlows7dUsd: number | null } | null;
  modelVersion: string | null;
  regime: Regime | null;
  regimeFactors: RegimeFactors | null;
  /** Category scores in [-1, 1] with their signals. */
  categories: Record<CategoryName, CategoryScore> | null;
  /** One-day variances of the log return (EWMA .94 and .99), for distributions of other horizons. */
  variance: { v94: number; v99: number } | null;
  inputsDigest: Hex;
  metadata: Metadata;
  /** By horizon in days. */
  forecasts: Record<string, CommittedValues>;
  /** Absent on days of which nothing is to be told. */
  outbox?: OutboxEntry<'made'>[];
}
