import { parseDayNumber } from '../charts/chart.ts';
import type { ScorecardRow } from '../state/responses.ts';

/** Derives chart data from scorecard rows. */

/** A day of the price chart: the close at 00:00 UTC and the forecast whose window ends then. VOID forecasts have no band. */
export interface PriceDay {
  day: number;
  close: number | null;
  row: ScorecardRow | null;
  band: NonNullable<ScorecardRow['band80']> | null;
  /** Position of the outcome; null without band or outcome. */
  fell: 'inside' | 'above' | 'below' | null;
}

/**
 * @param rows of one horizon
 * @returns ascending
 */
export function toPriceDays(rows: readonly ScorecardRow[]): PriceDay[] {
  const days = new Map<number, PriceDay>();
  const at = (day: number) => {
    const known = days.get(day) ?? { day, close: null, row: null, band: null, fell: null };
    days.set(day, known);
    return known;
  };
  for (const row of rows) {
    if (row.btcAtSignal !== null && !row.provisional) at(parseDayNumber(row.windowOpensAt)).close = row.btcAtSignal;
    const band = row.status === 'VOID' ? null : row.band80;
    if (band === null && row.btcAtResolution === null) continue;
    const end = at(parseDayNumber(row.resolvesAt));
    if (row.btcAtResolution !== null) end.close = row.btcAtResolution;
    if (band !== null) Object.assign(end, { row, band, fell: locateInBand(band, row.btcAtResolution) });
  }
  return [...days.values()].sort((a, b) => a.day - b.day);
}

function locateInBand({ low, high }: { low: number; high: number }, price: number | null) {
  if (price === null) return null;
  if (price < low) return 'below';
  return price > high ? 'above' : 'inside';
}

/** Marks replayed rows only among others: where all are replayed, the line at the top of the page says so. */
export function markReplayed<Row extends { replayed: boolean }>(rows: readonly Row[]): Row[] {
  const isMixed = rows.some(({ replayed }) => !replayed);
  return rows.map((row) => ({ ...row, replayed: row.replayed && isMixed }));
}

export function countInsideBand(days: readonly PriceDay[]) {
  const over = days.filter(({ fell }) => fell !== null);
  return { inside: over.filter(({ fell }) => fell === 'inside').length, of: over.length };
}

/** Consecutive days of one regime. `first`, `last`: days since 1970-01-01. */
export interface RegimeRun {
  regime: NonNullable<ScorecardRow['regime']>;
  riskLevel: ScorecardRow['riskLevel'];
  first: number;
  last: number;
  /** Number of forecasts. */
  days: number;
}

/**
 * Days without a forecast do not end a run.
 * @param rows of one horizon
 * @returns ascending
 */
export function toRegimeRuns(rows: readonly ScorecardRow[]): RegimeRun[] {
  const runs: RegimeRun[] = [];
  const known = rows.flatMap((row) =>
    row.regime === null ? [] : [{ regime: row.regime, riskLevel: row.riskLevel, day: parseDayNumber(row.date) }],
  );
  for (const { regime, riskLevel, day } of known.sort((a, b) => a.day - b.day)) {
    const last = runs.at(-1);
    if (last?.regime === regime) {
      last.last = day;
      last.days += 1;
    } else runs.push({ regime, riskLevel, first: day, last: day, days: 1 });
  }
  return runs;
}

/** Accuracy of always predicting UP on the scored forecasts. @returns 0 to 1; null without scored forecasts */
export function computeAlwaysUpShare(rows: readonly ScorecardRow[]): number | null {
  const scored = rows.filter(({ outcome }) => outcome !== null);
  if (scored.length === 0) return null;
  return scored.filter(({ outcome }) => outcome?.actualDirection === 'UP').length / scored.length;
}

/** Splits at missing days. @param days ascending */
export function splitAtGaps<D extends { day: number }>(days: readonly D[]): D[][] {
  const stretches: D[][] = [];
  for (const one of days) {
    const stretch = stretches.at(-1);
    if (stretch !== undefined && one.day - stretch[stretch.length - 1].day <= 1) stretch.push(one);
    else stretches.push([one]);
  }
  return stretches;
}
