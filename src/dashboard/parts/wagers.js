import { createFigure } from '../charts/figure.js';
import { renderProfitChart } from '../charts/profit-chart.js';
import { getSectionBody, h, renderFact } from '../lib/dom.js';
import { formatAssetAmount, formatPercent, formatSignedAssetAmount } from '../lib/format.js';
import { truncate } from '../lib/format-text.js';
import { mountResource, renderNotYet } from '../lib/section.js';
import { renderTable } from '../lib/table.js';
import { formatBidAsk, renderOrders } from '../record/order-book.js';

/** @import { ApiResponses } from '../state/responses.ts' */
/** @import { Column } from '../lib/table.js' */
/** @import { Page } from './main.js' */

/** @typedef {ApiResponses['wagers']} Wagers */
/** @typedef {Wagers['wagers'][number]} Wager */
/** @typedef {Wagers['accounts'][number]} Account */

/** Stakes, results and order books of the wagers. @param {Page} page */
export function mountWagers({ store }) {
  mountResource({ store, name: 'wagers', body: getSectionBody('wagers'), draw: renderWagers });
}

/** @param {Wagers} answer */
function renderWagers({ accounts, wagers, total, throughDate }) {
  if (total === 0)
    return renderNotYet(`No wagers up to ${throughDate} yet. Wagers are published once every forecast of their day is resolved.`);
  const placed = wagers.filter(({ state }) => state !== 'SKIPPED');
  const skipped = wagers.filter(({ state }) => state === 'SKIPPED');
  return [
    accounts.some(({ quotesAreOurs }) => quotesAreOurs) ? renderPaperNotice() : null,
    h('p', { class: 'quiet' }, `Published up to ${throughDate}: the side of a later wager would reveal a committed forecast.`),
    accounts.map(renderAccount),
    placed.length === 0 ? null : renderTable({ caption: `The newest wagers (${placed.length})`, columns: PLACED_COLUMNS, rows: placed }),
    renderSkippedWagers(skipped, wagers.length),
  ].flat();
}

function renderPaperNotice() {
  return h(
    'p',
    { class: 'notice' },
    h('strong', {}, 'Paper money. '),
    'The paper venue is this service itself: it makes the quotes, fills its own wagers and pays in play money. Winning there is no evidence of skill.',
  );
}

/** @param {Account} account */
function renderAccount({
  venue,
  asset,
  quotesAreOurs,
  wins,
  losses,
  open,
  skipped,
  stakedMicros,
  returnedMicros,
  profitMicros,
  openMicros,
  profitByDay,
}) {
  const name = `${venue}, in ${asset}${quotesAreOurs ? ' (paper money)' : ''}`;
  return h(
    'div',
    {},
    h('h3', {}, name),
    h(
      'dl',
      { class: 'facts' },
      renderFact('Profit', formatSignedAssetAmount(profitMicros, asset)),
      renderFact('Staked', formatAssetAmount(stakedMicros, asset)),
      renderFact('Returned', formatAssetAmount(returnedMicros, asset)),
      renderFact('Settled', `${wins} won, ${losses} lost`),
      open === 0 ? null : renderFact('Open', `${open}, for ${formatAssetAmount(openMicros, asset)}`),
      renderFact('Days without a wager', String(skipped)),
    ),
    profitByDay.length === 0
      ? h('p', { class: 'empty' }, 'No wager has been settled yet.')
      : createFigure({
          title: `Profit of all settled wagers, ${venue}`,
          summary: `${formatSignedAssetAmount(profitMicros, asset)} after ${wins + losses} settled wagers, by the day of the forecast.`,
          draw: (width) => renderProfitChart({ width, days: profitByDay }),
          columns: [
            { heading: 'Day', cell: ({ date }) => date },
            { heading: 'Profit up to then', cell: (day) => formatSignedAssetAmount(day.profitMicros, asset), numeric: true },
          ],
          rows: profitByDay,
        }),
  );
}

const STATE_LABELS = { DECIDED: 'about to be placed', PLACED: 'open', WIN: 'won', LOSS: 'lost', SKIPPED: 'none placed' };

/** @type {Column<Wager>} */
const DAY_COLUMN = {
  heading: 'Day',
  cell: ({ date, replayed }) => [h('span', { class: 'one-line' }, date), replayed ? h('span', { class: 'quiet' }, ' replayed') : null],
};

/** @type {Column<Wager>[]} */
const PRICE_COLUMNS = [
  { heading: 'Model', cell: ({ pModel }) => formatPercent(pModel), numeric: true },
  { heading: 'Market', cell: ({ qMarket }) => formatPercent(qMarket), numeric: true },
  { heading: 'Book: bid / ask', cell: renderBookCell },
];

/** @type {Column<Wager>[]} */
const PLACED_COLUMNS = [
  DAY_COLUMN,
  { heading: 'Question (venue wording)', cell: ({ question }) => h('span', { class: 'long' }, truncate(question ?? '–')) },
  { heading: 'Bought', cell: ({ side, contracts }) => (side === null ? '–' : `${contracts} ${side}`) },
  { heading: 'Cost', cell: ({ costMicros, asset }) => renderStackedAmount(formatAssetAmount(costMicros, asset), asset), numeric: true },
  { heading: 'State', cell: ({ state }) => h('span', { class: `status status-${state.toLowerCase()}` }, STATE_LABELS[state]) },
  {
    heading: 'Profit',
    cell: ({ profitMicros, asset }) => renderStackedAmount(formatSignedAssetAmount(profitMicros, asset), asset),
    numeric: true,
  },
  ...PRICE_COLUMNS,
  { heading: 'Blended', cell: ({ pBelieved }) => formatPercent(pBelieved), numeric: true },
];

/** @type {Column<Wager>[]} */
const SKIPPED_COLUMNS = [
  DAY_COLUMN,
  { heading: 'Why', cell: ({ skippedBecause }) => h('span', { class: 'long' }, truncate(skippedBecause)) },
  { heading: 'Question (venue wording)', cell: ({ question }) => h('span', { class: 'long' }, truncate(question ?? '–')) },
  ...PRICE_COLUMNS,
];

/** Amount and asset on two lines, to keep the column narrow. @param {string} text @param {string} asset */
function renderStackedAmount(text, asset) {
  const [figure, unit] = text.split(` ${asset}`);
  return unit === undefined ? figure : [figure, ' ', h('span', { class: 'unit quiet' }, asset)];
}

/** The best prices; the orders of venues that have any are in a disclosure. @param {Wager} wager */
function renderBookCell({ book, date }) {
  if (book === null || book.bids.length + book.asks.length === 0) return formatBidAsk(book);
  return h(
    'details',
    {},
    h('summary', {}, formatBidAsk(book), h('span', { class: 'visually-hidden' }, `: orders of ${date}`)),
    renderOrders(book),
  );
}

/** @param {readonly Wager[]} skipped @param {number} of */
function renderSkippedWagers(skipped, of) {
  if (skipped.length === 0) return null;
  const reasons = [...Map.groupBy(skipped, ({ skippedBecause }) => truncate(skippedBecause ?? 'no reason given'))];
  const text = reasons.toSorted(([, a], [, b]) => b.length - a.length).map(([reason, { length }]) => `${reason} (${length})`);
  return [
    h('p', {}, `No wager on ${skipped.length} of the newest ${of} days: ${text.slice(0, 3).join('; ')}.`),
    h(
      'details',
      { class: 'more-of' },
      h('summary', {}, `The ${skipped.length} days without a wager, with their order books`),
      renderTable({ caption: 'Days without a wager', columns: SKIPPED_COLUMNS, rows: skipped }),
    ),
  ];
}
