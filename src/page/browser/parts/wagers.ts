import { EMPTY_VALUE, el, formatPercent } from '../../markup.ts';
import { type Column, renderTable } from '../../table.ts';
import { formatDayNumber, parseDayNumber } from '../charts/figure.ts';
import { renderProfitChart } from '../charts/over-time.ts';
import { renderTimeFigure } from '../charts/time-figure.ts';
import { renderFacts, truncate } from '../dom.ts';
import { formatBidAsk, markReplayed, renderOrders } from '../record.ts';
import type { ApiResponses } from '../responses.ts';
import { renderNotYet } from '../view.ts';

type Wagers = ApiResponses['wagers'];
type Wager = Wagers['wagers'][number];
type Account = Wagers['accounts'][number];

/** Stakes, results and order books of the wagers. */
export function renderWagers({ accounts, wagers: all, total, throughDate }: Wagers) {
  if (total === 0)
    return renderNotYet(`No wagers up to ${throughDate} yet. Wagers are published once every forecast of their day is resolved.`);
  const wagers = markReplayed(all);
  const placed = wagers.filter(({ state }) => state !== 'SKIPPED');
  const skipped = wagers.filter(({ state }) => state === 'SKIPPED');
  return [
    accounts.some(({ quotesAreOurs }) => quotesAreOurs) && el('p', { class: 'notice' }, el('strong', {}, 'Paper money. '), PAPER_NOTICE),
    el('p', { class: 'quiet' }, `Published up to ${throughDate}: the side of a later wager would reveal a committed forecast.`),
    accounts.map(renderAccount),
    placed.length === 0 ? null : renderTable({ caption: `The newest wagers (${placed.length})`, columns: PLACED_COLUMNS, rows: placed }),
    renderSkippedWagers(skipped, wagers.length),
  ].flat();
}

const PAPER_NOTICE =
  'The paper venue is this service itself: it makes the quotes, fills its own wagers and pays in play money. Winning there is no evidence of skill.';

function renderAccount(account: Account) {
  const { venue, asset, quotesAreOurs, wins, losses, voids, profitMicros, open, openMicros, stakedMicros, returnedMicros, skipped } =
    account;
  return el('div', {}, [
    el('h3', {}, `${venue}, in ${asset}${quotesAreOurs ? ' (paper money)' : ''}`),
    renderFacts([
      ['Profit', formatSignedAssetAmount(profitMicros, asset)],
      ['Staked', formatAssetAmount(stakedMicros, asset)],
      ['Returned', formatAssetAmount(returnedMicros, asset)],
      ['Settled', `${wins} won, ${losses} lost${voids === 0 ? '' : `, ${voids} void`}`],
      ...(open === 0 ? [] : [['Open', `${open}, for ${formatAssetAmount(openMicros, asset)}`] as const]),
      ['Days without a wager', skipped],
    ]),
    account.profitByDay.length === 0 ? el('p', { class: 'empty' }, 'No wager has been settled yet.') : createProfitFigure(account),
  ]);
}

/** Amounts are whole millionths of an asset; never used as fractions in calculations. */
const amountFormat = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** `1,204.50 PAPER-USD`. */
function formatAssetAmount(micros: number | null, asset: string) {
  return micros === null ? EMPTY_VALUE : `${amountFormat.format(micros / 1e6)} ${asset}`;
}

/** `+1,204.50 PAPER-USD`. */
function formatSignedAssetAmount(micros: number | null, asset: string) {
  if (micros === null || micros === 0) return formatAssetAmount(micros, asset);
  return `${micros > 0 ? '+' : '−'}${formatAssetAmount(Math.abs(micros), asset)}`;
}

function createProfitFigure({ venue, asset, wins, losses, voids, profitMicros, profitByDay }: Account) {
  const points = profitByDay.map((one) => ({
    day: parseDayNumber(one.date),
    profit: one.profitMicros / 1e6,
    profitMicros: one.profitMicros,
  }));
  const format = (point: (typeof points)[number]) => formatSignedAssetAmount(point.profitMicros, asset);
  return renderTimeFigure({
    title: `Profit of all settled wagers, ${venue}`,
    points,
    summary: () =>
      `${formatSignedAssetAmount(profitMicros, asset)} after ${wins + losses + voids} settled wagers, by the day of the forecast.`,
    draw: renderProfitChart,
    read: (point) => `${formatDayNumber(point.day)}: ${format(point)} up to then.`,
    columns: [
      { heading: 'Day', cell: ({ day }) => formatDayNumber(day) },
      { heading: 'Profit up to then', cell: format, numeric: true },
    ],
  });
}

const STATE_LABELS = { DECIDED: 'about to be placed', PLACED: 'open', WIN: 'won', LOSS: 'lost', VOID: 'void', SKIPPED: 'none placed' };

const DAY_COLUMN: Column<Wager> = {
  heading: 'Day',
  cell: ({ date, replayed }) => [el('span', { class: 'one-line' }, date), replayed ? el('span', { class: 'quiet' }, ' replayed') : null],
};

const PRICE_COLUMNS: Column<Wager>[] = [
  { heading: 'Model', cell: ({ pModel }) => formatPercent(pModel), numeric: true },
  { heading: 'Market', cell: ({ qMarket }) => formatPercent(qMarket), numeric: true },
  { heading: 'Book: bid / ask', cell: renderBookCell },
];

const PLACED_COLUMNS: Column<Wager>[] = [
  DAY_COLUMN,
  { heading: 'Question (venue wording)', cell: ({ question }) => el('span', { class: 'long' }, truncate(question ?? '–')) },
  {
    heading: 'Bought',
    cell: ({ side, contracts, basis }) => (side === null ? '–' : `${contracts} ${side}${basis === 'minimum' ? ' (minimum)' : ''}`),
  },
  { heading: 'Cost', cell: ({ costMicros, asset }) => renderStackedAmount(formatAssetAmount(costMicros, asset), asset), numeric: true },
  { heading: 'State', cell: ({ state }) => el('span', { class: `status status-${state.toLowerCase()}` }, STATE_LABELS[state]) },
  {
    heading: 'Profit',
    cell: ({ profitMicros, asset }) => renderStackedAmount(formatSignedAssetAmount(profitMicros, asset), asset),
    numeric: true,
  },
  ...PRICE_COLUMNS,
  { heading: 'Blended', cell: ({ pBelieved }) => formatPercent(pBelieved), numeric: true },
];

const SKIPPED_COLUMNS: Column<Wager>[] = [
  DAY_COLUMN,
  { heading: 'Why', cell: ({ skippedBecause }) => el('span', { class: 'long' }, truncate(skippedBecause)) },
  { heading: 'Question (venue wording)', cell: ({ question }) => el('span', { class: 'long' }, truncate(question ?? '–')) },
  ...PRICE_COLUMNS,
];

/** Amount and asset on two lines, to keep the column narrow. */
function renderStackedAmount(text: string, asset: string) {
  const [figure, unit] = text.split(` ${asset}`);
  return unit === undefined ? figure : [figure, ' ', el('span', { class: 'unit quiet' }, asset)];
}

/** The best prices; the orders of venues that have any are in a disclosure. */
function renderBookCell({ book, date }: Wager) {
  if (book === null || book.bids.length + book.asks.length === 0) return formatBidAsk(book);
  return el('details', {}, [
    el('summary', {}, formatBidAsk(book), el('span', { class: 'visually-hidden' }, `: orders of ${date}`)),
    renderOrders(book),
  ]);
}

function renderSkippedWagers(skipped: readonly Wager[], of: number) {
  if (skipped.length === 0) return null;
  const reasons = [...Map.groupBy(skipped, ({ skippedBecause }) => truncate(skippedBecause ?? 'no reason given'))];
  const text = reasons.toSorted(([, a], [, b]) => b.length - a.length).map(([reason, { length }]) => `${reason} (${length})`);
  return [
    el('p', {}, `No wager on ${skipped.length} of the newest ${of} days: ${text.slice(0, 3).join('; ')}.`),
    el('details', { class: 'more-of' }, [
      el('summary', {}, `The ${skipped.length} days without a wager, with their order books`),
      renderTable({ caption: 'Days without a wager', columns: SKIPPED_COLUMNS, rows: skipped }),
    ]),
  ];
}
