import { el, formatDecimal, formatPercent, toSentence } from '../../markup.ts';
import type { Column } from '../../table.ts';
import { parseDayNumber } from '../charts/figure.ts';
import { type CrowdWeek, renderCrowdChart } from '../charts/over-time.ts';
import { renderTimeFigure } from '../charts/time-figure.ts';
import { createTime, renderFacts, truncate } from '../dom.ts';
import { formatBidAsk, markReplayed, renderBook } from '../record.ts';
import type { ApiResponses } from '../responses.ts';
import { renderNotYet } from '../view.ts';

type Crowd = ApiResponses['crowd'];

/** Prediction market against model, on the same questions. */
export function renderCrowd({ totals, weeks, quotesAreOurs, venue, throughDate }: Crowd) {
  const venueText = `The quotes come from the ${venue} venue, which this service simulates to wager without money; no crowd is behind them.`;
  const warning = quotesAreOurs && el('p', { class: 'notice' }, el('strong', {}, 'Not evidence. '), venueText);
  if (weeks.length === 0)
    return [warning, renderNotYet('No weekly question has been priced yet. The first is pinned with the daily forecast.')];
  const verdict = totals.weeks === 0 ? 'No week is settled yet, so there is no comparison.' : toSentence(totals.verdict);
  return [
    warning,
    el('p', { class: 'sum-up' }, verdict),
    renderCrowdFacts(totals, throughDate),
    createCrowdFigure(weeks),
    renderWeekBook(weeks),
  ];
}

function renderCrowdFacts({ weeks, brierDifference, oracleCloser, marketCloser }: Crowd['totals'], throughDate: string | null) {
  const { mean, low, high } = brierDifference ?? { mean: null, low: null, high: null };
  return renderFacts([
    ['Settled weeks', `${weeks}${throughDate === null ? '' : `, up to ${throughDate}`}`],
    ['Closer to the outcome', `oracle ${oracleCloser}, crowd ${marketCloser}`],
    ['Brier score, oracle minus crowd (below 0: oracle better)', formatDecimal(mean, 4)],
    ['95 % interval', low === null ? '–' : `${formatDecimal(low, 4)} to ${formatDecimal(high, 4)}`],
  ]);
}

function createCrowdFigure(newestFirst: Crowd['weeks']) {
  const weeks = markReplayed(newestFirst)
    .toReversed()
    .map((week) => ({ ...week, day: parseDayNumber(week.date) }));
  return renderTimeFigure({
    title: 'Probabilities of the weekly question',
    points: weeks,
    summary: formatCrowdSummary,
    legend: () => [
      { label: 'crowd: probability of YES', mark: 'mark-crowd' },
      { label: 'oracle: probability of YES', mark: 'mark-oracle' },
      { label: 'result: up YES, down NO', mark: 'mark-came-true' },
    ],
    draw: renderCrowdChart,
    read: formatWeek,
    columns: COLUMNS,
  });
}

function formatCrowdSummary(weeks: readonly CrowdWeek[]) {
  const settled = weeks.filter(({ status }) => status === 'SETTLED').length;
  return `${weeks.length} weekly ${weeks.length === 1 ? 'question' : 'questions'}, ${settled} of them settled. The closer a mark is to its triangle, the better.`;
}

function formatResult({ winner, status }: CrowdWeek) {
  return winner ?? status.toLowerCase();
}

function formatWeek(week: CrowdWeek) {
  const { weekId, marketProbability, oracleProbability, gated } = week;
  const oracle = gated ? 'hidden' : formatPercent(oracleProbability);
  return `${weekId}: crowd ${formatPercent(marketProbability)}, oracle ${oracle}; result ${formatResult(week)}.`;
}

const COLUMNS: Column<CrowdWeek>[] = [
  {
    heading: 'Week',
    cell: ({ weekId, replayed }) => [
      el('span', { class: 'one-line' }, weekId),
      replayed ? el('span', { class: 'quiet' }, ' replayed') : null,
    ],
  },
  { heading: 'Question (venue wording)', cell: ({ question }) => el('span', { class: 'long' }, truncate(question)) },
  { heading: 'Crowd', cell: ({ marketProbability }) => formatPercent(marketProbability), numeric: true },
  { heading: 'Oracle', cell: ({ oracleProbability, gated }) => (gated ? 'hidden' : formatPercent(oracleProbability)), numeric: true },
  { heading: 'Bid / ask', cell: ({ book }) => formatBidAsk(book), numeric: true },
  { heading: 'Result', cell: formatResult },
  { heading: 'Closer', cell: ({ closer }) => (closer === 'market' ? 'crowd' : (closer ?? '–')) },
];

/** @param weeks newest first */
function renderWeekBook([{ weekId, question, book, pinnedAt }]: Crowd['weeks']) {
  if (book === null) return null;
  return el('details', { class: 'more-of' }, [
    el('summary', {}, `Order book of ${weekId}`),
    el('p', {}, truncate(question), el('span', { class: 'quiet' }, ' Snapshot of ', createTime(pinnedAt), ', when the price was pinned.')),
    renderBook(book, weekId),
  ]);
}
