import { el, formatCount, formatDecimal, formatPercent, formatPercentInterval, formatUsd, type Markup } from '../markup.ts';
import { renderTable } from '../table.ts';
import type { ForestRow } from './charts/calibration.ts';
import { buildRowKey, CHECK_EVENT, createRowChecker, mountRecordCheck, renderFinding, renderReading } from './check.ts';
import { formatSignedPercent, getSectionBody, renderFacts, shortenHex } from './dom.ts';
import { createEndpointForm, getDefaultEndpoint } from './record-chain.ts';
import type { ApiResponses, ScorecardRow } from './responses.ts';
import { onReveal, resumeNavigation, type ShownRecord } from './section.ts';
import type { Page } from './state.ts';
import { draw, mountResource, renderNotYet } from './view.ts';

type OrderBookView = NonNullable<ApiResponses['crowd']['weeks'][number]['book']>;

/** `0.45 / 0.47`: best bid and ask. */
export function formatBidAsk(book: OrderBookView | null) {
  return book === null ? '–' : `${formatDecimal(book.bid, 2)}\u00a0/\u00a0${formatDecimal(book.ask, 2)}`;
}

/** By price, asks first. */
function listOrders({ bids, asks }: OrderBookView) {
  return [...asks.toReversed().map((level) => ({ ...level, side: 'sell' })), ...bids.map((level) => ({ ...level, side: 'buy' }))];
}

/** Compact list for a table cell. */
export function renderOrders(book: OrderBookView) {
  const lines = listOrders(book).map(({ side, price, size }) => el('li', {}, `${side} ${formatCount(size)} at ${formatDecimal(price, 3)}`));
  return el('ul', { class: 'orders' }, lines);
}

/** Best prices, fee and orders. @param of title of the book */
export function renderBook(book: OrderBookView, of: string) {
  const orders = listOrders(book);
  return [
    renderFacts([
      ['Best bid', formatDecimal(book.bid, 3)],
      ['Best ask', formatDecimal(book.ask, 3)],
      ['Fee per contract', formatDecimal(book.fee, 3)],
    ]),
    orders.length === 0
      ? el('p', { class: 'quiet' }, 'This venue quotes one bid and one ask, without an order book.')
      : renderTable({
          caption: `Orders of ${of}, YES contracts`,
          rows: orders,
          columns: [
            { heading: 'Orders to', cell: ({ side }) => side },
            { heading: 'Price', cell: ({ price }) => formatDecimal(price, 3), numeric: true },
            { heading: 'Contracts', cell: ({ size }) => formatCount(size), numeric: true },
          ],
        }),
  ];
}

type Scorecard = ApiResponses['scorecard'];
interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
}
/** `estimate` is kept even when it is not drawn; `proves`: whether it may count as skill. */
export type SkillRow = ForestRow & { n: number; unit: string; estimate: Estimate | null; proves: boolean };

/** Compares the record with naive forecasts and with a market. */
export function buildSkillRows(scorecard: Pick<Scorecard, 'statistics' | 'marketSkill' | 'predictions'>): SkillRow[] {
  const { calls, probabilities } = scorecard.statistics;
  const { skill, quotesAreOurs } = scorecard.marketSkill;
  const ownQuotes = quotesAreOurs ? 'own quotes: no evidence' : undefined;
  const selection = calls.selection?.overHeld ?? null;
  const baseRate = probabilities?.climatologySkill ?? null;
  const recentRate = probabilities?.climatology4ySkill ?? null;
  const certainty = probabilities?.alwaysUpSkill ?? null;
  const someDown = scorecard.predictions.some(({ outcome, direction }) => outcome !== null && direction === 'DOWN');
  const uncalled = calls.n === 0 ? 'no call resolved yet' : 'every call was UP: see the choice of days';
  const ofCalls = { n: calls.n, of: 'calls' };
  const ofOutcomes = { n: probabilities?.n ?? 0, of: 'outcomes', unit: 'Brier skill' };
  return [
    buildSkillRow({
      ...ofCalls,
      label: 'Direction, against always UP',
      unit: 'points of accuracy',
      estimate: calls.alwaysUp?.difference ?? null,
      without: someDown ? 'too few DOWN calls' : uncalled,
    }),
    // Days called UP against HOLD days: skill that calls of UP alone can show.
    buildSkillRow({
      ...ofCalls,
      label: 'Choice of days, against HOLD days',
      unit: 'points of rises',
      estimate: selection,
      without: selection === null ? 'no HOLD or no UP call resolved yet' : 'too few days',
    }),
    buildSkillRow({
      ...ofOutcomes,
      label: 'Probability, against the base rate',
      estimate: baseRate,
      without: baseRate === null ? 'base rate not known' : 'too few days',
    }),
    buildSkillRow({
      ...ofOutcomes,
      label: 'Probability, against that of four years',
      estimate: recentRate,
      without: recentRate === null ? 'base rate not known' : 'too few days',
    }),
    // A weekly strike question, not the direction.
    buildSkillRow({
      label: 'Weekly strike, against the market',
      unit: 'Brier skill',
      n: skill?.weeks ?? 0,
      of: skill?.weeks === 1 ? 'week' : 'weeks',
      estimate: skill,
      without: skill === null ? 'no week settled yet' : (ownQuotes ?? 'too few weeks'),
      noEvidence: ownQuotes,
    }),
    buildSkillRow({
      ...ofOutcomes,
      label: 'Probability, against certain UP',
      estimate: certainty,
      without: certainty === null ? 'never wrong so far' : 'too few days',
      noEvidence: 'any hedged probability beats certainty: no evidence about direction',
    }),
  ];
}

interface SkillRowOptions {
  label: string;
  unit: string;
  n: number;
  of: string;
  estimate: Estimate | null;
  /** Remark when there is no interval. */
  without: string;
  /** Why the row may not count as skill. */
  noEvidence?: string | undefined;
}

function buildSkillRow({ label, unit, n, of, estimate, without, noEvidence }: SkillRowOptions): SkillRow {
  const counted = `${n.toLocaleString('en-US')} ${of}`;
  const proves = noEvidence === undefined;
  const common = { label, note: unit, unit, n, estimate, proves, quiet: !proves };
  // An estimate without an interval would suggest more than it proves.
  if (estimate === null || estimate.low === null || estimate.high === null) {
    return { ...common, value: null, low: null, high: null, figures: counted, remark: without };
  }
  const { value, low, high } = estimate;
  const figures = `${formatSigned(value)} (${formatSigned(low)} to ${formatSigned(high)}), ${counted}`;
  const significance = low > 0 ? 'better: clear of zero' : high < 0 ? 'worse: clear of zero' : 'not measurably different from zero';
  return { ...common, value, low, high, figures, remark: noEvidence ?? significance };
}

function formatSigned(value: number) {
  return `${value < 0 ? '−' : '+'}${formatPercent(Math.abs(value))}`;
}

type Interval = Scorecard['summary']['accuracyInterval95'];
type RecordFact = [term: string, value: string, ...notes: string[]];

/** With fewer outcomes of non-overlapping windows, a percentage would mislead. */
export const MIN_OUTCOMES = 5;
export const TOO_FEW_TEXT = 'too few';

/** Key figures, each with its interval and benchmark. */
export function renderRecordFacts(scorecard: Scorecard) {
  const facts = [...buildCallFacts(scorecard), buildBrierFact(scorecard), buildBandFact(scorecard), buildStreakFact(scorecard)];
  const entries = facts.map(([term, value, ...notes]) => {
    const below = notes.map((note) => el('dd', { class: 'fact-note' }, note));
    return el('div', {}, el('dt', {}, term), el('dd', {}, value), below);
  });
  return el('dl', { class: 'facts record-facts' }, entries);
}

function buildCallFacts({ summary }: Scorecard): RecordFact[] {
  const { wins, resolved, dedupedWins, dedupedTotal } = summary;
  const enough = dedupedTotal >= MIN_OUTCOMES;
  const format = (accuracy: number | null) => (enough ? formatPercent(accuracy) : TOO_FEW_TEXT);
  const listInterval = (interval: Interval) => (enough ? [formatInterval95(interval)] : []);
  const count = `${formatCount(wins)} of ${formatCount(resolved)}`;
  const dedupedCount = `${formatCount(dedupedWins)} of ${formatCount(dedupedTotal)}`;
  return [
    ['Accuracy, all calls', format(summary.accuracy), count, ...listInterval(summary.accuracyInterval95)],
    ['Accuracy, non-overlapping windows', format(summary.dedupedAccuracy), dedupedCount, ...listInterval(summary.dedupedInterval95)],
    ['Always UP, same calls', format(summary.alwaysUpAccuracy), 'baseline without any model'],
  ];
}

function formatInterval95(interval: Interval) {
  return `95\u00a0% interval ${formatPercentInterval(interval)}`;
}

function buildBrierFact({ summary: { brier } }: Scorecard): RecordFact {
  const term = 'Brier score';
  if (brier === null) return [term, TOO_FEW_TEXT, 'no outcome or base rate yet'];
  const benchmark = `base rate ${formatDecimal(brier.climatology, 4)}, lower is better`;
  return [term, formatDecimal(brier.model, 4), benchmark, `${formatCount(brier.n)} outcomes, HOLD included`];
}

function buildBandFact({ statistics: { distribution } }: Scorecard): RecordFact {
  const term = 'Outcomes inside the 80 % band';
  const held = distribution?.coverage.find(({ nominal }) => nominal === 0.8);
  if (!distribution || held === undefined) return [term, TOO_FEW_TEXT, 'no resolved forecast with a band'];
  const count = formatCount(distribution.n);
  if (distribution.effectiveN < MIN_OUTCOMES) return [term, TOO_FEW_TEXT, `${count} overlapping outcomes`];
  return [term, formatPercent(held.observed), formatInterval95(held.interval95), `ideal 80\u00a0%, ${count} outcomes`];
}

function buildStreakFact({ summary: { streak: run }, stats }: Scorecard): RecordFact {
  const labels = { WIN: 'right in a row', LOSS: 'wrong in a row' };
  const value = run.count === 0 ? 'none' : `${formatCount(run.count)} ${labels[run.type]}`;
  return ['Streak', value, `longest winning streak: ${formatCount(stats.longestStreak)}`];
}

const FIRST_ROWS = 10;
const PAGE_SIZE = 25;

/** Shown rows; findings, number of rows and running checks survive a new answer of the service. */
function createAttestationList({ store, horizon }: Page, checker: RowChecker, redraw: () => void) {
  /** Newest row first. */
  let record: ShownRecord = { horizon: 0, known: [] };
  let most = FIRST_ROWS;
  let focusedRow: number | null = null;
  /** Rows that have been checked here, whose findings are announced. */
  const checked = new Set<string>();
  const running = new Set<string>();

  async function check(row: ScorecardRow) {
    const [shown, key] = [record, buildRowKey(row, record)];
    checked.add(key);
    running.add(key);
    redraw();
    try {
      await checker.check(row, { shown, signal: new AbortController().signal });
    } finally {
      running.delete(key);
      redraw();
    }
  }
  function renderRow(row: ScorecardRow, replayed: boolean) {
    const key = buildRowKey(row, record);
    const found = checker.foundOf(row, record);
    const below = running.has(key) ? renderReading() : found && renderFinding(found);
    const label = ['Check', el('span', { class: 'visually-hidden' }, ` ${row.date}`)];
    const button = el('button', { type: 'button', onclick: () => void check(row) }, label);
    const cell = el('td', { role: 'cell', colspan: HEADINGS.length }, el('div', { role: checked.has(key) && 'status' }, below));
    return [
      renderForecastRow({ ...row, replayed }, record.horizon, button),
      el('tr', { role: 'row', class: 'below', key: `below-${row.date}` }, cell),
    ];
  }
  onReveal((id) => {
    const index = record.known.findIndex((row) => getRowElementId(row) === id);
    if (index < 0 && id.startsWith(ROW_ID_PREFIX)) store.needWhole();
    if (index < most) return;
    most = index + 1;
    redraw();
  });
  function showMore() {
    focusedRow = most;
    most += PAGE_SIZE;
    store.needWhole();
    redraw();
  }
  /** The button for more rows moves, so the focus goes to the first new row, once that is known. */
  function focusFirstNew() {
    const row = focusedRow === null ? undefined : record.known[focusedRow];
    if (row === undefined) return;
    document.getElementById(getRowElementId(row))?.querySelector('button')?.focus();
    focusedRow = null;
  }
  horizon.onChange(() => {
    most = FIRST_ROWS;
  });
  /** @param shown its known rows may be the newest only; `total` counts all */
  return (shown: ShownRecord & { total: number }): Markup => {
    record = shown;
    if (shown.known.length === 0)
      return renderNotYet('No forecast has been made yet. The first is made at 21:35 UTC and committed three minutes later.');
    const rows = shown.known.slice(0, most);
    const marked = markReplayed(rows);
    const left = shown.total - rows.length;
    const more = left > 0 && el('button', { type: 'button', onclick: showMore }, `Show ${Math.min(left, PAGE_SIZE)} more of ${left}`);
    queueMicrotask(focusFirstNew);
    return [
      // One row per forecast; on narrow screens CSS turns rows into cards, and the ARIA roles keep the table semantics.
      el('table', { class: 'attested', role: 'table' }, [
        el('caption', {}, `${shown.horizon}-day forecasts and their attestations, newest first`),
        el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, renderHeadings())),
        el(
          'tbody',
          { role: 'rowgroup' },
          rows.flatMap((row, index) => renderRow(row, marked[index].replayed)),
        ),
      ]),
      el('p', { class: 'more' }, more, el('a', { href: `f?horizon=${shown.horizon}d` }, 'All forecasts')),
    ];
  };
}

type RowChecker = ReturnType<typeof createRowChecker>;

const HEADINGS = ['Day', 'Outcome', 'Call', 'P(up)', 'BTC, window open → end', 'Attestation', 'Check'];

const renderHeadings = () => HEADINGS.map((heading) => el('th', { role: 'columnheader', scope: 'col' }, heading));

function renderForecastRow(row: ScorecardRow, horizon: number, action: Markup) {
  const { date, sequence, replayed } = row;
  return el('tr', { role: 'row', id: getRowElementId(row), key: date }, [
    el('th', { role: 'rowheader', scope: 'row', class: 'day' }, [
      el('a', { href: `f/${date}/${horizon}d` }, el('time', { datetime: date }, date)),
      el('span', { class: 'quiet' }, ` #${sequence}${replayed ? ' replayed' : ''}`),
    ]),
    renderCell('outcome', renderStatus(row)),
    renderCell('call', renderCallCell(row)),
    renderCell('p-up', el('span', { class: 'narrow quiet', 'aria-hidden': 'true' }, 'P(up) '), formatPercent(row.pUp)),
    renderCell('prices', renderPrices(row)),
    renderCell('uid', renderUid(row)),
    renderCell('check', action),
  ]);
}

function renderCell(name: string, ...content: Markup[]) {
  return el('td', { role: 'cell', class: name }, content);
}

function renderCallCell(row: ScorecardRow) {
  if (row.missed) return el('span', { class: 'quiet' }, 'none made');
  return row.direction === null ? el('span', { class: 'quiet' }, 'hidden') : formatCall(row);
}

function renderUid({ attestationUid, date }: ScorecardRow) {
  if (attestationUid === null) return el('span', { class: 'quiet' }, 'not on chain yet');
  return el('a', { href: `api/svc/onchain-oracle/verify/${attestationUid}`, title: attestationUid }, [
    el('code', {}, shortenHex(attestationUid)),
    el('span', { class: 'visually-hidden' }, `: attestation of ${date} as JSON`),
  ]);
}

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

/** Marks replayed rows only among others: where all are replayed, the line at the top of the page says so. */
export function markReplayed<Row extends { replayed: boolean }>(rows: readonly Row[]): Row[] {
  const isMixed = rows.some(({ replayed }) => !replayed);
  return rows.map((row) => ({ ...row, replayed: row.replayed && isMixed }));
}

const STATUS_LABELS = { WIN: 'Right', LOSS: 'Wrong', HOLD: 'Hold', PENDING: 'Committed', VOID: 'Void' };

const ROW_ID_PREFIX = 'row-';

/** Fragment id of the row in the list. */
export function getRowElementId({ date }: Pick<ScorecardRow, 'date'>) {
  return `${ROW_ID_PREFIX}${date}`;
}

export function renderStatus({ status }: Pick<ScorecardRow, 'status'>) {
  return el('span', { class: `status status-${status.toLowerCase()}` }, STATUS_LABELS[status] ?? status);
}

/** @param row of a revealed call */
export function formatCall({ signal, direction }: Pick<ScorecardRow, 'signal' | 'direction'>) {
  return `${signal === 'HOLD' ? 'HOLD, leaning' : signal} ${direction}`;
}

export function renderPrices({ btcAtSignal, provisional, btcAtResolution, returnBps }: ScorecardRow) {
  if (btcAtSignal === null) return el('span', { class: 'quiet' }, 'window not open yet');
  if (provisional) return [formatUsd(btcAtSignal), el('span', { class: 'quiet' }, ' provisional: window not open yet')];
  const end = btcAtResolution === null ? el('span', { class: 'quiet' }, 'not resolved') : formatUsd(btcAtResolution);
  const change = returnBps === null ? null : el('span', { class: 'quiet' }, ` (${formatSignedPercent(returnBps / 100)})`);
  return [formatUsd(btcAtSignal), ' → ', end, change];
}

/** Counts by status of all forecasts. */
function renderTally({ totalPredictions, wins, losses, holds, voids, missed, pending }: ApiResponses['scorecard']['summary']) {
  const tallies = [
    { mark: 'tally-win', n: wins, word: 'right' },
    { mark: 'tally-loss', n: losses, word: 'wrong' },
    { mark: 'tally-hold', n: holds, word: 'HOLD' },
    { mark: 'tally-void', n: voids, word: missed > 0 ? `void, ${formatCount(missed)} of them missed days` : 'void' },
    { mark: 'tally-open', n: pending, word: 'committed' },
  ];
  return el('ul', { class: 'tally', 'aria-label': `Status of all ${formatCount(totalPredictions)} forecasts` }, [
    el('li', {}, el('strong', {}, formatCount(totalPredictions)), ' forecasts, none left out:'),
    tallies.map(({ mark, n, word }) =>
      el('li', { class: n === 0 ? 'none' : null }, [
        el('span', { class: `mark ${mark}`, 'aria-hidden': 'true' }),
        el('strong', {}, formatCount(n)),
        ` ${word}`,
      ]),
    ),
  ]);
}

/** The newest forecasts, each with its check against the chain, and the check of the whole record. */
export function mountAttestations(page: Page, place: HTMLElement) {
  const { store, session, horizon } = page;
  let endpoint: ReturnType<typeof createEndpointForm> | null = null;
  const setup = { getInfo, endpointNow: () => endpoint?.current() ?? null };
  draw(place, renderIntroduction(), el('div', { class: 'check-record' }), el('div'));
  const [everything, body] = place.querySelectorAll('div');
  mountRecordCheck(everything, setup);
  const redrawEndpoint = mountResource({
    ...{ store, name: 'info', body },
    draw: (info) => {
      endpoint ??= createEndpointForm(info, () => redrawEndpoint());
      const current = endpoint.current();
      const isDefault = 'url' in current && current.url === getDefaultEndpoint(info.chain, document.baseURI);
      return el('details', { class: 'more-of', open: !isDefault }, el('summary', {}, 'RPC endpoint'), endpoint.render());
    },
  });
  /** The reader may click before `info` is loaded. */
  async function getInfo() {
    if (store.get('info').answer === null) await store.refresh('info');
    // A later request may have taken the place of this one.
    return store.whenAnswered('info').catch(() => null);
  }
  const renderList = createAttestationList(page, createRowChecker(session, setup), () => redraw());
  const redraw = mountResource({
    ...{ store, name: 'scorecard', body: getSectionBody('record') },
    draw: ({ predictions, summary }) => {
      queueMicrotask(resumeNavigation);
      const shown = { horizon: horizon.value, known: predictions, total: summary.totalPredictions };
      return [predictions.length > 0 && renderTally(summary), renderList(shown)];
    },
  });
}

function renderIntroduction() {
  return el('p', {}, [
    'Each forecast is committed on chain before its outcome window opens. ',
    el('a', { href: '#attestations', onclick: () => document.dispatchEvent(new Event(CHECK_EVENT)) }, 'Check everything'),
    ' reads all attestations of the wallet and recomputes every commitment and figure in your browser. To do it without this page, run ',
    el('code', {}, 'npx svc audit'),
    ' or follow ',
    el('a', { href: 'methodology.md' }, 'the method'),
    '.',
  ]);
}
