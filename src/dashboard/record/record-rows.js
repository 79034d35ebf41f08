import { dayNumber } from '../charts/chart.js';

/** @import { ScorecardRow } from '../state/answers.ts' */

/** What the rows of a scorecard say of each day. */

/**
 * A day of the price chart: the close at its beginning (00:00 UTC), and the forecast whose window ends then, as far as it is told. VOID
 * forecasts have no band: they never count.
 * @typedef {{
 *   day: number,
 *   close: number | null,
 *   row: ScorecardRow | null,
 *   band: NonNullable<ScorecardRow['band80']> | null,
 *   fell: 'inside' | 'above' | 'below' | null,
 * }} PriceDay `fell`: where the outcome fell; null without a band or an outcome
 */

/**
 * @param {readonly ScorecardRow[]} rows of one horizon
 * @returns {PriceDay[]} by ascending day
 */
export function priceDays(rows) {
  /** @type {Map<number, PriceDay>} */
  const days = new Map();
  /** @param {number} day */
  const at = (day) => {
    const known = days.get(day) ?? { day, close: null, row: null, band: null, fell: null };
    days.set(day, known);
    return known;
  };
  for (const row of rows) {
    if (row.btcAtSignal !== null && !row.provisional) at(dayNumber(row.windowOpensAt)).close = row.btcAtSignal;
    const band = row.status === 'VOID' ? null : row.band80;
    if (band === null && row.btcAtResolution === null) continue;
    const end = at(dayNumber(row.resolvesAt));
    if (row.btcAtResolution !== null) end.close = row.btcAtResolution;
    if (band !== null) Object.assign(end, { row, band, fell: fellWhere(band, row.btcAtResolution) });
  }
  return [...days.values()].sort((a, b) => a.day - b.day);
}

/**
 * @param {{ low: number, high: number }} band
 * @param {number | null} price
 */
function fellWhere({ low, high }, price) {
  if (price === null) return null;
  if (price < low) return 'below';
  return price > high ? 'above' : 'inside';
}

/**
 * How many outcomes fell inside the band of their forecast.
 * @param {readonly PriceDay[]} days
 */
export function heldBy(days) {
  const over = days.filter(({ fell }) => fell !== null);
  return { inside: over.filter(({ fell }) => fell === 'inside').length, of: over.length };
}

/**
 * Days on end in one regime.
 * @typedef {{ regime: NonNullable<ScorecardRow['regime']>, riskLevel: ScorecardRow['riskLevel'], first: number, last: number, days: number }} Run
 * first and last: days since 1970-01-01; days: those of them on which something was forecast
 */

/**
 * A day on which nothing was forecast does not end a run.
 * @param {readonly ScorecardRow[]} rows of one horizon
 * @returns {Run[]} by ascending day
 */
export function regimeRuns(rows) {
  /** @type {Run[]} */
  const runs = [];
  const known = rows.flatMap((row) =>
    row.regime === null ? [] : [{ regime: row.regime, riskLevel: row.riskLevel, day: dayNumber(row.date) }],
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

/**
 * Share of scored forecasts after which the price rose: what always saying UP would have scored on them.
 * @param {readonly ScorecardRow[]} rows
 * @returns {number | null} 0 to 1; null without any
 */
export function alwaysUpShare(rows) {
  const scored = rows.filter(({ outcome }) => outcome !== null);
  if (scored.length === 0) return null;
  return scored.filter(({ outcome }) => outcome?.actualDirection === 'UP').length / scored.length;
}

/**
 * Neighbours without a gap of days, as runs of their own.
 * @template {{ day: number }} D
 * @param {readonly D[]} days ascending
 * @returns {D[][]}
 */
export function withoutGaps(days) {
  /** @type {D[][]} */
  const parts = [];
  for (const one of days) {
    const part = parts.at(-1);
    if (part !== undefined && one.day - part[part.length - 1].day <= 1) part.push(one);
    else parts.push([one]);
  }
  return parts;
}

const WORDS = {
  BULL_TREND: 'Bull trend',
  BEAR_TREND: 'Bear trend',
  BEAR_RECOVERY: 'Bear recovery',
  CHOP: 'Chop',
  CRISIS: 'Crisis',
  EUPHORIA: 'Euphoria',
  DEFAULT: 'Default',
};

/** A regime as people write it. @param {keyof typeof WORDS | null} regime */
export function regimeName(regime) {
  return regime === null ? 'Nothing forecast' : WORDS[regime];
}
