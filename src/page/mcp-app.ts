import {
  type ForecastStateName,
  formatDate,
  formatDayAndMonth,
  formatTime,
  formatUsd,
  listSteps,
  renderSteps,
  STATE_LABELS,
  STATE_MARKS,
} from './forecast.ts';
import { el, formatUtc, type Markup, type MarkupElement, renderMarkup } from './markup.ts';
import { formatShare } from './widget.ts';

/** A button that calls the tool of a view through the host. */
function renderCallButton(view: AppView, label: Markup, input: Readonly<Record<string, string>>): MarkupElement {
  return el('button', { type: 'button', 'data-view': view, 'data-tool': VIEW_TOOLS[view], 'data-input': JSON.stringify(input) }, label);
}

/** A button that returns to what was shown before. */
export function renderBackButton(): MarkupElement {
  return el('button', { type: 'button', class: 'back' }, '← Back');
}

/** One button a horizon, except the one that is shown. @param horizons such as `7d` */
function renderHorizonButtons(view: AppView, horizons: readonly string[], shown: string): MarkupElement[] {
  return horizons.filter((one) => one !== shown).map((one) => renderCallButton(view, formatHorizon(one), { horizon: one }));
}

/** `7 days` for `7d`. */
function formatHorizon(horizon: string): string {
  const days = /^(\d+)d$/.exec(horizon)?.[1];
  if (days === undefined) return horizon;
  return days === '1' ? '1 day' : `${days} days`;
}

/** Views of the MCP App: one document each, for the answers of one tool. */
export const APP_VIEWS = ['forecast', 'record', 'verification'] as const;

export type AppView = (typeof APP_VIEWS)[number];

/** The tool whose answers a view draws. */
export const VIEW_TOOLS = {
  forecast: 'predict_btc_direction',
  record: 'get_track_record',
  verification: 'verify_prediction',
} as const satisfies Record<AppView, string>;

export const VIEW_TITLES: Record<AppView, string> = {
  forecast: 'Bitcoin forecast',
  record: 'Track record',
  verification: 'Verification on chain',
};

/** The view of a tool's answers; undefined for a tool without one. */
export function findToolView(tool: string): AppView | undefined {
  return APP_VIEWS.find((view) => VIEW_TOOLS[view] === tool);
}

/** `pending`: without an outcome, in an answer that has no more of it. */
type AnsweredState = ForecastStateName | 'pending';

const OUTCOMES: Readonly<Record<string, ForecastStateName>> = { WIN: 'right', LOSS: 'wrong', HOLD: 'hold', VOID: 'void' };

/** The state of a forecast of the record, with a window that may have ended since; null without a status. @param now ISO 8601 */
function deriveForecastState({ status, attestationUid, resolvesAt }: Fields, now: string): AnsweredState | null {
  if (typeof status !== 'string') return null;
  if (Object.hasOwn(OUTCOMES, status)) return OUTCOMES[status];
  if (status !== 'PENDING') return null;
  if (attestationUid === null) return 'forming';
  if (typeof attestationUid !== 'string') return 'pending';
  const end = readTime(resolvesAt);
  return end !== '' && end <= now ? 'ended' : 'committed';
}

function isOpen(state: AnsweredState): boolean {
  return ['pending', 'forming', 'committed', 'ended'].includes(state);
}

function renderState(state: AnsweredState): MarkupElement {
  const [label, mark] = state === 'pending' ? ['Pending', STATE_MARKS.committed] : [STATE_LABELS[state], STATE_MARKS[state]];
  return el('span', { class: `state ${mark}` }, label);
}

/** Members of an answer. Its length depends on the call, so each is read as possibly missing. */
export type Fields = Readonly<Record<string, unknown>>;

interface Interval {
  low: number;
  high: number;
}

/** Longer text is cut. */
const MAX_CHARACTERS = 800;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Without members for anything but an object. */
export function readFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** Empty for anything but a text. */
export function readText(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value.length > MAX_CHARACTERS ? `${value.slice(0, MAX_CHARACTERS)}…` : value;
}

function readNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** The objects of a list. */
function readList(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

/** Null without both bounds in order. */
function readInterval(value: unknown): Interval | null {
  const { low: from, high: to } = readFields(value);
  const [low, high] = [readNumber(from), readNumber(to)];
  return low === null || high === null || low > high ? null : { low, high };
}

/** An ISO 8601 time; empty for anything else. */
function readTime(value: unknown): string {
  const text = readText(value);
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) ? text : '';
}

const TIME = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z/g;

/** A clause of an answer as a sentence of its own, its times to the minute. */
function toSentence(clause: string): string {
  const text = clause.trim().replace(TIME, formatUtc);
  if (text === '') return '';
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? '' : '.'}`;
}

export interface AppAssets {
  script: string;
  style: string;
  /** `sha256-` and the digest of script and style in base64, as in a Content Security Policy. */
  hashes: { script: string; style: string };
  /** Of the service. */
  version: string;
}

/** The document of a view: all that it needs is in it, and its policy permits it no connection. */
export function renderAppDocument(view: AppView, { script, style, hashes, version }: AppAssets): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashes.script}'`,
    `style-src '${hashes.style}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const document = el('html', { lang: 'en' }, [
    el('head', {}, [
      el('meta', { charset: 'utf-8' }),
      el('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }),
      el('meta', { name: 'viewport', content: 'width=device-width' }),
      el('title', {}, VIEW_TITLES[view]),
      el('style', {}, '{{style}}'),
    ]),
    el('body', {}, [
      // Not at the root, which some hosts replace by their own.
      el('main', { 'data-view': view, 'data-version': version }, [
        el('h1', {}, VIEW_TITLES[view]),
        el('p', { class: 'quiet' }, 'Waiting for the answer…'),
      ]),
      el('p', { id: 'status', role: 'status' }),
      el('script', {}, '{{script}}'),
    ]),
  ]);
  const html = renderMarkup(document)
    .replace('{{style}}', () => style)
    .replace('{{script}}', () => script);
  return `<!doctype html>\n${html}\n`;
}

const SHARES = { low: 0, high: 1 };

/** How often the price rose, by the probability said; empty where the answer has no bins. */
function listReliabilityRows({ probabilities }: Fields): DrawnRow[] {
  return readList(readFields(probabilities).reliability).flatMap((bin) => {
    const [from, to] = [readNumber(bin.from), readNumber(bin.to)];
    if (from === null || to === null) return [];
    return toShareRow(`${Math.round(100 * from)}–${formatShare(to)}`, { ...bin, value: bin.observedShare, reference: bin.meanProbability });
  });
}

/** How many outcomes the ranges contained; empty where the answer has none. */
function listCoverageRows({ distribution }: Fields): DrawnRow[] {
  return readList(readFields(distribution).coverage).flatMap((range) => {
    const nominal = readNumber(range.nominal);
    return nominal === null ? [] : toShareRow(formatShare(nominal), { ...range, value: range.observed, reference: nominal });
  });
}

function toShareRow(label: string, fields: Fields): DrawnRow[] {
  const [value, reference, n] = [readNumber(fields.value), readNumber(fields.reference), readNumber(fields.n)];
  if (value === null) return [];
  const interval = readInterval(fields.interval95);
  const span = interval === null ? '' : ` (${formatBounds(interval)})`;
  return [{ label, text: `${formatShare(value)}${n === null ? '' : ` of ${n}`}${span}`, domain: SHARES, interval, value, reference }];
}

interface CallFigures {
  accuracy: number | null;
  interval: Interval | null;
  alwaysUp: number | null;
}

/** The share of right calls with its interval, against always saying UP; nothing before the first outcome. */
function renderCallFigures({ accuracy, interval, alwaysUp }: CallFigures): Markup {
  if (accuracy === null) return null;
  const text = `${formatShare(accuracy)}${interval === null ? '' : `, 95 % interval ${formatBounds(interval)}`}`;
  return [
    renderRows([{ label: 'Right calls', text, domain: { low: 0, high: 1 }, interval, value: accuracy, reference: alwaysUp }]),
    alwaysUp === null ? null : el('p', { class: 'quiet' }, `Dashed: always saying UP, ${formatShare(alwaysUp)}`),
  ];
}

/** `30 to 70 %`. */
function formatBounds({ low, high }: Interval): string {
  return `${(100 * low).toFixed(0)} to ${formatShare(high)}`;
}

/** A figure as a line of text beside its drawing; the drawing has no content of its own. */
interface DrawnRow {
  label: string;
  text: string;
  /** What the ends of the drawing stand for. */
  domain: Interval;
  interval?: Interval | null;
  value?: number | null;
  /** Dashed: what the figure is compared with. */
  reference?: number | null;
  /** A range is filled; the interval of a measurement is a line with caps. */
  isRange?: boolean;
}

/** Units of a drawing that is stretched to its place; its strokes keep their width. */
const WIDTH = 300;
const HEIGHT = 16;
const MIDDLE = HEIGHT / 2;

function renderRows(rows: readonly DrawnRow[]): MarkupElement | null {
  return rows.length === 0 ? null : el('dl', { class: 'rows' }, rows.map(renderRow));
}

function renderRow(row: DrawnRow): MarkupElement {
  return el('div', {}, [el('dt', {}, row.label), el('dd', { class: 'drawn' }, drawRow(row)), el('dd', {}, row.text)]);
}

function drawRow({ domain, interval = null, value = null, reference = null, isRange = false }: DrawnRow): MarkupElement {
  const toX = (at: number) => {
    const share = domain.high === domain.low ? 0.5 : (at - domain.low) / (domain.high - domain.low);
    return Math.round(10 * WIDTH * Math.min(1, Math.max(0, share))) / 10;
  };
  return el('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, height: HEIGHT, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, [
    drawLine('axis', [0, MIDDLE], [WIDTH, MIDDLE]),
    interval === null
      ? null
      : isRange
        ? drawRange(toX(interval.low), toX(interval.high))
        : drawInterval(toX(interval.low), toX(interval.high)),
    reference === null ? null : drawLine('reference', [toX(reference), 0], [toX(reference), HEIGHT]),
    value === null ? null : drawLine('value', [toX(value), MIDDLE], [toX(value), MIDDLE]),
  ]);
}

function drawRange(from: number, to: number): MarkupElement {
  return el('rect', { class: 'range', x: from, y: 3, width: Math.round(10 * (to - from)) / 10, height: HEIGHT - 6 });
}

function drawInterval(from: number, to: number): Markup {
  return [
    drawLine('interval', [from, MIDDLE], [to, MIDDLE]),
    [from, to].map((x) => drawLine('interval', [x, MIDDLE - 4], [x, MIDDLE + 4])),
  ];
}

type Point = readonly [x: number, y: number];

function drawLine(name: string, [x1, y1]: Point, [x2, y2]: Point): MarkupElement {
  return el('line', { class: name, x1, y1, x2, y2, 'vector-effect': 'non-scaling-stroke' });
}

interface Difference {
  label: string;
  value: number;
  interval: { low: number; high: number } | null;
  /** Sign of a difference in favour of the model. */
  better: 1 | -1;
}

/** Differences from a reference that can be drawn around zero; empty before the first outcome. */
function listScoreRows(statistics: Fields): DrawnRow[] {
  const { brierDifference, probabilities, distribution } = statistics;
  const found = [
    toDifference('Brier score', brierDifference, 'mean', -1) ??
      toDifference('Brier skill', readFields(probabilities).climatologySkill, 'value', 1),
    toDifference('CRPS skill', readFields(distribution).crpsSkill ?? statistics.crpsSkill, 'value', 1),
  ];
  return found.flatMap((difference) => (difference === null ? [] : toRow(difference)));
}

function toDifference(label: string, fields: unknown, name: 'mean' | 'value', better: 1 | -1): Difference | null {
  const value = readNumber(readFields(fields)[name]);
  return value === null ? null : { label, value, interval: readInterval(fields), better };
}

function toRow(difference: Difference): DrawnRow {
  const { label, value, interval } = difference;
  const reach = 1.1 * Math.max(...[value, interval?.low ?? 0, interval?.high ?? 0].map(Math.abs), Number.EPSILON);
  const span = interval === null ? '' : ` (${format(interval.low)} to ${format(interval.high)})`;
  const text = `${format(value)}${span}: ${judge(difference)}`;
  return { label, text, domain: { low: -reach, high: reach }, interval, value, reference: 0 };
}

/** A difference counts as proven only where its whole interval lies on one side of zero. */
function judge({ interval, better }: Difference): string {
  if (interval === null || (interval.low <= 0 && interval.high >= 0)) return 'not proven';
  return Math.sign(interval.low) === better ? 'better' : 'worse';
}

function format(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

interface PriceRange {
  /** Probability that the price at the end is within it. */
  share: number;
  low: number;
  high: number;
}

/** Central ranges of the price at the end, widest last; empty for an answer without any. */
function listPriceRanges({ range, ranges }: Fields): PriceRange[] {
  return [readFields(range), ...readList(ranges)].flatMap(toRange).toSorted((a, b) => a.share - b.share);
}

function toRange(fields: Fields): PriceRange[] {
  const [interval, share] = [readInterval(fields), readNumber(fields.share)];
  return interval === null || share === null || share <= 0 || share >= 1 ? [] : [{ share, ...interval }];
}

const HORIZONS = ['2d', '3d', '7d'];

/** The newest forecast of a horizon, with as much of it as the answer has. @param now ISO 8601 */
function renderForecastCard(answer: Fields, now: string): Markup {
  const horizon = readText(answer.horizon);
  return [
    renderTitle(answer, now),
    renderCall(answer),
    renderRows(listProbabilityRows(answer)),
    renderRanges(answer),
    renderTimes(answer, now),
    renderWays(readList(answer.ways)),
    renderRecord(answer),
    renderNotes(answer),
    el('p', { class: 'actions' }, [
      renderCheckButton(answer),
      renderHorizonButtons('forecast', HORIZONS, horizon),
      renderCallButton('record', 'Track record', { horizon }),
    ]),
  ];
}

function renderTitle(answer: Fields, now: string): Markup {
  const date = readText(answer.date);
  const state = deriveForecastState(answer, now);
  return [
    el('h1', { tabindex: -1 }, `Bitcoin, ${formatHorizon(readText(answer.horizon))}`),
    el('p', { class: 'quiet' }, [
      state === null ? null : [renderState(state), ' '],
      /^\d{4}-\d{2}-\d{2}$/.test(date) ? `Forecast of ${formatDate(date)}` : null,
    ]),
  ];
}

/** The direction is drawn from the answer alone: an answer without it shows none. */
function renderCall({ signal, direction, confidence }: Fields): Markup {
  const word = readText(signal);
  const share = readNumber(confidence);
  const known = [readText(direction), share === null ? '' : `${(100 * share).toFixed(1)} % confident`].filter((part) => part !== '');
  if (word === '' || word === 'GATED') return el('p', { class: 'lead' }, 'The direction is hidden until its outcome.');
  return el('p', { class: 'lead' }, [el('strong', {}, word), known.length === 0 ? null : ` ${known.join(', ')}`]);
}

function listProbabilityRows({ pUp }: Fields): DrawnRow[] {
  const value = readNumber(pUp);
  if (value === null) return [];
  return [{ label: 'P(up)', text: `${(100 * value).toFixed(1)} %; dashed: 50 %`, domain: { low: 0, high: 1 }, value, reference: 0.5 }];
}

function renderRanges(answer: Fields): Markup {
  const price = readNumber(answer.btcPrice);
  const ranges = listPriceRanges(answer);
  if (ranges.length === 0) return price === null ? null : el('p', {}, `Price at the forecast: ${formatUsd(price)}`);
  const domain = spanRanges(ranges, price);
  const rows = ranges.map(({ share, low, high }) => ({
    label: `${Math.round(100 * share)} % range`,
    text: `${formatUsd(low)} to ${formatUsd(high)}`,
    domain,
    interval: { low, high },
    reference: price,
    isRange: true,
  }));
  return [
    el('h2', {}, 'Expected price at the end'),
    renderRows(rows),
    price === null ? null : el('p', { class: 'quiet' }, `Dashed: ${formatUsd(price)}, the price at the forecast`),
  ];
}

/** All ranges and the price, with a margin. */
function spanRanges(ranges: readonly Interval[], price: number | null): Interval {
  const prices = price === null ? [] : [price];
  const low = Math.min(...ranges.map((range) => range.low), ...prices);
  const high = Math.max(...ranges.map((range) => range.high), ...prices);
  const margin = 0.1 * (high - low);
  return { low: low - margin, high: high + margin };
}

/** The steps whose time the answer has. */
function renderTimes(answer: Fields, now: string): Markup {
  const [windowOpensAt, endsAt] = [readTime(answer.windowOpensAt), readTime(answer.resolvesAt)];
  const state = deriveForecastState(answer, now);
  if (state === null || windowOpensAt === '' || endsAt === '') return null;
  const [madeAt, committed, revealed] = [readTime(answer.timestamp), toStep(answer.attestedAt), toStep(answer.resolvedAt)];
  const steps = listSteps({ state: state === 'pending' ? 'committed' : state, madeAt, committed, windowOpensAt, endsAt, revealed, now });
  return [
    renderSteps(steps.filter(({ at }) => at !== null && at !== '')),
    isOpen(state) ? el('p', { class: 'quiet' }, 'Revealed to everyone once its outcome is on chain, after the window ends.') : null,
  ];
}

function toStep(time: unknown) {
  const at = readTime(time);
  return at === '' ? null : { at, explorerUrl: null };
}

function renderRecord({ skill, horizon }: Fields): Markup {
  const { verdict, accuracy, interval95, alwaysUpAccuracy, scored } = readFields(skill);
  const figures = { accuracy: readNumber(accuracy), interval: readInterval(interval95), alwaysUp: readNumber(alwaysUpAccuracy) };
  const text = toSentence(readText(verdict));
  if (text === '' && figures.accuracy === null) return null;
  const count = readNumber(scored);
  const of = count === null ? '' : `, ${count} ${count === 1 ? 'call' : 'calls'}`;
  return [
    el('h2', {}, `Record over ${formatHorizon(readText(horizon))}${of}`),
    renderCallFigures(figures),
    text === '' ? null : el('p', { class: 'quiet' }, text),
  ];
}

/** How to see what is hidden. */
function renderWays(ways: readonly Fields[]): Markup {
  const texts = ways.map(({ how }) => readText(how)).filter((text) => text !== '');
  if (texts.length === 0) return null;
  const items = texts.map((text) => el('li', {}, text));
  return el('details', {}, [el('summary', {}, 'How to see the direction'), el('ul', { class: 'plain' }, items)]);
}

function renderCheckButton(answer: Fields): Markup {
  const predictionId = readText(answer.predictionId);
  return predictionId === '' ? null : renderCallButton('verification', 'Check it on chain', { predictionId });
}

/** Where the figures come from, and what they are not. */
function renderNotes(answer: Fields): MarkupElement {
  const source = readText(answer.source);
  const isReplayed = answer.replayed === true || readList(answer.entries).some(({ replayed }) => replayed === true);
  const notes = [
    source === '' ? '' : `Market data: ${source}.`,
    isReplayed ? 'Replayed: made after the fact.' : '',
    answer.stale === true ? 'A newer forecast is overdue.' : '',
    'No advice to trade.',
  ];
  return el('p', { class: 'quiet notes' }, notes.filter((note) => note !== '').join(' '));
}

const RECORD_CARD_HORIZONS = ['1d', '2d', '3d', '7d'];

/** The record of a horizon, with as much of it as the answer has. */
function renderRecordCard(answer: Fields): Markup {
  const filters = readFields(answer.filters);
  const statistics = readFields(answer.statistics);
  const horizon = readText(filters.horizon) || readText(answer.horizon);
  return [
    el('h1', { tabindex: -1 }, `Record of forecasts over ${formatHorizon(horizon)}`),
    renderSelection(filters, readTime(answer.asOf)),
    renderCalls(statistics),
    renderOutcomes(answer),
    renderSection(
      'Scores, against the base rate',
      renderRows(listScoreRows(statistics)),
      'Dashed: no difference. Bars are 95 % intervals.',
    ),
    renderSection('Probability said, and how often it rose', renderRows(listReliabilityRows(statistics)), 'Dashed: the probability said.'),
    renderSection('Outcomes within the ranges', renderRows(listCoverageRows(statistics)), 'Dashed: the share that was meant.'),
    renderNotes(answer),
    el('p', { class: 'actions' }, [
      statistics.probabilities === undefined ? renderMoreButton(filters) : null,
      renderHorizonButtons('record', RECORD_CARD_HORIZONS, horizon),
      // 1-day forecasts are scored, and not sold.
      renderCallButton('forecast', 'Newest forecast', horizon === '1d' ? {} : { horizon }),
    ]),
  ];
}

function renderSelection({ from, to, regime, status }: Fields, asOf: string): Markup {
  const filters = [
    ['from', from],
    ['to', to],
    ['in the regime', regime],
    ['with the status', status],
  ] as const;
  const chosen = filters.flatMap(([word, value]) => (readText(value) === '' ? [] : `${word} ${readText(value)}`));
  const parts = [chosen.length === 0 ? 'All forecasts' : `Forecasts ${chosen.join(', ')}`, asOf === '' ? '' : `on ${formatDate(asOf)}`];
  return el('p', { class: 'quiet' }, parts.filter((part) => part !== '').join(', '));
}

/** A short answer has no reliability and no coverage: the same call in full has. */
function renderMoreButton(filters: Fields): Markup {
  const input = Object.fromEntries(Object.entries(filters).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])));
  return renderCallButton('record', 'Reliability', { ...input, detail: 'full' });
}

function renderCalls(statistics: Fields): Markup {
  const [wins, resolved] = [readNumber(statistics.wins), readNumber(statistics.resolved)];
  const figures = {
    accuracy: readNumber(statistics.accuracy),
    interval: readInterval(statistics.accuracyInterval95),
    alwaysUp: readNumber(statistics.alwaysUpAccuracy),
  };
  const verdict = toSentence(readText(statistics.verdict));
  return [
    wins === null || resolved === null || resolved === 0
      ? null
      : el('p', { class: 'lead' }, [el('strong', {}, `${wins} of ${resolved}`), ' calls right']),
    renderCallFigures(figures),
    verdict === '' ? null : el('p', {}, verdict),
    renderCounts(statistics),
  ];
}

function renderCounts(statistics: Fields): Markup {
  const counts = (['holds', 'voids', 'pending'] as const).flatMap((name) => {
    const count = readNumber(statistics[name]);
    return count === null ? [] : `${count} ${COUNT_LABELS[name]}`;
  });
  return counts.length === 0 ? null : el('p', { class: 'quiet' }, `Not scored: ${counts.join(', ')}.`);
}

const COUNT_LABELS = { holds: 'held', voids: 'void', pending: 'pending' } as const;

/** Left out with its title where the answer has no figures of it. */
function renderSection(title: string, rows: Markup, legend: string): Markup {
  return rows === null ? null : [el('h2', {}, title), rows, el('p', { class: 'quiet' }, legend)];
}

const MAX_LISTED = 6;

/** The newest forecasts of the answer by their state; nothing of their values. */
function renderOutcomes({ entries, asOf }: Fields): Markup {
  const now = readTime(asOf);
  const marks = readList(entries)
    .slice(0, MAX_LISTED)
    .flatMap((entry) => renderEntry(entry, now) ?? []);
  if (marks.length === 0) return null;
  return [el('h2', {}, 'Newest forecasts'), el('ol', { class: 'outcomes' }, marks)];
}

function renderEntry(entry: Fields, now: string) {
  const state = deriveForecastState(entry, now);
  const [date, predictionId] = [readText(entry.date), readText(entry.predictionId)];
  if (state === null || !/^\d{4}-\d{2}-\d{2}$/.test(date)) return null;
  return el('li', {}, [
    el('span', {}, formatDayAndMonth(date)),
    renderState(state),
    predictionId === ''
      ? null
      : renderCallButton('verification', ['Check', el('span', { class: 'visually-hidden' }, ` ${date}`)], { predictionId }),
  ]);
}

/** The checks of one forecast against the chain, with as much of them as the answer has. */
function renderVerificationCard(answer: Fields): Markup {
  const { horizon, date, predictionId } = readFields(answer.prediction);
  const name = [readText(date), formatHorizon(readText(horizon))].filter((part) => part !== '').join(', ');
  const checks = readList(answer.checks);
  const failed = checks.filter(({ ok }) => ok !== true);
  return [
    el('h1', { tabindex: -1 }, name === '' ? 'Forecast, checked on chain' : `Forecast of ${name}, checked on chain`),
    renderVerificationResult(answer),
    renderAttestations(readList(answer.attestations)),
    renderChecks('Failed', failed),
    renderUnchecked(readList(answer.unchecked)),
    checks.length === failed.length ? null : renderPassed(checks.filter(({ ok }) => ok === true)),
    el('p', { class: 'quiet notes' }, 'It shows that the forecast was made in time and not changed, not that it is good.'),
    el('p', { class: 'actions' }, [
      checks.length < (readNumber(answer.checked) ?? 0) ? renderAllButton(readText(predictionId)) : null,
      renderCallButton('record', 'Track record', readText(horizon) === '' ? {} : { horizon: readText(horizon) }),
    ]),
  ];
}

/** The verdict states how many checks agree; without it, the figures do. */
function renderVerificationResult(answer: Fields): Markup {
  const [agree, all] = [readNumber(answer.agreeing), readNumber(answer.checked)];
  const { mark, text } = judgeCard(answer.verified === true, agree === all);
  const counts = agree === null || all === null ? '' : `${agree} of ${all} checks agree`;
  return [el('p', { class: 'lead' }, el('strong', { class: mark }, text)), el('p', {}, toSentence(readText(answer.verdict) || counts))];
}

/** A forecast that is not on chain yet is not verified, though no check fails. */
function judgeCard(isVerified: boolean, allAgree: boolean): { mark: string; text: string } {
  if (isVerified) return { mark: 'status-win', text: '✓ Verified' };
  return allAgree ? { mark: 'status-pending', text: 'Not verified yet' } : { mark: 'status-loss', text: '✗ Not verified' };
}

/** A short answer lists the checks that fail. */
function renderAllButton(predictionId: string): Markup {
  return predictionId === '' ? null : renderCallButton('verification', 'All checks', { predictionId, detail: 'full' });
}

function renderAttestations(attestations: readonly Fields[]): Markup {
  if (attestations.length === 0) return null;
  return el(
    'ul',
    { class: 'plain' },
    attestations.map(({ type, uid, blockTime }) => {
      const time = readTime(blockTime);
      return el('li', {}, [
        `${toSentence(readText(type)).replace('.', '')}: ${time === '' ? 'not on chain' : `on chain since ${formatTime(time)}`}`,
        el('br'),
        el('code', {}, readText(uid)),
      ]);
    }),
  );
}

function renderPassed(checks: readonly Fields[]): MarkupElement {
  return el('details', {}, [el('summary', {}, `${checks.length} checks that agree`), renderList(checks)]);
}

function renderChecks(title: string, checks: readonly Fields[]): Markup {
  return checks.length === 0 ? null : [el('h2', {}, title), renderList(checks)];
}

function renderList(checks: readonly Fields[]): MarkupElement {
  return el(
    'ul',
    { class: 'checks' },
    checks.map(({ ok, what, field, attestation }) =>
      el('li', { class: ok === true ? 'status-win' : 'status-loss' }, [
        el('span', { 'aria-hidden': 'true' }, ok === true ? '✓ ' : '✗ '),
        el('span', { class: 'text' }, [readText(what) || `${readText(attestation)} ${readText(field)}`]),
      ]),
    ),
  );
}

function renderUnchecked(unchecked: readonly Fields[]): Markup {
  if (unchecked.length === 0) return null;
  const items = unchecked.map(({ what, reason }) => el('li', {}, toSentence(`${readText(what)}: ${readText(reason)}`)));
  return [el('h2', {}, 'Not checked'), el('ul', { class: 'plain' }, items)];
}

const CARDS: Record<AppView, (answer: Fields, now: string) => Markup> = {
  forecast: renderForecastCard,
  record: renderRecordCard,
  verification: renderVerificationCard,
};

/** What a view shows for a tool result (MCP, `CallToolResult`). @param now ISO 8601, against which steps are done or due */
export function renderResult(view: AppView, result: Fields, now: string): Markup {
  if (result.isError === true || !isFields(result.structuredContent)) return renderErrorCard(view, result);
  return CARDS[view](result.structuredContent, now);
}

/** A line in place of a result. */
export function renderLine(view: AppView, text: string): Markup {
  return [el('h1', { tabindex: -1 }, VIEW_TITLES[view]), el('p', { class: 'quiet' }, text)];
}

/** The member of a result's `_meta` with the error as data. */
const ERROR_KEY = 'bitcoin-signal-oracle/error';

/** What a rejected call said, and what can be asked without it. @param result tool result with `isError` */
function renderErrorCard(view: AppView, result: Fields): Markup {
  const error = readFields(readFields(result._meta)[ERROR_KEY]);
  const message = readText(error.message) || findLastText(result) || 'The call failed';
  return [
    el('h1', { tabindex: -1 }, VIEW_TITLES[view]),
    el('p', { class: 'lead' }, toSentence(message)),
    el('p', { class: 'quiet' }, toSentence(readText(error.suggestedAction))),
    el('p', { class: 'actions' }, view === 'record' ? null : renderCallButton('record', 'Track record', {})),
  ];
}

/** A first text may be data for a payment. */
function findLastText({ content }: Fields): string {
  return readText(readList(content).findLast(({ type }) => type === 'text')?.text);
}
