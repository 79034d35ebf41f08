import type { MoveForecast } from '../forecast/move.ts';
import { EMPTY_VALUE, el, formatDate, formatDayAndMonth, formatRegime, formatUsd, type Markup, type MarkupElement } from './markup.ts';

/** `7-day forecast of 22 Nov 2026`. */
export function formatForecastTitle({ date, horizonDays }: Pick<ForecastFacts, 'date' | 'horizonDays'>): string {
  return `${horizonDays}-day forecast of ${formatDate(date)}`;
}

/** The page of one forecast. The script enables the buttons `#check` and `#share`. */
export function renderForecast(facts: ForecastFacts): Markup {
  const { date, horizonDays, sequence, state, isSimulated, isReplayed } = facts;
  const origin = isSimulated ? 'The market data are simulated.' : 'A past day, replayed by the demo.';
  const data = { 'data-date': date, 'data-horizon': horizonDays, 'data-sequence': sequence };
  return el('main', { id: 'main', class: 'forecast', tabindex: -1, ...data }, [
    el('h1', {}, formatForecastTitle(facts)),
    el('p', { class: 'forecast-state' }, [
      el('strong', { class: `status ${getStateMark(state)}` }, STATE_LABELS[state]),
      ` ${describeForecast(facts)}`,
    ]),
    (isSimulated || isReplayed) && el('p', { class: 'notice' }, origin),
    renderActions(facts),
    renderSection('timeline', 'Timeline', renderSteps(listSteps(facts))),
    // Values as far as they are public, and the chart with its figures as a table.
    renderSection('values', 'Forecast and outcome', el('div', { class: 'forecast-values' }, [renderFigure(facts), renderFacts(facts)])),
    renderSection('attestations', 'On chain', renderAttestations(facts)),
    renderNeighbours(date, facts),
  ]);
}

function renderActions({ date, horizonDays, sequence, committed }: ForecastFacts): Markup {
  const json = `api/svc/scorecard?horizon=${horizonDays}&limit=1&before=${sequence + 1}`;
  return el('div', { class: 'forecast-actions' }, [
    el('div', { class: 'forecast-buttons' }, [
      committed !== null && el('button', { id: 'check', type: 'button', class: 'primary', disabled: true }, 'Check this forecast'),
      el('button', { id: 'share', type: 'button', disabled: true }, 'Share'),
      el('a', { href: json }, 'JSON', el('span', { class: 'visually-hidden' }, ` of ${date}`)),
      el('span', { id: 'share-status', role: 'status' }),
    ]),
    el('noscript', {}, el('p', { class: 'quiet' }, 'Checking and sharing need JavaScript.')),
    el('div', { id: 'check-result', role: 'status' }),
    el('div', { id: 'check-endpoint' }),
  ]);
}

function renderSection(id: string, title: string, content: Markup): Markup {
  return el('section', { id, 'aria-labelledby': `${id}-title` }, el('h2', { id: `${id}-title` }, title), content);
}

function renderAttestations({ committed, revealed, isLocalChain }: ForecastFacts): Markup {
  return [
    el('dl', { class: 'attestations-of' }, [
      renderAttestation('Prediction', committed, 'Not on chain yet.'),
      renderAttestation('Resolution', revealed, 'After the outcome.'),
    ]),
    isLocalChain && el('p', { class: 'quiet' }, 'On the local chain of this demo, which no explorer shows.'),
  ];
}

function renderAttestation(name: string, made: AttestationFacts | null, otherwise: string): Markup {
  if (made === null) return el('div', {}, el('dt', {}, name), el('dd', { class: 'quiet' }, otherwise));
  const { uid, txHash, block, explorerUrl } = made;
  return el('div', {}, [
    el('dt', {}, name),
    el('dd', {}, [
      el('code', {}, explorerUrl === null ? uid : el('a', { href: explorerUrl }, uid)),
      el('span', { class: 'quiet' }, ['Block ', block, ', transaction ', el('code', {}, txHash)]),
      el('a', { href: `api/svc/onchain-oracle/verify/${uid}` }, `Checked by the service, JSON`),
    ]),
  ]);
}

function renderNeighbours(date: string, { horizonDays, previousDate, nextDate, horizons }: ForecastFacts): Markup {
  const toDay = (other: string | null, rel: string, format: (day: string) => string) =>
    other !== null && el('a', { href: formatForecastPath(other, horizonDays), rel }, format(formatDayAndMonth(other)));
  const days = horizons.map((days) =>
    el('a', { href: formatForecastPath(date, days), 'aria-current': days === horizonDays && 'page' }, `${days}-day`),
  );
  return el('nav', { class: 'neighbours', 'aria-label': 'Other forecasts' }, [
    toDay(previousDate, 'prev', (day) => `← ${day}`),
    days,
    toDay(nextDate, 'next', (day) => `${day} →`),
    el('a', { href: 'f' }, 'All forecasts'),
  ]);
}

/** `forming`: made, not on chain yet. `ended`: its window is over, its outcome is not on chain yet. */
export type ForecastStateName = 'forming' | 'committed' | 'ended' | 'right' | 'wrong' | 'hold' | 'void' | 'missed';

/** What every reader may see of one forecast. Prices in USD, times in ISO 8601. */
export interface ForecastFacts {
  date: string;
  horizonDays: number;
  sequence: number;
  state: ForecastStateName;
  madeAt: string;
  windowOpensAt: string;
  endsAt: string;
  /** Time of the view: later steps are not done. */
  now: string;
  committed: AttestationFacts | null;
  revealed: AttestationFacts | null;
  /** Null while hidden, and for a missed day. */
  values: { signal: string; direction: string; pUp: number } | null;
  price: { atSignal: number | null; atOpening: number | null; atEnd: number | null; returnBps: number | null };
  /** Central 80 % of the price at the end. `isCommitted`: of the forecast's distribution; else around the price at signal time, without direction. */
  band: { low: number; high: number; isCommitted: boolean } | null;
  /** Public at once; null without a width. */
  move: MoveForecast | null;
  /** Quantiles of the price at the end, ascending; empty while hidden. */
  quantiles: readonly { percent: number; price: number }[];
  /** Brier score of P(up), and of the base rate where it was known at the time; null without an outcome. */
  brier: { own: number; baseRate: number | null } | null;
  regime: string | null;
  modelVersion: string | null;
  /** Daily closes within the window, as far as they are known, ascending. */
  closes: readonly { at: string; price: number }[];
  /** Those that exist, by their dates. */
  previousDate: string | null;
  nextDate: string | null;
  /** Horizons of the same day in days, ascending. */
  horizons: readonly number[];
  isLocalChain: boolean;
  isSimulated: boolean;
  isReplayed: boolean;
}

export interface AttestationFacts {
  uid: string;
  txHash: string;
  block: number;
  at: string;
  /** Its page in an explorer; null on a local chain, and where none is known. */
  explorerUrl: string | null;
}

/** Path of a forecast's page, relative to the base. */
export function formatForecastPath(date: string, horizonDays: number): string {
  return `f/${date}/${horizonDays}d`;
}

export const STATE_LABELS: Record<ForecastStateName, string> = {
  forming: 'Not on chain yet',
  committed: 'Committed',
  ended: 'Awaiting its outcome',
  right: 'Right',
  wrong: 'Wrong',
  hold: 'Hold',
  void: 'Void',
  missed: 'Missed',
};

const DECIDED_MARKS: Partial<Record<ForecastStateName, string>> = {
  right: 'win',
  wrong: 'loss',
  hold: 'hold',
  void: 'void',
  missed: 'void',
};

/** Class of the mark beside a state, of the status of the interface. */
export function getStateMark(state: ForecastStateName): string {
  return `status-${DECIDED_MARKS[state] ?? 'pending'}`;
}

/** The state in one or two sentences, without a value that is hidden. */
export function describeForecast(facts: ForecastFacts): string {
  const { state, values, price, endsAt } = facts;
  const change = price.returnBps === null ? '' : `BTC moved ${formatReturn(price.returnBps)}`;
  const call = values === null ? '' : `It said ${values.direction} (P(up) ${formatShare(values.pUp)})`;
  switch (state) {
    case 'forming':
      return 'It is committed before its window opens.';
    case 'committed':
      return `On chain before its window opens. ${values === null ? 'Hidden until its outcome' : 'Outcome'}: ${formatTime(endsAt)}.`;
    case 'ended':
      return 'Its window is over. The outcome is not on chain yet.';
    case 'right':
    case 'wrong':
      return `${call}; ${change}.`;
    case 'hold':
      return `It abstained (HOLD), leaning ${values?.direction}; ${change}. Not scored.`;
    case 'void':
      return 'Committed after its window had opened. It counts for nothing.';
    case 'missed':
      return 'Nothing was forecast before the window opened. It counts for nothing.';
  }
}

/** `0.170, base rate 0.248`; the lower, the better. */
function formatBrier(brier: ForecastFacts['brier']): string {
  if (brier === null) return '–';
  const baseRate = brier.baseRate === null ? '' : `, base rate ${brier.baseRate.toFixed(3)}`;
  return `${brier.own.toFixed(3)}${baseRate}`;
}

/** `22 Nov 2026, 21:35 UTC` for an ISO 8601 time. */
export function formatTime(time: string): string {
  return `${formatDate(time)}, ${time.slice(11, 16)}\u00a0UTC`;
}

/** `58.8 %` for 0.588. */
export function formatShare(share: number | null): string {
  return share === null ? EMPTY_VALUE : `${(100 * share).toFixed(1)}\u00a0%`;
}

/** `+1.11 %` for 111 basis points. */
export function formatReturn(bps: number | null): string {
  if (bps === null) return EMPTY_VALUE;
  return `${bps > 0 ? '+' : bps < 0 ? '−' : ''}${(Math.abs(bps) / 100).toFixed(2)}\u00a0%`;
}

interface Step {
  label: string;
  /** When it happened or is due; null: never, or not known. */
  at: string | null;
  isDone: boolean;
  link?: string | null;
}

/** What of a forecast its steps show. */
interface StepFacts extends Pick<ForecastFacts, 'state' | 'madeAt' | 'windowOpensAt' | 'endsAt' | 'now'> {
  committed: Pick<AttestationFacts, 'at' | 'explorerUrl'> | null;
  revealed: StepFacts['committed'];
}

/** Steps in the order of a forecast's life. A missed day was never made, a void one is never revealed. */
export function listSteps({ state, madeAt, committed, windowOpensAt, endsAt, revealed, now }: StepFacts): Step[] {
  const steps: Step[] = [
    { label: 'Made', at: state === 'missed' ? null : madeAt, isDone: state !== 'missed' },
    { label: 'Committed', at: committed?.at ?? null, isDone: committed !== null, link: committed?.explorerUrl },
    { label: 'Window opens', at: windowOpensAt, isDone: windowOpensAt <= now },
    { label: 'Window ends', at: endsAt, isDone: endsAt <= now },
    { label: 'Revealed', at: revealed?.at ?? null, isDone: revealed !== null, link: revealed?.explorerUrl },
  ];
  // A late commitment comes after the opening.
  return steps.toSorted((a, b) => (a.at === null || b.at === null ? 0 : a.at.localeCompare(b.at)));
}

export function renderSteps(steps: readonly Step[]): MarkupElement {
  const items = steps.map(({ label, at, isDone, link }) => {
    const time = at === null ? EMPTY_VALUE : el('time', { datetime: at }, formatTime(at));
    return el('li', { class: isDone ? 'is-done' : 'is-due' }, [
      el('span', { class: 'step-mark', 'aria-hidden': 'true' }, isDone ? '✓' : '○'),
      el('strong', {}, label),
      el('span', { class: 'visually-hidden' }, isDone ? ', done: ' : ', to come: '),
      el('span', { class: 'quiet' }, link == null ? time : el('a', { href: link }, time)),
    ]);
  });
  return el('ol', { class: 'steps' }, items);
}

function renderFacts(facts: ForecastFacts): Markup {
  const { values, price, band, brier, regime, modelVersion, state, horizonDays } = facts;
  // The script shows them to readers with access.
  const hide = (name: string, ...more: Markup[]) => (state === 'missed' ? 'none' : el('span', { 'data-hidden': name }, 'hidden', more));
  const unlock = [' ', el('a', { href: `./?horizon=${horizonDays}#unlock` }, 'Unlock')];
  const note = band?.isCommitted ? ' quantiles of the distribution; the expected range is symmetric' : ' symmetric, without direction';
  const entries: [term: string, value: Markup][] = [
    ...listMoveFacts(facts),
    ['Call', values === null ? hide('call', state !== 'void' && unlock) : `${values.signal}, ${values.direction}`],
    ['P(up)', values === null ? hide('pUp') : formatShare(values.pUp)],
    ['Price at opening', formatUsd(price.atOpening)],
    [
      'Price at the end',
      price.atEnd === null ? '–' : [formatUsd(price.atEnd), el('span', { class: 'quiet' }, ` ${formatReturn(price.returnBps)}`)],
    ],
    [
      formatBandName(band),
      band === null ? '–' : [`${formatUsd(band.low)} to ${formatUsd(band.high)}`, el('span', { class: 'quiet' }, note)],
    ],
    ['Brier score', formatBrier(brier)],
    ['Regime', formatRegime(regime)],
    ['Model', modelVersion ?? '–'],
  ];
  const items = entries.map(([term, value]) => el('div', {}, el('dt', {}, term), el('dd', {}, value)));
  return el('dl', { class: 'facts' }, items);
}

function listMoveFacts({ move, price: { atSignal, atEnd } }: ForecastFacts): [term: string, value: Markup][] {
  if (move === null) return [['Size of the move', EMPTY_VALUE]];
  const { moveSize, pBig, bigMove, width80, calmUpTo, wildFrom } = move;
  const limits = `80\u00a0% width ${formatShare(width80)}, calm up to ${formatShare(calmUpTo)}, wild from ${formatShare(wildFrom)}`;
  const realised = atSignal === null || atEnd === null ? null : Math.log(atEnd / atSignal);
  const outcome = realised === null ? '' : Math.abs(realised) > bigMove ? ' it was bigger' : ' it was not';
  return [
    ['Size of the move', [moveSize.toLowerCase(), el('span', { class: 'quiet' }, ` ${limits} (log)`)]],
    [`P(move beyond ${Math.round(100 * -Math.expm1(-bigMove))}\u00a0%)`, [formatShare(pBig), el('span', { class: 'quiet' }, outcome)]],
  ];
}

function renderFigure(facts: ForecastFacts): Markup {
  const chart = renderForecastChart(facts);
  if (chart === null) return null;
  const caption = el('figcaption', {}, 'BTC/USD at daily closes, and the 80 % range or band at the end. Dotted: the window opens.');
  return [
    el('figure', { class: 'forecast-figure' }, chart, caption),
    el('details', { class: 'table-of' }, el('summary', {}, 'As a table'), el('div', {}, renderValuesTable(facts))),
  ];
}

function renderValuesTable(facts: ForecastFacts): Markup {
  const { band, quantiles } = facts;
  const row = (label: string, price: number) =>
    el('tr', {}, el('th', { scope: 'row' }, label), el('td', { class: 'numeric' }, formatUsd(price)));
  return el('table', {}, [
    el('caption', {}, 'Prices, USD'),
    el('tbody', {}, [
      listPricePoints(facts).map(({ at, what, price, closes }) =>
        row(closes === undefined ? `${what}, ${formatDate(at)}` : `${what} of ${formatDate(closes)}`, price),
      ),
      quantiles.map(({ percent, price }) => row(`Quantile ${percent} %`, price)),
      band !== null &&
        quantiles.length === 0 && [row(`${formatBandName(band)}, low`, band.low), row(`${formatBandName(band)}, high`, band.high)],
    ]),
  ]);
}

/** Units of the drawing, about pixels on a phone. */
const SIZE = { width: 360, height: 210 };
const EDGES = { left: 58, right: 64, top: 16, bottom: 26 };
const PADDING_SHARE = 0.12;

interface PricePoint {
  at: string;
  price: number;
  what: string;
  /** The day that it closes; unset for no close. */
  closes?: string;
}

/** Known prices in their order: at signal time, daily closes, and the outcome. */
function listPricePoints({ madeAt, endsAt, closes, price }: ForecastFacts): PricePoint[] {
  const start = price.atSignal === null ? [] : [{ at: madeAt, price: price.atSignal, what: 'At signal time' }];
  const within = closes.filter(({ at }) => at < endsAt).map((close) => ({ ...close, what: 'Close', closes: getClosedDay(close.at) }));
  const end = price.atEnd === null ? [] : [{ at: endsAt, price: price.atEnd, what: 'Outcome, close', closes: getClosedDay(endsAt) }];
  return [...start, ...within, ...end];
}

/** A close at 00:00 UTC is that of the day before. */
function getClosedDay(at: string): string {
  return new Date(Date.parse(at) - 1).toISOString();
}

/** The band is of the distribution; the expected range is symmetric around the price at signal time. */
function formatBandName(band: ForecastFacts['band']): string {
  return band?.isCommitted ? '80 % band' : 'Expected 80 % range';
}

/** Prices from the forecast to its outcome, and the 80 % range at the end. Null without a price. */
export function renderForecastChart(facts: ForecastFacts): Markup {
  const points = listPricePoints(facts);
  if (points.length === 0) return null;
  const scale = createScale(facts, points);
  const viewBox = `0 0 ${SIZE.width} ${SIZE.height}`;
  return el('svg', { class: 'chart forecast-chart', viewBox, role: 'img', 'aria-label': describeChart(facts, points) }, [
    renderAxes(facts, scale),
    renderBand(facts, points[0], scale),
    el('polyline', { class: 'price-line', points: points.map(({ at, price }) => `${scale.x(at)},${scale.y(price)}`).join(' ') }),
    renderMark(points[0], scale, 'inside'),
    facts.price.atEnd !== null && renderOutcome(facts, points[points.length - 1], scale),
  ]);
}

type Scale = ReturnType<typeof createScale>;

function createScale({ madeAt, endsAt, band }: ForecastFacts, points: readonly PricePoint[]) {
  const prices = [...points.map(({ price }) => price), ...(band === null ? [] : [band.low, band.high])];
  const [least, most] = [Math.min(...prices), Math.max(...prices)];
  const padding = (most - least || 0.01 * most) * PADDING_SHARE;
  const [from, to] = [Date.parse(madeAt), Date.parse(endsAt)];
  const place = (share: number, start: number, end: number) => (start + share * (end - start)).toFixed(1);
  return {
    prices: { least, most },
    x: (at: string) => place((Date.parse(at) - from) / (to - from), EDGES.left, SIZE.width - EDGES.right),
    y: (price: number) => place((price - least + padding) / (most - least + 2 * padding), SIZE.height - EDGES.bottom, EDGES.top),
  };
}

function renderAxes({ madeAt, windowOpensAt, endsAt }: ForecastFacts, { prices, x, y }: Scale): Markup {
  const [left, right, foot] = [EDGES.left, SIZE.width - EDGES.right, SIZE.height - EDGES.bottom];
  const lines = [prices.least, (prices.least + prices.most) / 2, prices.most].map((price) => [
    el('line', { x1: left, x2: right, y1: y(price), y2: y(price) }),
    el('text', { x: left - 6, y: y(price), dy: 4, 'text-anchor': 'end' }, formatUsd(price)),
  ]);
  return [
    el('g', { class: 'grid' }, lines),
    el('line', { class: 'since', x1: x(windowOpensAt), x2: x(windowOpensAt), y1: EDGES.top, y2: foot }),
    el('text', { x: left, y: foot + 18, 'text-anchor': 'start' }, formatDayAndMonth(madeAt)),
    el('text', { x: right, y: foot + 18, 'text-anchor': 'end' }, formatDayAndMonth(endsAt)),
  ];
}

function renderBand({ endsAt, band }: ForecastFacts, start: PricePoint, { x, y }: Scale): Markup {
  if (band === null) return null;
  const end = x(endsAt);
  const corners = [`${x(start.at)},${y(start.price)}`, `${end},${y(band.low)}`, `${end},${y(band.high)}`];
  return el('polygon', { class: band.isCommitted ? 'band' : 'band ahead', points: corners.join(' ') });
}

function renderMark({ at, price }: PricePoint, { x, y }: Scale, className: string): Markup {
  return el('circle', { class: className, cx: x(at), cy: y(price), r: 4 });
}

/** A diamond outside the range, a circle within. */
function renderOutcome({ band }: ForecastFacts, end: PricePoint, scale: Scale): Markup {
  const isOutside = band !== null && (end.price < band.low || end.price > band.high);
  const [x, y] = [Number(scale.x(end.at)), Number(scale.y(end.price))];
  const mark = isOutside
    ? el('path', { class: 'outside', d: `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z` })
    : renderMark(end, scale, 'inside');
  return [mark, el('text', { class: 'label', x: x + 8, y, dy: 4 }, formatUsd(end.price))];
}

function describeChart({ band, endsAt }: ForecastFacts, points: readonly PricePoint[]): string {
  const [first, last] = [points[0], points[points.length - 1]];
  const range =
    band === null ? '' : ` ${formatBandName(band)} on ${formatDayAndMonth(endsAt)}: ${formatUsd(band.low)} to ${formatUsd(band.high)}.`;
  return `BTC from ${formatUsd(first.price)} to ${formatUsd(last.price)}.${range}`;
}
