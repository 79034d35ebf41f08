import { crowdChart } from '../charts/crowd-chart.js';
import { figure } from '../charts/figure.js';
import { bodyOf, h } from '../lib/dom.js';
import { decimal, percent, utcTime } from '../lib/format.js';
import { notYet, show } from '../lib/section.js';
import { bounded, sentence } from '../lib/words.js';
import { bidAsk, bookView, fact } from '../record/book.js';

/** @import { Answers } from '../state/answers.ts' */
/** @import { Week } from '../charts/crowd-chart.js' */
/** @import { Column } from '../lib/table.js' */
/** @import { Page } from './main.js' */

/** @typedef {Answers['crowd']} Crowd */

/**
 * Prediction market against oracle, on the same questions.
 * @param {Page} page
 */
export function mountCrowd({ store }) {
  show({ store, name: 'crowd', body: bodyOf('crowd'), draw });
}

/** @param {Crowd} crowd */
function draw({ totals, weeks, quotesAreOurs, venue, throughDate }) {
  const warning = quotesAreOurs
    ? h(
        'p',
        { class: 'notice' },
        h('strong', {}, 'This proves nothing. '),
        `The quotes are of the ${venue} venue, which this service makes by itself to wager without money: no crowd stands behind them.`,
      )
    : null;
  if (weeks.length === 0)
    return [warning, notYet('No weekly question has been priced yet: the first is pinned with the forecast of the day.')];
  return [warning, verdictOf(totals), factsOf(totals, throughDate), chartOf(weeks), bookOf(weeks)];
}

/** @param {Crowd['totals']} totals */
function verdictOf({ weeks, verdict }) {
  const words = weeks === 0 ? 'No week is settled yet, so nothing can be said.' : sentence(verdict);
  return h('p', { class: 'sum-up' }, words);
}

/** @param {Crowd['totals']} totals @param {string | null} throughDate */
function factsOf({ weeks, brierDifference, oracleCloser, marketCloser }, throughDate) {
  const { mean, low, high } = brierDifference ?? { mean: null, low: null, high: null };
  return h(
    'dl',
    { class: 'facts' },
    fact('Settled weeks', `${weeks}${throughDate === null ? '' : `, told up to ${throughDate}`}`),
    fact('Closer to what happened', `oracle ${oracleCloser}, crowd ${marketCloser}`),
    fact('Brier score, oracle minus crowd (below 0: oracle better)', decimal(mean, 4)),
    fact('Its 95 % interval', low === null ? '–' : `${decimal(low, 4)} to ${decimal(high, 4)}`),
  );
}

/** @param {Crowd['weeks']} newestFirst */
function chartOf(newestFirst) {
  const weeks = newestFirst.toReversed();
  const settled = weeks.filter(({ winner }) => winner !== null).length;
  return figure({
    title: 'What each gave the week’s question',
    summary: `${weeks.length} weekly questions, ${settled} of them settled. The nearer a mark is to its triangle, the better it was.`,
    legend: [
      { label: 'crowd: probability of YES', mark: 'mark-crowd' },
      { label: 'oracle: probability of YES', mark: 'mark-oracle' },
      { label: 'what came true: up YES, down NO', mark: 'mark-came-true' },
    ],
    draw: (width) => crowdChart({ width, weeks }),
    columns: COLUMNS,
    rows: newestFirst,
  });
}

/** @type {Column<Week>[]} */
const COLUMNS = [
  {
    heading: 'Week',
    cell: ({ weekId, replayed }) => [
      h('span', { class: 'one-line' }, weekId),
      replayed ? h('span', { class: 'quiet' }, ' replayed') : null,
    ],
  },
  { heading: 'Question (the venue’s words)', cell: ({ question }) => h('span', { class: 'long' }, bounded(question)) },
  { heading: 'Crowd', cell: ({ marketProbability }) => percent(marketProbability), numeric: true },
  { heading: 'Oracle', cell: ({ oracleProbability, gated }) => (gated ? 'gated' : percent(oracleProbability)), numeric: true },
  { heading: 'Bid / ask', cell: ({ book }) => bidAsk(book), numeric: true },
  { heading: 'Result', cell: ({ winner }) => winner ?? 'open' },
  { heading: 'Closer', cell: ({ closer }) => (closer === 'market' ? 'crowd' : (closer ?? '–')) },
];

/** @param {Crowd['weeks']} weeks newest first */
function bookOf([{ weekId, question, book, pinnedAt }]) {
  if (book === null) return null;
  return h(
    'details',
    { class: 'more-of' },
    h('summary', {}, `Book behind the price of ${weekId}`),
    h('p', {}, bounded(question), h('span', { class: 'quiet' }, ` As it was at ${utcTime(pinnedAt)}, when the price was pinned.`)),
    bookView(book, weekId),
  );
}
