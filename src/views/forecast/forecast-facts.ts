/** `forming`: made, not on chain yet. `ended`: its window is over, its outcome is not on chain yet. */
export type ForecastStateName = 'forming' | 'committed' | 'ended' | 'right' | 'wrong' | 'hold' | 'void' | 'missed';

/** What every reader may see of one forecast. Prices in USD, times in ISO 8601. */
export interface ForecastFacts {
  date: string;
  horizonDays: number;
  sequence: number;
  state: ForecastStateName;
  madeAt: string;
  windowOpensAt: string;
  endsAt: string;
  /** Time of the view: later steps are not done. */
  now: string;
  committed: AttestationFacts | null;
  revealed: AttestationFacts | null;
  /** Null while hidden, and for a missed day. */
  values: { signal: string; direction: string; pUp: number } | null;
  price: { atSignal: number | null; atOpening: number | null; atEnd: number | null; returnBps: number | null };
  /** Central 80 % of the price at the end. `isCommitted`: of the forecast's distribution; else around the price at signal time, without direction. */
  band: { low: number; high: number; isCommitted: boolean } | null;
  /** Quantiles of the price at the end, ascending; empty while hidden. */
  quantiles: readonly { percent: number; price: number }[];
  /** Brier score of P(up), and of the base rate where it was known at the time; null without an outcome. */
  brier: { own: number; baseRate: number | null } | null;
  regime: string | null;
  modelVersion: string | null;
  /** Daily closes within the window, as far as they are known, ascending. */
  closes: readonly { at: string; price: number }[];
  /** Those that exist, by their dates. */
  previousDate: string | null;
  nextDate: string | null;
  /** Horizons of the same day in days, ascending. */
  horizons: readonly number[];
  isLocalChain: boolean;
  isSimulated: boolean;
  isReplayed: boolean;
}

export interface AttestationFacts {
  uid: string;
  txHash: string;
  block: number;
  at: string;
  /** Its page in an explorer; null on a local chain, and where none is known. */
  explorerUrl: string | null;
}

/** Path of a forecast's page, relative to the base. */
export function formatForecastPath(date: string, horizonDays: number): string {
  return `f/${date}/${horizonDays}d`;
}
