import { figure } from '../charts/figure.js';
import { profitChart } from '../charts/profit-chart.js';
import { bodyOf, h } from '../lib/dom.js';
import { percent } from '../lib/format.js';
import { amount, signedAmount } from '../lib/money.js';
import { notYet, show } from '../lib/section.js';
import { table } from '../lib/table.js';
import { bounded } from '../lib/words.js';
import { bidAsk, fact, ordersList } from '../record/book.js';

/** @import { Answers } from '../state/answers.ts' */
/** @import { Column } from '../lib/table.js' */
/** @import { Page } from './main.js' */

/** @typedef {Answers['wagers']} Wagers */
/** @typedef {Wagers['wagers'][number]} Wager */
/** @typedef {Wagers['accounts'][number]} Account */

/**
 * What was staked on forecasts, what came of it, and the book behind each wager.
 * @param {Page} page
 */
export function mountWagers({ store }) {
  show({ store, name: 'wagers', body: bodyOf('wagers'), draw });
}

/** @param {Wagers} answer */
function draw({ accounts, wagers, total, throughDate }) {
  if (total === 0) return notYet(`Nothing to tell up to ${throughDate}: wagers are told once every forecast of their day is over.`);
  const placed = wagers.filter(({ state }) => state !== 'SKIPPED');
  const skipped = wagers.filter(({ state }) => state === 'SKIPPED');
  return [
    accounts.some(({ quotesAreOurs }) => quotesAreOurs) ? paperNotice() : null,
    h('p', { class: 'quiet' }, `Told up to ${throughDate}: the side of a later wager would give an open forecast away.`),
    accounts.map(accountView),
    placed.length === 0 ? null : table({ caption: `The newest wagers (${placed.length})`, columns: PLACED, rows: placed }),
    skippedView(skipped, wagers.length),
  ].flat();
}

function paperNotice() {
  return h(
    'p',
    { class: 'notice' },
    h('strong', {}, 'Paper money. '),
    'The paper venue is this service itself: it makes the quotes, fills its own wagers and pays in money that does not exist. Winning there proves nothing.',
  );
}

/** @param {Account} account */
function accountView({
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
      fact('Profit', signedAmount(profitMicros, asset)),
      fact('Staked', amount(stakedMicros, asset)),
      fact('Returned', amount(returnedMicros, asset)),
      fact('Settled', `${wins} won, ${losses} lost`),
      open === 0 ? null : fact('Open', `${open}, for ${amount(openMicros, asset)}`),
      fact('Days without a wager, in all', String(skipped)),
    ),
    profitByDay.length === 0
      ? h('p', { class: 'empty' }, 'No wager has been settled, so there is no profit or loss to draw.')
      : figure({
          title: `Profit of all settled wagers, ${venue}`,
          summary: `${signedAmount(profitMicros, asset)} after ${wins + losses} settled wagers, by the day of the forecast.`,
          draw: (width) => profitChart({ width, days: profitByDay }),
          columns: [
            { heading: 'Day', cell: ({ date }) => date },
            { heading: 'Profit up to then', cell: (day) => signedAmount(day.profitMicros, asset), numeric: true },
          ],
          rows: profitByDay,
        }),
  );
}

const STATE_WORDS = { DECIDED: 'about to be placed', PLACED: 'open', WIN: 'won', LOSS: 'lost', SKIPPED: 'none placed' };

/** @type {Column<Wager>} */
const DAY = {
  heading: 'Day',
  cell: ({ date, replayed }) => [h('span', { class: 'one-line' }, date), replayed ? h('span', { class: 'quiet' }, ' replayed') : null],
};

/** @type {Column<Wager>[]} */
const SIGHT = [
  { heading: 'Model', cell: ({ pModel }) => percent(pModel), numeric: true },
  { heading: 'Market', cell: ({ qMarket }) => percent(qMarket), numeric: true },
  { heading: 'Book: bid / ask', cell: bookCell },
];

/** @type {Column<Wager>[]} */
const PLACED = [
  DAY,
  { heading: 'Question (the venue’s words)', cell: ({ question }) => h('span', { class: 'long' }, bounded(question ?? '–')) },
  { heading: 'Bought', cell: ({ side, contracts }) => (side === null ? '–' : `${contracts} ${side}`) },
  { heading: 'Cost', cell: ({ costMicros, asset }) => stacked(amount(costMicros, asset), asset), numeric: true },
  { heading: 'State', cell: ({ state }) => h('span', { class: `status status-${state.toLowerCase()}` }, STATE_WORDS[state]) },
  { heading: 'Profit', cell: ({ profitMicros, asset }) => stacked(signedAmount(profitMicros, asset), asset), numeric: true },
  ...SIGHT,
  { heading: 'Believed', cell: ({ pBelieved }) => percent(pBelieved), numeric: true },
];

/** @type {Column<Wager>[]} */
const SKIPPED = [
  DAY,
  { heading: 'Why', cell: ({ skippedBecause }) => h('span', { class: 'long' }, bounded(skippedBecause)) },
  { heading: 'Question (the venue’s words)', cell: ({ question }) => h('span', { class: 'long' }, bounded(question ?? '–')) },
  ...SIGHT,
];

/** An amount above what it is of, so that a column is no wider than its figures. @param {string} words @param {string} asset */
function stacked(words, asset) {
  const [figure, unit] = words.split(` ${asset}`);
  return unit === undefined ? figure : [figure, ' ', h('span', { class: 'unit quiet' }, asset)];
}

/** The best prices; where the venue has orders, these on demand. @param {Wager} wager */
function bookCell({ book, date }) {
  if (book === null || book.bids.length + book.asks.length === 0) return bidAsk(book);
  return h('details', {}, h('summary', {}, bidAsk(book), h('span', { class: 'visually-hidden' }, `: orders of ${date}`)), ordersList(book));
}

/** @param {readonly Wager[]} skipped @param {number} of days that are told of */
function skippedView(skipped, of) {
  if (skipped.length === 0) return null;
  const reasons = [...Map.groupBy(skipped, ({ skippedBecause }) => bounded(skippedBecause ?? 'for no reason that is told'))];
  const words = reasons.toSorted(([, a], [, b]) => b.length - a.length).map(([reason, { length }]) => `${reason} (${length})`);
  return [
    h('p', {}, `Nothing was staked on ${skipped.length} of the newest ${of} days: ${words.slice(0, 3).join('; ')}.`),
    h(
      'details',
      { class: 'more-of' },
      h('summary', {}, `The ${skipped.length} of these days without a wager, with the book that was seen`),
      table({ caption: 'Days on which nothing was staked', columns: SKIPPED, rows: skipped }),
    ),
  ];
}
