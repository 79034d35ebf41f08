/** What a card shows, as its caller may see it. */
export interface WidgetCard {
  signal: string;
  confidence: number | null;
  horizon: string;
  date: string;
  btcPrice: number;
  regime: string;
  /** Central 80 % ranges of the price at the end, around that at signal time, by days; empty for a day without stored widths. */
  ranges80: readonly WidgetRange[];
  /** Hit rate with its 95 % interval; null before the first outcome. */
  record: WidgetRecord | null;
  source: string;
  simulated: boolean;
  /** Whether this forecast, and any of the record, was replayed. */
  replayed: boolean;
  recordReplayed: boolean;
  link: string;
}

export interface WidgetRange {
  days: number;
  low: number;
  high: number;
}

export interface WidgetRecord {
  accuracy: number;
  low: number;
  high: number;
  wins: number;
  resolved: number;
  alwaysUp: number | null;
}

export function findRange({ ranges80, horizon }: WidgetCard): WidgetRange | undefined {
  return ranges80.find(({ days }) => `${days}d` === horizon);
}

export function formatConfidence({ signal, confidence }: WidgetCard): string {
  if (signal === 'GATED') return 'until its outcome';
  return confidence === null ? '' : `${(100 * confidence).toFixed(1)} % confident`;
}

export function formatDataNotes({ simulated, replayed, recordReplayed, source }: WidgetCard): string {
  return [
    simulated ? 'Simulated market.' : `Market data: ${source}.`,
    replayed ? 'Replayed forecast.' : '',
    recordReplayed ? 'Replayed days in the record.' : '',
  ]
    .filter((note) => note !== '')
    .join(' ');
}

export function formatRecord({ accuracy, low, high, wins, resolved }: WidgetRecord): string {
  return `${wins} of ${resolved} right: ${formatShare(accuracy)}, 95 % interval ${formatShare(low)} to ${formatShare(high)}`;
}

export function formatShare(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}

/** Whole dollars. */
export function formatDollars(price: number): string {
  return Math.round(price).toLocaleString('en-US');
}
