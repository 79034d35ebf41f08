import { DAY_MS } from '../../forecast/day.ts';
import {
  type AccessData,
  type CallData,
  DEFAULT_HORIZON_DAYS,
  FIRST_SCREEN_PARTS,
  type FirstScreenData,
  type FirstScreenPart,
  formatTodayTitle,
  type InitialData,
  toInitialScreen,
  toRecordData,
} from '../first-screen.ts';
import { el, formatCount, formatDate, formatDayAndMonth, formatPercent, formatRegime, formatUsd, type Markup } from '../markup.ts';
import { BOUGHT_EVENT, BUY_EVENT, readBoughtCall } from './buy.ts';
import { CHECK_EVENT } from './check.ts';
import { byId, createRelativeTime, formatHorizon, formatSignedPercent, formatUsdCents, renderFacts } from './dom.ts';
import { formatCall, getRowElementId, renderPrices, renderStatus } from './record.ts';
import type { ApiResponses, ScorecardRow } from './responses.ts';
import { isPartial, type Page, readInitialData } from './state.ts';
import { UNLOCK_EVENT } from './unlock.ts';
import { adopt, BROKEN_TEXT, draw, drawSafely, runSafely } from './view.ts';

type Signal = ApiResponses['signal'];

/** What is behind the call: prices, window, facts, the last revealed call and the time of the next. */
function renderTodayDetails({ store }: Page): Markup {
  const [signal, price, range] = [store.get('signal').answer, store.get('price').answer, store.get('range').answer];
  const rows = store.get('scorecard').answer?.predictions ?? [];
  const row = rows.find(({ predictionId }) => predictionId === signal?.predictionId);
  const revealed = findNewestRevealed(rows);
  const part = (name: string, make: () => Markup) => el('div', { class: `today-${name}` }, drawSafely(make));
  return el('div', { class: 'today' }, [
    el('div', {}, [
      part('call', () => signal && renderCall(signal)),
      part('ranges', () => [renderOwnRange(row?.band80 ?? null), renderRanges(range)]),
      part('last', () => revealed && renderLastRevealed(revealed)),
    ]),
    el('div', {}, [
      part('now', () => renderPriceNow(price, signal)),
      part('life', () => signal && renderCallWindow(signal)),
      part('facts', () => signal && renderSignalFacts(signal)),
      part('next', () => renderNextCall(store.get('info').answer, signal)),
    ]),
  ]);
}

function renderPriceNow(price: ApiResponses['price'] | null, signal: Signal | null) {
  if (price === null || price.price === null) return el('p', { class: 'empty' }, 'No current price.');
  const { change24h, timestamp, stale } = price;
  const since = computeChangePercent(signal, price);
  return el('p', { class: 'price-moves' }, [
    el('span', {}, 'Bitcoin now ', el('strong', {}, formatUsdCents(price.price))),
    change24h === null ? null : renderMove(change24h, 'in 24 hours'),
    since === null ? null : renderMove(since, 'since the call'),
    timestamp === null
      ? null
      : el('span', { class: stale ? 'bad' : 'quiet' }, stale ? 'stale, seen ' : 'seen ', createRelativeTime(timestamp)),
  ]);
}

function renderMove(changePercent: number, of: string) {
  return el('span', {}, el('span', { class: changePercent < 0 ? 'bad' : 'good' }, formatSignedPercent(changePercent)), ` ${of}`);
}

/** The 80 % band of the forecast's distribution: for Premium, and for everyone once it is revealed. */
function renderOwnRange(band: { low: number; median: number; high: number } | null) {
  if (band === null) return null;
  const { low, median, high } = band;
  return el('p', {}, `80\u00a0% band of this forecast: ${formatUsd(low)} to ${formatUsd(high)}, median ${formatUsd(median)}.`);
}

/** The fan as figures. */
function renderRanges(range: ApiResponses['range'] | null) {
  if (!range?.horizons?.length) return null;
  const heads = ['Days', 'Size', 'P(big move)', ...range.ranges.map(({ share }) => `${100 * share}\u00a0%`)].map((head) =>
    el('th', { scope: 'col' }, head),
  );
  const rows = range.horizons.map(({ horizon, ranges, moveSize, pBig }) => {
    const size = [moveSize?.toLowerCase() ?? '–', formatPercent(pBig)].map((text) => el('td', {}, text));
    const cells = ranges.map(({ low, high }) => el('td', {}, `${formatUsd(low)}–${formatUsd(high)}`));
    return el('tr', {}, el('th', { scope: 'row' }, horizon.replace('d', '')), size, cells);
  });
  const caption = el('caption', {}, `Expected range around ${formatUsd(range.btcPrice)}, without direction`);
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Expected range by horizon' }, [
    el('table', {}, caption, el('thead', {}, el('tr', {}, heads)), el('tbody', {}, rows)),
  ]);
}

function renderSignalFacts({ regime, fearGreed, fearGreedLabel, etfFlows7d, btcPrice, modelVersion, attestationUid }: Signal) {
  const uid = attestationUid && el('a', { href: '#attestations', title: attestationUid }, `${attestationUid.slice(0, 10)}…`);
  return renderFacts([
    ['Price at signal', formatUsdCents(btcPrice)],
    ['Market regime', formatRegime(regime)],
    ['Fear & Greed', fearGreed === null ? '–' : `${fearGreed}: ${fearGreedLabel}`],
    [
      'ETF flows, 7 days',
      etfFlows7d === null ? '–' : `${etfFlows7d < 0 ? '−' : '+'}$${formatCount(Math.round(Math.abs(etfFlows7d) / 1e6))} M`,
    ],
    ['Committed on chain', uid ?? 'about 21:38 UTC'],
    ['Model', modelVersion],
  ]);
}

/** The next forecast is made at the same time every day. */
function renderNextCall(info: ApiResponses['info'] | null, signal: Signal | null) {
  const time = findSignalTime(info);
  if (time === undefined) return null;
  return el('p', { class: 'quiet' }, 'Next call ', createRelativeTime(getNextCallTime(time, signal).toISOString()), `, at ${time} UTC.`);
}

type ReadableSignal = Signal & { direction: 'UP' | 'DOWN'; confidence: number };

/** What the call means, as far as the reader may see it. */
function renderCall(signal: Signal): Markup {
  const { direction, confidence } = signal;
  const isHidden = signal.signal === 'GATED' || direction === null || confidence === null;
  return [renderOriginTags(signal), isHidden ? null : renderMeaning({ ...signal, direction, confidence })];
}

function renderMeaning({ signal, direction, confidence, horizon, resolvesAt }: ReadableSignal) {
  const pUp = formatPercent(direction === 'UP' ? confidence : 1 - confidence);
  const where = `${direction === 'UP' ? 'higher' : 'lower'} on ${formatDate(resolvesAt)}`;
  const hold = `HOLD: the ${formatHorizon(horizon)} forecast leans ${where}, too weakly to act on. P(up) ${pUp}. A HOLD is never scored.`;
  return el('p', {}, signal === 'HOLD' ? hold : `${signal}: Bitcoin is expected to be ${where}. P(up) ${pUp}.`);
}

function renderOriginTags({ replayed, source }: Signal): Markup {
  const texts = [...(source.startsWith('simulated') ? ['Simulated'] : []), ...(replayed ? ['Replayed'] : [])];
  const tags = texts.map((text) => el('span', { class: 'tag' }, text));
  return tags.length > 0 && el('p', { class: 'marks' }, tags);
}

/** Progress from commitment to the end of the outcome window. The opening is drawn in the middle, whatever the lengths. */
function renderCallWindow({ timestamp, windowOpensAt, resolvesAt }: Signal) {
  const now = Date.now();
  const [made, opens, ends] = [timestamp, windowOpensAt, resolvesAt].map((time) => Date.parse(time));
  const [waited, passed] = [computePassedShare(made, opens, now), computePassedShare(opens, ends, now)];
  return el('div', { class: 'window' }, [
    el('progress', {
      max: 1,
      value: (waited + passed) / 2,
      'aria-label': 'Progress from commitment to the end of the window',
      'aria-valuetext': waited < 1 ? 'The window has not opened yet' : `${formatPercent(passed, 0)} of the window has passed`,
    }),
    el('ol', {}, [
      renderWindowStop('Made', timestamp, now),
      renderWindowStop('Window opens', windowOpensAt, now),
      renderWindowStop('Window ends', resolvesAt, now),
    ]),
  ]);
}

/** 0 to 1. */
export function computePassedShare(from: number, to: number, now: number) {
  if (now >= to) return 1;
  return Math.max(0, (now - from) / (to - from));
}

function renderWindowStop(what: string, time: string, now: number) {
  const over = Date.parse(time) <= now;
  return el('li', { class: over ? 'over' : null }, [
    el('strong', {}, what),
    el('span', {}, createRelativeTime(time)),
    el('span', { class: 'quiet' }, `${formatDayAndMonth(time)}, ${time.slice(11, 16)} UTC`),
  ]);
}

/** Rows that are rendered initially and can be linked to. */
const ROWS_ON_PAGE = 25;

/** A revealed call and its index in the record. */
interface RevealedCall {
  row: ScorecardRow;
  index: number;
}

/** @param rows newest first */
export function findNewestRevealed(rows: readonly ScorecardRow[]): RevealedCall | null {
  const index = rows.findIndex(({ resolutionUid, direction }) => resolutionUid !== null && direction !== null);
  return index < 0 ? null : { row: rows[index], index };
}

function renderLastRevealed({ row, index }: RevealedCall) {
  return [
    el('h3', {}, 'Last revealed call'),
    el('p', {}, el('strong', {}, formatCall(row)), ` at ${formatPercent(row.confidence)}, of ${formatDate(row.date)}`),
    el('p', {}, [
      renderStatus(row),
      ' ',
      el('span', {}, renderPrices(row)),
      ' ',
      el('a', { href: `#${index < ROWS_ON_PAGE ? getRowElementId(row) : 'attestations'}` }, [
        'Verify',
        el('span', { class: 'visually-hidden' }, ` the call of ${formatDate(row.date)}`),
      ]),
    ]),
  ];
}

/** A later price is not compared with the call. */
const MAX_COMPARABLE_MS = 2 * DAY_MS;

/** Price change since the call in percent; null when the price is from another time. */
export function computeChangePercent(
  signal: Pick<ApiResponses['signal'], 'timestamp' | 'btcPrice'> | null,
  { price, timestamp }: Pick<ApiResponses['price'], 'price' | 'timestamp'>,
) {
  if (signal === null || price === null || timestamp === null) return null;
  if (Date.parse(timestamp) - Date.parse(signal.timestamp) > MAX_COMPARABLE_MS) return null;
  return 100 * (price / signal.btcPrice - 1);
}

/**
 * Time of the next call: the next due time on a day without a call.
 * @param time `HH:MM` UTC
 * @param signal newest
 */
export function getNextCallTime(time: string, signal: Pick<ApiResponses['signal'], 'predictionId'> | null, now = Date.now()) {
  const today = new Date(now).toISOString().slice(0, 10);
  const at = new Date(`${today}T${time}:00Z`);
  if (at.getTime() <= now || (signal !== null && signal.predictionId.slice(0, 10) >= today)) at.setUTCDate(at.getUTCDate() + 1);
  return at;
}

/** What the first screen shows of the answers that are there by now. */
function collectFirstScreen(page: Page, initial: InitialData | null, start: 'starting' | 'loading' | null): FirstScreenData {
  const { store, horizon } = page;
  const horizonDays = horizon.value;
  const { answer: scorecard } = store.get('scorecard');
  const range = store.get('range').answer;
  const shown = store.get('signal').answer ?? findInitialCall(page, initial);
  const bought = shown?.signal === 'GATED' ? readBoughtCall(shown.predictionId, horizonDays) : null;
  const call = shown && { ...shown, ...bought };
  const isEmpty = store.get('signal').problem?.code === 'STEP_WAITING' || (initial !== null && initial.range === null);
  const newest = scorecard?.predictions[0];
  return {
    horizonDays,
    call,
    waiting: start ?? (isEmpty ? 'none' : 'loading'),
    range,
    price: store.get('price').answer,
    records: {
      ...initial?.records,
      ...(scorecard && { [scorecard.horizon]: toRecordData(scorecard) }),
    },
    missedDate: scorecard === null ? (initial?.missedDate ?? null) : newest?.missed ? newest.date : null,
    now: new Date().toISOString(),
    access: { ...collectAccess(page, call), boughtUntil: bought && getNewestUntil(page, shown) },
  };
}

/** Bridges the time until the call of another horizon is loaded, while it is of the day that is shown. */
function findInitialCall({ store, session, horizon }: Page, initial: InitialData | null): CallData | null {
  const call = initial?.signals[`${horizon.value}d`];
  const date = store.get('range').answer?.date;
  const isUsable = session.current === null && store.get('signal').problem === null;
  return call !== undefined && date !== undefined && isUsable && call.predictionId.startsWith(date) ? call : null;
}

/** Until when a call is the newest. */
function getNewestUntil({ store }: Page, call: CallData | null): string {
  return getNextCallTime(findSignalTime(store.get('info').answer) ?? '21:35', call).toISOString();
}

function findSignalTime(info: ApiResponses['info'] | null): string | undefined {
  return info?.schedule.find(({ step }) => step === 'signal')?.times[0];
}

function collectAccess({ store, session, horizon }: Page, call: CallData | null): Omit<AccessData, 'boughtUntil'> {
  const { answer: info } = store.get('info');
  const { answer: scorecard } = store.get('scorecard');
  const { problem } = store.get('signal');
  const fit = info?.model.fitted?.horizons.find((one) => one.horizon === `${horizon.value}d`);
  const rows = scorecard?.predictions ?? [];
  return {
    tier: session.current?.tier ?? null,
    hasEnded: session.hasEnded,
    needed: info?.tiers.find(({ tier }) => tier === 'basic')?.requirement ?? 'gate tokens',
    usual: fit === undefined ? null : { up: fit.baseRate, days: fit.trainingDays },
    own: rows.find(({ predictionId }) => predictionId === call?.predictionId)?.band80 ?? null,
    sellNote: info === null ? null : formatSellNote(info, scorecard === null || isPartial(scorecard) ? null : rows),
    problem: problem === null || problem.code === 'STEP_WAITING' ? null : `${problem.message}.`,
  };
}

/** What the model card says of SELL calls, and what became of those of this record. @param rows all of it; null while they are not known */
function formatSellNote({ model }: Pick<ApiResponses['info'], 'model'>, rows: readonly ScorecardRow[] | null): string {
  const known = model.knownFailures.find((line) => line.startsWith('SELL: ')) ?? '';
  const sentence = /^[^.]*\./.exec(known)?.[0] ?? 'SELL:';
  if (rows === null) return sentence;
  const sells = rows.filter(({ signal, status }) => signal === 'SELL' && (status === 'WIN' || status === 'LOSS'));
  const wins = sells.filter(({ status }) => status === 'WIN').length;
  return `${sentence} Here ${wins} of ${sells.length} were right.`;
}

const FIRST_SCREEN_NAMES = Object.keys(FIRST_SCREEN_PARTS) as FirstScreenPart[];

/** The newest call as far as the reader may see it, the expected range, and the record in one line. */
export function mountToday(page: Page, body: HTMLElement) {
  const { store, session, poller } = page;
  const initial = readInitialData();
  const title = byId('today-title');
  const getPlace = (name: FirstScreenPart) => body.querySelector(`[data-part=${name}]`) as HTMLElement;
  // What the server has drawn is kept.
  const served = toInitialScreen(initial, DEFAULT_HORIZON_DAYS);
  for (const name of FIRST_SCREEN_NAMES) adopt(getPlace(name), FIRST_SCREEN_PARTS[name](served));
  // A replay fills an empty record: its first day is not ahead.
  let start: 'starting' | 'loading' | null = initial === null ? 'starting' : null;
  const redraw = () => {
    const data = collectFirstScreen(page, initial, start);
    if (data.call?.signal === 'SELL') store.needWhole();
    for (const name of FIRST_SCREEN_NAMES)
      draw(
        getPlace(name),
        runSafely<Markup>(
          () => FIRST_SCREEN_PARTS[name](data),
          () => BROKEN_TEXT,
        ),
      );
    draw(byId('today-details'), renderTodayDetails(page));
    const next = formatTodayTitle(data.call, Date.now());
    if (title.textContent !== next) title.textContent = next;
  };
  for (const name of ['signal', 'range', 'scorecard', 'price', 'info'] as const) store.watch(name, redraw);
  session.onChange(redraw);
  document.addEventListener(BOUGHT_EVENT, redraw);
  poller.onLook(({ state, isOpen }) => {
    const was = start;
    if (state === 'starting') start = isOpen ? 'loading' : 'starting';
    else if (state === 'up') start = null;
    if (start !== was) redraw();
  });
  handleActions(body);
  handleHorizon(body, page.horizon);
}

/** Dialogs that a part of the screen opens; without the script the link to buy leads to the operation. */
const DIALOG_EVENTS: Record<string, string | undefined> = { unlock: UNLOCK_EVENT, buy: BUY_EVENT };

/** The buttons are redrawn, hence one listener for all. */
function handleActions(body: HTMLElement) {
  body.addEventListener('click', (event) => {
    const { target } = event;
    const action = target instanceof Element ? target.closest<HTMLElement>('[data-do]') : null;
    if (action?.dataset.do === 'buy') event.preventDefault();
    const opens = DIALOG_EVENTS[action?.dataset.do ?? ''];
    if (opens !== undefined) action?.dispatchEvent(new Event(opens, { bubbles: true }));
    if (action?.dataset.do === 'check') document.dispatchEvent(new Event(CHECK_EVENT));
  });
}

function handleHorizon(body: HTMLElement, horizon: Page['horizon']) {
  for (const input of body.querySelectorAll<HTMLInputElement>('input[name=horizon]')) {
    input.checked = Number(input.value) === horizon.value;
    input.addEventListener('change', () => horizon.set(Number(input.value)));
  }
}
