import { DAY_MS } from '../../../forecast/day.ts';
import { formatPercent, formatUsd } from '../../markup.ts';
import type { Column } from '../../table.ts';
import { formatDayNumber } from '../charts/figure.ts';
import { buildFan, type PricePoint, renderPriceChart, toPricePoints } from '../charts/over-time.ts';
import { renderTimeFigure } from '../charts/time-figure.ts';
import type { PriceDay } from '../record.ts';
import type { ApiResponses } from '../responses.ts';
import type { Page } from '../state.ts';
import { mountWholeRecord, renderNotYet } from '../view.ts';

export function mountPrice({ store }: Page, body: HTMLElement) {
  mountWholeRecord({ store, body, draw: (scorecard) => renderPriceFigure(scorecard, store), also: ['price', 'range'] });
}

function toNewestPrice(answer: ApiResponses['price'] | null) {
  if (answer === null || answer.price === null || answer.timestamp === null) return null;
  return { day: Date.parse(answer.timestamp) / DAY_MS, price: answer.price };
}

function renderPriceFigure({ predictions, horizon }: ApiResponses['scorecard'], store: Page['store']) {
  const record = toPricePoints(predictions, null);
  const last = record.findLast(({ close }) => close !== null)?.day;
  if (last === undefined) return renderNotYet('No close is known yet. The chart starts when the first outcome window opens, at 00:00 UTC.');
  const range = store.get('range');
  const fan = selectNewest(last, buildFan(range.answer));
  const newest = selectNewest(last, toNewestPrice(store.get('price').answer));
  const isFanPending = range.answer === null && range.problem === null;
  return renderTimeFigure({
    title: 'BTC/USD at 00:00 UTC',
    points: toPricePoints(predictions, fan),
    span: [record[0].day, last],
    summary: (points) => formatPriceSummary(points, horizon),
    // The entry of a pending fan is there before it, so that nothing moves.
    legend: (points) => buildLegend({ points, isPriced: newest !== null, hasFan: isFanPending || fan !== null }),
    draw: ({ width, points }) => renderPriceChart({ width, points, newest, fan }),
    read: formatPricePoint,
    start: (points) => points.findLastIndex(({ close }) => close !== null),
    columns: COLUMNS,
  });
}

const MAX_DAYS_AFTER_CLOSE = 4;

/**
 * What begins after the last close, unless it is days later: history is being replayed then, or the record has stopped.
 * @param last day of the last close
 */
export function selectNewest<T extends { day: number }>(last: number, newest: T | null) {
  return newest !== null && newest.day >= last && newest.day - last <= MAX_DAYS_AFTER_CLOSE ? newest : null;
}

function buildLegend({ points, isPriced, hasFan }: { points: readonly PricePoint[]; isPriced: boolean; hasFan: boolean }) {
  const isResolved = points.some(({ fell }) => fell !== null);
  return [
    { label: 'close', mark: 'mark-line' },
    ...(isPriced ? [{ label: 'newest price', mark: 'mark-newest' }] : []),
    ...(isResolved ? [{ label: 'outside its 80 % band', mark: 'mark-outside' }] : []),
    ...(points.some(({ band }) => band !== null) ? [{ label: 'chosen forecast', mark: 'mark-band' }] : []),
    ...(hasFan ? [{ label: 'expected 50 and 80 % range', mark: 'mark-fan' }] : []),
  ];
}

function formatPriceSummary(points: readonly PricePoint[], horizon: string) {
  const { inside, of } = countInsideBand(points);
  const closes = points.flatMap(({ close }) => (close === null ? [] : [close]));
  const range = `Closes from ${formatUsd(Math.min(...closes))} to ${formatUsd(Math.max(...closes))}.`;
  if (of === 0) return `${range} No forecast with a band was resolved on these days.`;
  const days = horizon.replace('d', '');
  return `Of the ${days}-day forecasts, the outcome fell inside the 80\u00a0% band on ${inside} of ${of} days (${formatPercent(inside / of, 0)}). ${range}`;
}

export function countInsideBand(days: readonly PriceDay[]) {
  const over = days.filter(({ fell }) => fell !== null);
  return { inside: over.filter(({ fell }) => fell === 'inside').length, of: over.length };
}

/** The close at 00:00 UTC is that of the day before. */
const formatClosedDay = (day: number) => formatDayNumber(day - 1);

function formatPricePoint({ day, close, row, band, fell, ahead }: PricePoint) {
  const date = formatClosedDay(day);
  if (band === null && ahead !== null) {
    const { range50, range80, horizon } = ahead;
    const days = horizon === '1d' ? '1 day' : `${horizon.replace('d', '')} days`;
    return `${date}, ${days} ahead: expected 80\u00a0% range ${formatUsd(range80.low)} to ${formatUsd(range80.high)}, 50\u00a0% ${formatUsd(range50.low)} to ${formatUsd(range50.high)}.`;
  }
  const price = close === null ? 'no close yet' : formatUsd(close);
  if (band === null) return `${date}: ${price}. No band for this day.`;
  const said = `the forecast of ${row?.date} gave ${formatUsd(band.low)} to ${formatUsd(band.high)}, median ${formatUsd(band.median)}`;
  return `${date}: ${price}; ${said}: ${fell === null ? 'not resolved yet' : BAND_RESULTS[fell]}${row?.replayed ? ' (replayed)' : ''}.`;
}

const BAND_RESULTS = { inside: 'inside the band', above: 'above the band', below: 'below the band' };

function formatOutcome({ fell, band, ahead }: PricePoint) {
  if (fell !== null) return BAND_RESULTS[fell];
  if (band !== null) return 'not resolved yet';
  return ahead === null ? '–' : `expected, ${ahead.horizon.replace('d', '')} days`;
}

const COLUMNS: readonly Column<PricePoint>[] = [
  { heading: 'Day', cell: ({ day }) => formatClosedDay(day) },
  { heading: 'Close', cell: ({ close }) => formatUsd(close), numeric: true },
  { heading: 'Forecast made on', cell: ({ row }) => row?.date ?? '–' },
  { heading: 'Band from', cell: ({ band, ahead }) => formatUsd((band ?? ahead?.range80)?.low), numeric: true },
  { heading: 'Median', cell: ({ band }) => formatUsd(band?.median), numeric: true },
  { heading: 'Band to', cell: ({ band, ahead }) => formatUsd((band ?? ahead?.range80)?.high), numeric: true },
  { heading: 'Outcome', cell: formatOutcome },
  { heading: 'Replayed', cell: ({ row }) => (row === null ? '–' : row.replayed ? 'yes' : 'no') },
];
