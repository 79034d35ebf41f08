import { formatDayNumber } from '../charts/chart.ts';
import { createFigure } from '../charts/figure.ts';
import { createPointSlider } from '../charts/point-slider.ts';
import { type NewestPrice, renderPriceChart, selectNewestPrice } from '../charts/price-chart.ts';
import { getSectionBody, h, replaceChildren } from '../lib/dom.ts';
import { formatPercent, formatUsd } from '../lib/format.ts';
import { mountResource, renderNotYet } from '../lib/section.ts';
import type { Column } from '../lib/table.ts';
import { countInsideBand, type PriceDay, toPriceDays } from '../record/record-rows.ts';
import type { Page } from '../state/page.ts';
import type { ApiResponses } from '../state/responses.ts';

/** Ranges of days to choose from. */
const ALL = Number.POSITIVE_INFINITY;
const ZOOMS = [30, 90, 365, ALL];
const DAY_MS = 86_400_000;

/** Kept across redraws. `day`: days since 1970-01-01; null for the last close. */
const selection: { zoom: number; day: number | null } = { zoom: 90, day: null };

/** Redraws the current chart. */
let redraw = () => {};

export function mountPrice({ store }: Page) {
  const newest = () => toNewestPrice(store.get('price').answer);
  mountResource({
    store,
    name: 'scorecard',
    body: getSectionBody('price'),
    draw: ({ predictions, horizon }) => renderPriceSection({ days: toPriceDays(predictions), horizon, newest }),
  });
  store.watch('price', () => redraw());
}

interface ShownDays {
  days: readonly PriceDay[];
  horizon: string;
  newest: () => NewestPrice | null;
}

function toNewestPrice(answer: ApiResponses['price'] | null): NewestPrice | null {
  if (answer === null || answer.price === null || answer.observedAt === null) return null;
  return { day: Date.parse(answer.observedAt) / DAY_MS, price: answer.price };
}

function renderPriceSection(shown: ShownDays) {
  const { days } = shown;
  if (!days.some(({ close }) => close !== null)) {
    return renderNotYet('No close is known yet. The chart starts when the first outcome window opens, at 00:00 UTC.');
  }
  const place = h('div', {});
  const span = days[days.length - 1].day - days[0].day + 1;
  const zooms = ZOOMS.filter((zoom) => zoom < span || zoom === ALL);
  const buttons = zooms.map((zoom) => h('button', { type: 'button', onclick: () => look(zoom) }, formatZoom(zoom)));

  function look(zoom: number) {
    selection.zoom = zoom;
    const looked = zooms.includes(zoom) ? zoom : ALL;
    for (const [index, button] of buttons.entries()) button.setAttribute('aria-pressed', String(zooms[index] === looked));
    replaceChildren(place, createPriceFigure({ ...shown, days: selectLastDays(days, looked) }, looked));
  }
  look(selection.zoom);
  return [zooms.length < 2 ? null : h('div', { class: 'choices', role: 'group', 'aria-label': 'Days shown' }, buttons), place];
}

function formatZoom(zoom: number) {
  return zoom === ALL ? 'All' : `${zoom} days`;
}

/** The last `zoom` days before the last close, and all days after it. */
function selectLastDays(days: readonly PriceDay[], zoom: number) {
  const last = days.findLast(({ close }) => close !== null)?.day ?? 0;
  return days.filter(({ day }) => day > last - zoom);
}

function createPriceFigure({ days, horizon, newest }: ShownDays, zoom: number) {
  const reading = createDaySlider(days);
  const last = days.findLast(({ close }) => close !== null)?.day ?? 0;
  const after = () => selectNewestPrice(last, newest());
  return createFigure({
    title: `BTC/USD at 00:00 UTC with 80 % bands of the ${horizon.replace('d', '')}-day forecasts, ${zoom === ALL ? 'all days' : `last ${zoom} days`}`,
    summary: formatPriceSummary(days),
    legend: buildLegend(days, after() !== null),
    below: reading.element,
    draw: (width) => {
      const { svg, xs, mark } = renderPriceChart({ width, days, newest: after() });
      reading.attach(svg, xs, mark);
      return svg;
    },
    ready: (again) => {
      redraw = again;
    },
    columns: COLUMNS,
    rows: days.toReversed(),
  });
}

function createDaySlider(days: readonly PriceDay[]) {
  const before = selection.day === null ? -1 : days.findIndex(({ day }) => day === selection.day);
  return createPointSlider({
    label: 'Selected day',
    count: days.length,
    start: before === -1 ? days.findLastIndex(({ close }) => close !== null) : before,
    describe: (index) => formatPriceDay(days[index]),
    onRead: (index) => {
      selection.day = days[index].day;
    },
  });
}

function buildLegend(days: readonly PriceDay[], priced: boolean) {
  const over = days.some(({ fell }) => fell !== null);
  const ahead = days.some(({ band, fell }) => band !== null && fell === null);
  return [
    { label: 'close', mark: 'mark-line' },
    ...(priced ? [{ label: 'newest price', mark: 'mark-newest' }] : []),
    ...(over ? LEGEND_OF_BANDS : []),
    ...(ahead ? [{ label: 'band of an unresolved forecast', mark: 'mark-ahead' }] : []),
  ];
}

const LEGEND_OF_BANDS = [
  { label: '80 % band and median of the forecast resolved that day', mark: 'mark-band' },
  { label: 'close outside the band', mark: 'mark-outside' },
];

function formatPriceSummary(days: readonly PriceDay[]) {
  const { inside, of } = countInsideBand(days);
  const closes = days.flatMap(({ close }) => (close === null ? [] : [close]));
  const range = `Closes from ${formatUsd(Math.min(...closes))} to ${formatUsd(Math.max(...closes))}.`;
  if (of === 0) return `${range} No forecast with a band was resolved on these days.`;
  return `The outcome fell inside the 80\u00a0% band on ${inside} of ${of} days (${formatPercent(inside / of, 0)}). ${range}`;
}

function formatPriceDay({ day, close, row, band, fell }: PriceDay) {
  const price = close === null ? 'no close yet' : formatUsd(close);
  if (band === null) return `${formatDayNumber(day)}: ${price}. No band for this day.`;
  const said = `the forecast of ${row?.date} gave ${formatUsd(band.low)} to ${formatUsd(band.high)}, median ${formatUsd(band.median)}`;
  return `${formatDayNumber(day)}: ${price}; ${said}: ${fell === null ? 'not resolved yet' : BAND_RESULTS[fell]}${row?.replayed ? ' (replayed)' : ''}.`;
}

const BAND_RESULTS = { inside: 'inside the band', above: 'above the band', below: 'below the band' };

const COLUMNS: readonly Column<PriceDay>[] = [
  { heading: 'Day (00:00 UTC)', cell: ({ day }) => formatDayNumber(day) },
  { heading: 'Close', cell: ({ close }) => formatUsd(close), numeric: true },
  { heading: 'Forecast made on', cell: ({ row }) => row?.date ?? '–' },
  { heading: 'Band from', cell: ({ band }) => formatUsd(band?.low), numeric: true },
  { heading: 'Median', cell: ({ band }) => formatUsd(band?.median), numeric: true },
  { heading: 'Band to', cell: ({ band }) => formatUsd(band?.high), numeric: true },
  { heading: 'Outcome', cell: ({ fell, band }) => (fell === null ? (band === null ? '–' : 'not resolved yet') : BAND_RESULTS[fell]) },
  { heading: 'Replayed', cell: ({ row }) => (row === null ? '–' : row.replayed ? 'yes' : 'no') },
];
