import { dateOf } from '../charts/chart.js';
import { figure } from '../charts/figure.js';
import { newestAfter, priceChart } from '../charts/price-chart.js';
import { createReading } from '../charts/reading.js';
import { bodyOf, h, replace } from '../lib/dom.js';
import { percent, usd } from '../lib/format.js';
import { notYet, show } from '../lib/section.js';
import { heldBy, priceDays } from '../record/record-rows.js';

/** @import { Answers } from '../state/answers.ts' */
/** @import { Newest } from '../charts/price-chart.js' */
/** @import { Column } from '../lib/table.js' */
/** @import { PriceDay } from '../record/record-rows.js' */
/** @import { Page } from './main.js' */

/** Days that the reader may look at. */
const ALL = Number.POSITIVE_INFINITY;
const ZOOMS = [30, 90, 365, ALL];
const DAY_MS = 86_400_000;

/** What the reader has chosen, for the next answer too. `day`: days since 1970-01-01; null for the last close. @type {{ zoom: number, day: number | null }} */
const chosen = { zoom: 90, day: null };

/** How to have the chart that stands there drawn again. */
let redraw = () => {};

/** @param {Page} page */
export function mountPrice({ store }) {
  const newest = () => newestOf(store.get('price').answer);
  show({
    store,
    name: 'scorecard',
    body: bodyOf('price'),
    draw: ({ predictions, horizon }) => drawn({ days: priceDays(predictions), horizon, newest }),
  });
  store.watch('price', () => redraw());
}

/**
 * What the chart shows: days of one horizon, and the price of now.
 * @typedef {{ days: readonly PriceDay[], horizon: string, newest: () => Newest | null }} Shown
 */

/** @param {Answers['price'] | null} answer @returns {Newest | null} */
function newestOf(answer) {
  if (answer === null || answer.price === null || answer.observedAt === null) return null;
  return { day: Date.parse(answer.observedAt) / DAY_MS, price: answer.price };
}

/** @param {Shown} shown */
function drawn(shown) {
  const { days } = shown;
  if (!days.some(({ close }) => close !== null)) {
    return notYet('No close is known yet: the line begins when the first outcome window opens, at 00:00 UTC.');
  }
  const place = h('div', {});
  const span = days[days.length - 1].day - days[0].day + 1;
  const zooms = ZOOMS.filter((zoom) => zoom < span || zoom === ALL);
  const buttons = zooms.map((zoom) => h('button', { type: 'button', onclick: () => look(zoom) }, zoomName(zoom)));

  /** @param {number} zoom */
  function look(zoom) {
    chosen.zoom = zoom;
    const looked = zooms.includes(zoom) ? zoom : ALL;
    for (const [index, button] of buttons.entries()) button.setAttribute('aria-pressed', String(zooms[index] === looked));
    replace(place, figureOf({ ...shown, days: lastDays(days, looked) }, looked));
  }
  look(chosen.zoom);
  return [zooms.length < 2 ? null : h('div', { class: 'choices', role: 'group', 'aria-label': 'Days shown' }, buttons), place];
}

/** @param {number} zoom */
function zoomName(zoom) {
  return zoom === ALL ? 'All' : `${zoom} days`;
}

/**
 * So many days up to the last close, and what is ahead of it.
 * @param {readonly PriceDay[]} days
 * @param {number} zoom
 */
function lastDays(days, zoom) {
  const last = days.findLast(({ close }) => close !== null)?.day ?? 0;
  return days.filter(({ day }) => day > last - zoom);
}

/**
 * @param {Shown} shown
 * @param {number} zoom
 */
function figureOf({ days, horizon, newest }, zoom) {
  const reading = readingOf(days);
  const last = days.findLast(({ close }) => close !== null)?.day ?? 0;
  const after = () => newestAfter(last, newest());
  return figure({
    title: `BTC/USD at 00:00 UTC, and the 80 % bands of ${horizon.replace('d', '')}-day forecasts, ${zoom === ALL ? 'all days' : `last ${zoom} days`}`,
    summary: summaryOf(days),
    legend: legendOf(days, after() !== null),
    below: reading.element,
    draw: (width) => {
      const { svg, xs, mark } = priceChart({ width, days, newest: after() });
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

/** @param {readonly PriceDay[]} days */
function readingOf(days) {
  const before = chosen.day === null ? -1 : days.findIndex(({ day }) => day === chosen.day);
  return createReading({
    label: 'Day read in the chart',
    count: days.length,
    start: before === -1 ? days.findLastIndex(({ close }) => close !== null) : before,
    words: (index) => wordsOf(days[index]),
    onRead: (index) => {
      chosen.day = days[index].day;
    },
  });
}

/**
 * @param {readonly PriceDay[]} days
 * @param {boolean} priced
 */
function legendOf(days, priced) {
  const over = days.some(({ fell }) => fell !== null);
  const ahead = days.some(({ band, fell }) => band !== null && fell === null);
  return [
    { label: 'close', mark: 'mark-line' },
    ...(priced ? [{ label: 'newest price', mark: 'mark-newest' }] : []),
    ...(over ? LEGEND_OF_BANDS : []),
    ...(ahead ? [{ label: 'band of a forecast that is not over', mark: 'mark-ahead' }] : []),
  ];
}

const LEGEND_OF_BANDS = [
  { label: '80 % band and median of the forecast that ended on the day', mark: 'mark-band' },
  { label: 'close outside that band', mark: 'mark-outside' },
];

/** @param {readonly PriceDay[]} days */
function summaryOf(days) {
  const { inside, of } = heldBy(days);
  const closes = days.flatMap(({ close }) => (close === null ? [] : [close]));
  const range = `Closes from ${usd(Math.min(...closes))} to ${usd(Math.max(...closes))}.`;
  if (of === 0) return `${range} No forecast with a band is over on these days.`;
  return `The outcome fell inside the 80\u00a0% band on ${inside} of ${of} days (${percent(inside / of, 0)}). ${range}`;
}

/** @param {PriceDay} day */
function wordsOf({ day, close, row, band, fell }) {
  const price = close === null ? 'not there yet' : usd(close);
  if (band === null) return `${dateOf(day)}: ${price}. No band is told of this day.`;
  const said = `the forecast of ${row?.date} said ${usd(band.low)} to ${usd(band.high)}, median ${usd(band.median)}`;
  return `${dateOf(day)}: ${price}; ${said}: ${fell === null ? 'not over yet' : RESULTS[fell]}${row?.replayed ? ' (replayed)' : ''}.`;
}

const RESULTS = { inside: 'inside the band', above: 'above the band', below: 'below the band' };

/** @type {readonly Column<PriceDay>[]} */
const COLUMNS = [
  { heading: 'Day (00:00 UTC)', cell: ({ day }) => dateOf(day) },
  { heading: 'Close', cell: ({ close }) => usd(close), numeric: true },
  { heading: 'Forecast made on', cell: ({ row }) => row?.date ?? '–' },
  { heading: 'Band from', cell: ({ band }) => usd(band?.low), numeric: true },
  { heading: 'Median', cell: ({ band }) => usd(band?.median), numeric: true },
  { heading: 'Band to', cell: ({ band }) => usd(band?.high), numeric: true },
  { heading: 'Outcome', cell: ({ fell, band }) => (fell === null ? (band === null ? '–' : 'not over yet') : RESULTS[fell]) },
  { heading: 'Replayed', cell: ({ row }) => (row === null ? '–' : row.replayed ? 'yes' : 'no') },
];
