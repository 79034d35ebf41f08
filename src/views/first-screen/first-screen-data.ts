/** What the first screen is drawn from, on the server and in the browser. */
export interface FirstScreenData {
  /** Days of the chosen horizon. */
  horizonDays: number;
  /** Null while unknown; `waiting` has the reason. */
  call: CallData | null;
  waiting: 'starting' | 'none' | 'loading';
  range: RangeData | null;
  /** The current price; null without one. */
  price: PriceData | null;
  record: RecordData | null;
  /** Day without a forecast, newer than the call; null where none was missed. */
  missedDate: string | null;
  access: AccessData;
}

/** The newest forecast, as far as its reader may see it. */
export interface CallData {
  signal: 'BUY' | 'SELL' | 'HOLD' | 'GATED';
  direction: 'UP' | 'DOWN' | null;
  /** Probability of the direction. */
  confidence: number | null;
  predictionId: string;
  status: 'PENDING' | 'WIN' | 'LOSS' | 'HOLD' | 'VOID';
  resolvesAt: string;
  attestationUid: string | null;
}

/** Ranges around the price at signal time, without direction. */
export interface RangeData {
  date: string;
  btcPrice: number;
  /** Signal time. */
  timestamp: string;
  horizons?: readonly HorizonRangeData[] | undefined;
}

export interface HorizonRangeData {
  horizon: string;
  ranges: readonly { share: number; low: number; high: number }[];
  resolvesAt: string;
  attestedAt: string | null;
}

export interface PriceData {
  price: number | null;
  observedAt: string | null;
}

type Interval = { low: number; high: number };

/** Figures of a horizon's record. Shares 0 to 1. */
export interface RecordData {
  resolved: number;
  holds: number;
  wins: number;
  accuracy: number | null;
  accuracyInterval95: Interval | null;
  alwaysUpAccuracy: number | null;
  /** Scored calls whose windows do not overlap. */
  dedupedTotal: number;
  /** Accuracy minus that of always UP, with its 95 % interval; null without calls. */
  difference: { value: number; low: number | null; high: number | null } | null;
}

/** What the reader of the page has access to. */
export interface AccessData {
  /** Null when anonymous. */
  tier: string | null;
  /** The session has expired. */
  hasEnded: boolean;
  /** Requirement of the Basic tier, for a wallet that no longer meets it. */
  needed: string;
  /** Usual share of rises over the horizon, with the days that it was measured on; null while unknown. */
  usual: UsualShare | null;
  /** The central 80 % of the forecast itself, for Premium. */
  own: OwnRange | null;
  /** Sentence on SELL calls, for a SELL. */
  sellNote: string | null;
  /** Why the call could not be loaded. */
  problem: string | null;
}

export interface OwnRange {
  low: number;
  median: number;
  high: number;
}

export interface UsualShare {
  up: number;
  days: number;
}

/** Of a reader without a session. */
export const PUBLIC_ACCESS: AccessData = {
  tier: null,
  hasEnded: false,
  needed: '',
  usual: null,
  own: null,
  sellNote: null,
  problem: null,
};

/** What the server has drawn the page from: the answers of a caller without access, by horizon where they have one. */
export interface InitialData {
  signals: Readonly<Record<string, CallData>>;
  range: RangeData | null;
  price: PriceData | null;
  records: Readonly<Record<string, RecordData>>;
  missedDate: string | null;
}

export function toRecordData(
  summary: Omit<RecordData, 'difference'>,
  calls: { alwaysUp: { difference: NonNullable<RecordData['difference']> } | null },
): RecordData {
  const { resolved, holds, wins, accuracy, accuracyInterval95, alwaysUpAccuracy, dedupedTotal } = summary;
  const difference = calls.alwaysUp?.difference ?? null;
  return { resolved, holds, wins, accuracy, accuracyInterval95, alwaysUpAccuracy, dedupedTotal, difference };
}
