import { formatUtc } from '../forecast/day.ts';
import { type ForecastStateName, formatTime, getStateMark, listSteps, renderSteps, STATE_LABELS } from './forecast.ts';
import { el, formatDate, formatDayAndMonth, formatUsd, type Markup, type MarkupElement } from './markup.ts';
import { drawLine, formatBigMove, formatInterval, formatShare, type Interval } from './widget.ts';

/** A button that calls the tool of a view through the host. */
function renderCallButton(view: AppView, label: Markup, input: Readonly<Record<string, string>>): MarkupElement {
  return el('button', { type: 'button', 'data-view': view, 'data-tool': VIEW_TOOLS[view], 'data-input': JSON.stringify(input) }, label);
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

function renderState(state: AnsweredState): MarkupElement {
  const label = state === 'pending' ? 'Pending' : STATE_LABELS[state];
  return el('span', { class: `state ${getStateMark(state === 'pending' ? 'committed' : state)}` }, label);
}

/** Members of an answer. Its length depends on the call, so each is read as possibly missing. */
export type Fields = Readonly<Record<string, unknown>>;

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
  const span = interval === null ? '' : ` (${formatInterval(interval)})`;
  return [{ label, text: `${formatShare(value)}${n === null ? '' : ` of ${n}`}${span}`, domain: SHARES, interval, value, reference }];
}

/** The share of right calls with its interval, against always saying UP; nothing before the first outcome. */
function renderCallFigures({ accuracy, alwaysUpAccuracy }: Fields, interval95: unknown): Markup {
  const [value, interval, reference] = [readNumber(accuracy), readInterval(interval95), readNumber(alwaysUpAccuracy)];
  if (value === null) return null;
  const text = `${formatShare(value)}${interval === null ? '' : `, 95 % interval ${formatInterval(interval)}`}`;
  return [
    renderRows([{ label: 'Right calls', text, domain: SHARES, interval, value, reference }]),
    reference === null ? null : el('p', { class: 'quiet' }, `Dashed: always saying UP, ${formatShare(reference)}`),
  ];
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
  const items = rows.map((row) =>
    el('div', {}, [el('dt', {}, row.label), el('dd', { class: 'drawn' }, drawRow(row)), el('dd', {}, row.text)]),
  );
  return rows.length === 0 ? null : el('dl', { class: 'rows' }, items);
}

function drawRow({ domain, interval = null, value = null, reference = null, isRange = false }: DrawnRow): MarkupElement {
  const toX = (at: number) => {
    const share = domain.high === domain.low ? 0.5 : (at - domain.low) / (domain.high - domain.low);
    return Math.round(10 * WIDTH * Math.min(1, Math.max(0, share))) / 10;
  };
  const ends = interval === null ? [] : [toX(interval.low), toX(interval.high)];
  return el('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, height: HEIGHT, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, [
    drawLine('axis', [0, MIDDLE], [WIDTH, MIDDLE]),
    interval !== null &&
      (isRange
        ? el('rect', { class: 'range', x: ends[0], y: 3, width: Math.round(10 * (ends[1] - ends[0])) / 10, height: HEIGHT - 6 })
        : drawLine('interval', [ends[0], MIDDLE], [ends[1], MIDDLE])),
    !isRange && ends.map((x) => drawLine('interval', [x, MIDDLE - 4], [x, MIDDLE + 4])),
    reference === null ? null : drawLine('reference', [toX(reference), 0], [toX(reference), HEIGHT]),
    value === null ? null : drawLine('value', [toX(value), MIDDLE], [toX(value), MIDDLE]),
  ]);
}

/** Differences from a reference that can be drawn around zero; empty before the first outcome. */
function listScoreRows(statistics: Fields): DrawnRow[] {
  const { brierDifference, probabilities, distribution } = statistics;
  const found = [
    toDifferenceRow('Brier score', brierDifference, 'mean') ??
      toDifferenceRow('Brier skill', readFields(probabilities).climatologySkill, 'value'),
    toDifferenceRow('CRPS skill', readFields(distribution).crpsSkill ?? statistics.crpsSkill, 'value'),
  ];
  return found.filter((row) => row !== null);
}

/** @param name `mean` of a score, which is better below zero, or `value` of a skill, which is better above */
function toDifferenceRow(label: string, fields: unknown, name: 'mean' | 'value'): DrawnRow | null {
  const [value, interval] = [readNumber(readFields(fields)[name]), readInterval(fields)];
  if (value === null) return null;
  const reach = 1.1 * Math.max(...[value, interval?.low ?? 0, interval?.high ?? 0].map(Math.abs), Number.EPSILON);
  const span = interval === null ? '' : ` (${format(interval.low)} to ${format(interval.high)})`;
  const text = `${format(value)}${span}: ${judge(interval, name === 'mean' ? -1 : 1)}`;
  return { label, text, domain: { low: -reach, high: reach }, interval, value, reference: 0 };
}

/** A difference counts as proven only where its whole interval lies on one side of zero. @param better sign in favour of the model */
function judge(interval: Interval | null, better: 1 | -1): string {
  if (interval === null || (interval.low <= 0 && interval.high >= 0)) return 'not proven';
  return Math.sign(interval.low) === better ? 'better' : 'worse';
}

function format(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

/** Central ranges of the price at the end, widest last, each with the probability of an end within; empty for an answer without any. */
function listPriceRanges({ range, ranges }: Fields) {
  const found = [readFields(range), ...readList(ranges)].flatMap((fields) => {
    const [interval, share] = [readInterval(fields), readNumber(fields.share)];
    return interval === null || share === null || share <= 0 || share >= 1 ? [] : [{ share, ...interval }];
  });
  return found.toSorted((a, b) => a.share - b.share);
}

const HORIZONS = ['1d', '2d', '3d', '7d'];

/** The newest forecast of a horizon, with as much of it as the answer has. @param now ISO 8601 */
function renderForecastCard(answer: Fields, now: string): Markup {
  const [horizon, predictionId] = [readText(answer.horizon), readText(answer.predictionId)];
  return [
    renderTitle(answer, now),
    renderMove(answer),
    renderRanges(answer),
    el('h2', {}, 'Direction, no proven skill'),
    renderCall(answer),
    renderRows(listProbabilityRows(answer)),
    renderTimes(answer, now),
    renderWays(readList(answer.ways)),
    renderRecord(answer),
    renderNotes(answer),
    el('p', { class: 'actions' }, [
      predictionId !== '' && renderCallButton('verification', 'Check it on chain', { predictionId }),
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

/** What has skill comes first. */
function renderMove({ moveSize, pBig, horizon, moveVerdict }: Fields): Markup {
  const [size, share] = [readText(moveSize), readNumber(pBig)];
  if (size === '' || share === null) return null;
  return [
    el('p', { class: 'lead' }, [el('strong', {}, size), ` move: ${formatShare(share)} for one beyond ${formatBigMove(readText(horizon))}`]),
    renderMoveVerdict(moveVerdict),
  ];
}

function renderMoveVerdict(verdict: unknown): Markup {
  const text = toSentence(readText(verdict));
  return text === '' ? null : el('p', { class: 'quiet' }, text);
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
  return [{ label: 'P(up)', text: `${(100 * value).toFixed(1)} %; dashed: 50 %`, domain: SHARES, value, reference: 0.5 }];
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
    ['pending', 'forming', 'committed', 'ended'].includes(state) &&
      el('p', { class: 'quiet' }, 'Revealed to everyone once its outcome is on chain, after the window ends.'),
  ];
}

function toStep(time: unknown) {
  const at = readTime(time);
  return at === '' ? null : { at, explorerUrl: null };
}

function renderRecord(answer: Fields): Markup {
  const skill = readFields(answer.skill);
  const [text, figures] = [toSentence(readText(skill.verdict)), renderCallFigures(skill, skill.interval95)];
  if (text === '' && figures === null) return null;
  const count = readNumber(skill.scored);
  const of = count === null ? '' : `, ${count} ${count === 1 ? 'call' : 'calls'}`;
  return [
    el('h2', {}, `Record over ${formatHorizon(readText(answer.horizon))}${of}`),
    figures,
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

/** The record of a horizon, with as much of it as the answer has. */
function renderRecordCard(answer: Fields): Markup {
  const filters = readFields(answer.filters);
  const statistics = readFields(answer.statistics);
  const horizon = readText(filters.horizon) || readText(answer.horizon);
  return [
    el('h1', { tabindex: -1 }, `Record of forecasts over ${formatHorizon(horizon)}`),
    renderSelection(filters, readTime(answer.asOf)),
    renderWholeRecordMove(answer),
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
      renderHorizonButtons('record', HORIZONS, horizon),
      renderCallButton('forecast', 'Newest forecast', { horizon }),
    ]),
  ];
}

/** Of all forecasts of the horizon, whatever is selected. */
function renderWholeRecordMove({ moveVerdict }: Fields): Markup {
  const verdict = renderMoveVerdict(moveVerdict);
  return verdict === null ? null : [el('h2', {}, 'Size of the move, whole record'), verdict];
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
  return renderCallButton('record', 'Reliability', { ...input, form: 'full' });
}

function renderCalls(statistics: Fields): Markup {
  const [wins, resolved] = [readNumber(statistics.wins), readNumber(statistics.resolved)];
  const verdict = toSentence(readText(statistics.verdict));
  return [
    wins === null || resolved === null || resolved === 0
      ? null
      : el('p', { class: 'lead' }, [el('strong', {}, `${wins} of ${resolved}`), ' calls right']),
    renderCallFigures(statistics, statistics.accuracyInterval95),
    verdict === '' ? null : el('p', {}, verdict),
    renderCounts(statistics),
  ];
}

function renderCounts(statistics: Fields): Markup {
  const counts = Object.entries({ holds: 'held', voids: 'void', pending: 'pending' }).flatMap(([name, label]) => {
    const count = readNumber(statistics[name]);
    return count === null ? [] : `${count} ${label}`;
  });
  return counts.length === 0 ? null : el('p', { class: 'quiet' }, `Not scored: ${counts.join(', ')}.`);
}

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
  const id = readText(predictionId);
  const checks = readList(answer.checks);
  const unchecked = readList(answer.unchecked);
  const [failed, passed] = [checks.filter(({ ok }) => ok !== true), checks.filter(({ ok }) => ok === true)];
  return [
    el('h1', { tabindex: -1 }, name === '' ? 'Forecast, checked on chain' : `Forecast of ${name}, checked on chain`),
    renderVerificationResult(answer, failed.length > 0),
    renderAttestations(readList(answer.attestations)),
    failed.length > 0 && [el('h2', {}, 'Failed'), renderChecks(failed)],
    renderUnchecked(unchecked),
    passed.length > 0 && el('details', {}, [el('summary', {}, `${passed.length} checks that agree`), renderChecks(passed)]),
    el('p', { class: 'quiet notes' }, 'It shows that the forecast was made in time and not changed, not that it is good.'),
    el('p', { class: 'actions' }, [
      // A short answer lists the checks that fail.
      checks.length + unchecked.length < (readNumber(answer.total) ?? 0) && id !== ''
        ? renderCallButton('verification', 'All checks', { predictionId: id, form: 'full' })
        : null,
      renderCallButton('record', 'Track record', readText(horizon) === '' ? {} : { horizon: readText(horizon) }),
    ]),
  ];
}

/** The verdict states how many checks agree. */
function renderVerificationResult(answer: Fields, hasFailed: boolean): Markup {
  // A forecast that is not on chain yet is not verified, though no check fails.
  const unverified = hasFailed ? ['status-loss', '✗ Not verified'] : ['status-pending', 'Not verified yet'];
  const [mark, text] = answer.verified === true ? ['status-win', '✓ Verified'] : unverified;
  return [el('p', { class: 'lead' }, el('strong', { class: mark }, text)), el('p', {}, toSentence(readText(answer.verdict)))];
}

function renderAttestations(attestations: readonly Fields[]): Markup {
  if (attestations.length === 0) return null;
  const items = attestations.map(({ type, uid, blockTime }) => {
    const time = readTime(blockTime);
    return el('li', {}, [
      `${toSentence(readText(type)).replace('.', '')}: ${time === '' ? 'not on chain' : `on chain since ${formatTime(time)}`}`,
      el('br'),
      el('code', {}, readText(uid)),
    ]);
  });
  return el('ul', { class: 'plain' }, items);
}

function renderChecks(checks: readonly Fields[]): MarkupElement {
  const items = checks.map(({ ok, what }) =>
    el('li', { class: ok === true ? 'status-win' : 'status-loss' }, [
      el('span', { 'aria-hidden': 'true' }, ok === true ? '✓ ' : '✗ '),
      el('span', { class: 'text' }, readText(what)),
    ]),
  );
  return el('ul', { class: 'checks' }, items);
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

/** The member of a result's `_meta` with the error as data. */
const ERROR_KEY = 'bitcoin-signal-oracle/error';

/** What a rejected call said, and what can be asked without it. @param result tool result with `isError` */
function renderErrorCard(view: AppView, result: Fields): Markup {
  const error = readFields(readFields(result._meta)[ERROR_KEY]);
  // A first text may be data for a payment.
  const lastText = readList(result.content).findLast(({ type }) => type === 'text')?.text;
  const message = readText(error.message) || readText(lastText) || 'The call failed';
  return [
    el('h1', { tabindex: -1 }, VIEW_TITLES[view]),
    el('p', { class: 'lead' }, toSentence(message)),
    el('p', { class: 'quiet' }, toSentence(readText(error.suggestedAction))),
    el('p', { class: 'actions' }, view === 'record' ? null : renderCallButton('record', 'Track record', {})),
  ];
}
