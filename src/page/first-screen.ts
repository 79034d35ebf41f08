import { DAY_MS, formatUtc, HOUR_MS } from '../forecast/day.ts';
import { getBigMoveShare, type MoveSize } from '../forecast/move.ts';
import { EMPTY_VALUE, el, formatDate, formatDayAndMonth, formatRelativeTime, formatUsd, type Markup } from './markup.ts';

/** What the first screen is drawn from, on the server and in the browser. */
export interface FirstScreenData {
  /** Days of the chosen horizon. */
  horizonDays: number;
  /** Null while unknown; `waiting` has the reason. */
  call: CallData | null;
  waiting: 'starting' | 'none' | 'loading';
  range: RangeData | null;
  /** The current price; null without one. */
  price: PriceData | null;
  /** By horizon, such as `7d`, where they are known. */
  records: Readonly<Record<string, RecordData>>;
  /** Day without a forecast, newer than the call; null where none was missed. */
  missedDate: string | null;
  /** ISO 8601. */
  now: string;
  access: AccessData;
}

/** The newest forecast, as far as its reader may see it. */
export interface CallData {
  signal: 'BUY' | 'SELL' | 'HOLD' | 'GATED';
  direction: 'UP' | 'DOWN' | null;
  /** Probability of the direction. */
  confidence: number | null;
  predictionId: string;
  status: 'PENDING' | 'WIN' | 'LOSS' | 'HOLD' | 'VOID';
  resolvesAt: string;
  attestationUid: string | null;
}

/** Ranges around the price at signal time and sizes of the move, without direction. */
export interface RangeData {
  date: string;
  btcPrice: number;
  /** Signal time. */
  timestamp: string;
  horizons?: readonly HorizonRange[] | undefined;
}

interface HorizonRange {
  horizon: string;
  ranges: readonly { share: number; low: number; high: number }[];
  moveSize: MoveSize | null;
  /** P(big move), up or down. */
  pBig: number | null;
  resolvesAt: string;
  attestedAt: string | null;
}

interface PriceData {
  price: number | null;
  timestamp: string | null;
}

/** Figures of a horizon's record. Shares 0 to 1. */
export interface RecordData {
  resolved: number;
  holds: number;
  wins: number;
  accuracy: number | null;
  accuracyInterval95: { low: number; high: number } | null;
  alwaysUpAccuracy: number | null;
  /** Scored calls whose windows do not overlap. */
  dedupedTotal: number;
  /** Accuracy minus that of always UP, with its 95 % interval; null without calls. */
  difference: { value: number; low: number | null; high: number | null } | null;
  /** Big moves on the resolved days of each size. */
  bySize: readonly { moveSize: MoveSize; n: number; bigShare: number | null }[];
}

/** What the reader of the page has access to. */
export interface AccessData {
  /** Null when anonymous. */
  tier: string | null;
  /** The session has expired. */
  hasEnded: boolean;
  /** Requirement of the Basic tier, for a wallet that no longer meets it. */
  needed: string;
  /** Usual share of rises over the horizon, with the days that it was measured on; null while unknown. */
  usual: UsualShare | null;
  /** The central 80 % of the forecast itself, for Premium. */
  own: Record<'low' | 'median' | 'high', number> | null;
  /** Sentence on SELL calls, for a SELL. */
  sellNote: string | null;
  /** Why the call could not be loaded. */
  problem: string | null;
  /** Until when a call that was bought is the newest; null for others. ISO 8601. */
  boughtUntil: string | null;
}

interface UsualShare {
  up: number;
  days: number;
}

/** Of a reader without a session. */
export const PUBLIC_ACCESS: AccessData = {
  tier: null,
  hasEnded: false,
  needed: '',
  usual: null,
  own: null,
  sellNote: null,
  problem: null,
  boughtUntil: null,
};

/** What the server has drawn the page from: the answers of a caller without access, by horizon where they have one. */
export interface InitialData {
  signals: Readonly<Record<string, CallData>>;
  range: RangeData | null;
  price: PriceData | null;
  records: Readonly<Record<string, RecordData>>;
  missedDate: string | null;
  now: string;
}

interface RecordAnswer {
  summary: Omit<RecordData, 'difference' | 'bySize'>;
  statistics: { calls: { alwaysUp: { difference: NonNullable<RecordData['difference']> } | null } };
  moveSkill: Pick<RecordData, 'bySize'>;
}

export function toRecordData({ summary, statistics: { calls }, moveSkill }: RecordAnswer): RecordData {
  const { resolved, holds, wins, accuracy, accuracyInterval95, alwaysUpAccuracy, dedupedTotal } = summary;
  const difference = calls.alwaysUp?.difference ?? null;
  const bySize = moveSkill.bySize.map(({ moveSize, n, bigShare }) => ({ moveSize, n, bigShare }));
  return { resolved, holds, wins, accuracy, accuracyInterval95, alwaysUpAccuracy, dedupedTotal, difference, bySize };
}

/** `59 %` for 0.594, with a no-break space. */
function formatWholePercent(share: number): string {
  return `${Math.round(100 * share)}\u00a0%`;
}

/** Further right the price stands on the left of its dot. */
const LAST_LABEL_X = 60;

/** Expected range of the price over all horizons; the bands are stretched to the width, the texts are not. */
export function renderFan({ range, price, horizonDays, access }: FirstScreenData): Markup {
  const own = access.own;
  const fan = range === null ? null : computeFan(range, price, own === null ? [] : [own.low, own.high]);
  if (fan === null) return el('svg', { class: 'fan', 'aria-hidden': 'true' });
  const { start, toY } = fan;
  const end = fan.ends.find(({ horizon }) => horizon === `${horizonDays}d`);
  const sizes = fan.ends.map(({ horizon, size }) => (size === null ? '' : `, ${horizon} ${size}`)).join('');
  const label = `Expected range of the price 1, 2, 3 and 7 days ahead, without direction: 50, 80 and 90 % bands around the price at signal time. Size of the move by its horizon${sizes}`;
  return el('svg', { class: 'fan', role: 'img', 'aria-label': label }, [
    renderBands(fan, own === null || end === undefined ? [] : [start, { x: end.x, y: toY(own.high) }, { x: end.x, y: toY(own.low) }]),
    renderPriceAxis(fan),
    renderDateAxis(fan),
    end === undefined ? null : el('line', { class: 'fan-chosen', x1: percent(end.x), x2: percent(end.x), y1: '0%', y2: '100%' }),
    renderBandLabels(fan),
    own === null || end === undefined
      ? null
      : el('circle', { class: 'fan-median', cx: percent(end.x), cy: percent(toY(own.median)), r: 4 }),
    fan.now === null ? null : renderNow(fan.now, price?.price ?? 0),
  ]);
}

/** The bands, and over them the central 80 % of the forecast itself. */
function renderBands({ bands }: FanGeometry, own: readonly Point[]): Markup {
  const viewBox = `0 0 ${FAN_SIZE} ${FAN_SIZE}`;
  return el('svg', { viewBox, preserveAspectRatio: 'none', width: '100%', height: '100%' }, [
    bands.map(({ share, points }) =>
      el('polygon', { class: `fan-band fan-${Math.round(100 * share)}`, points: points.map(formatPoint).join(' ') }),
    ),
    own.length > 0 && el('polygon', { class: 'fan-own', points: own.map(formatPoint).join(' ') }),
  ]);
}

/** Left of the plot. */
function renderPriceAxis({ ticks }: FanGeometry): Markup {
  return ticks.map(({ price, y }) => [
    el('line', { class: 'fan-grid', x1: '0%', x2: '100%', y1: percent(y), y2: percent(y) }),
    el('text', { x: '0', y: percent(y), dx: -8, dy: '0.35em', 'text-anchor': 'end' }, formatUsd(price)),
  ]);
}

/** Below the plot: the day of the signal, and those on which windows end; the month stands where it changes, and at the end. */
function renderDateAxis({ ends, date }: FanGeometry): Markup {
  return [{ x: 0, date }, ...ends].map(({ x, date: day }, index, all) => {
    const isPlain = index > 0 && index < all.length - 1 && day.slice(0, 7) === all[index - 1]?.date.slice(0, 7);
    const text = isPlain ? String(Number(day.slice(8))) : formatDayAndMonth(day);
    const side = index === 0 ? { dx: 12, 'text-anchor': 'end' } : { 'text-anchor': index < all.length - 1 ? 'middle' : 'end' };
    return el('text', { x: percent(x), y: '100%', dy: '1.3em', ...side }, text);
  });
}

/** At the right end, below the upper edge of each band. */
function renderBandLabels({ bands }: FanGeometry): Markup {
  return bands.map(({ share, upper }) =>
    el('text', { class: 'fan-share', x: '100%', y: percent(upper), dx: -5, dy: '1.05em', 'text-anchor': 'end' }, formatWholePercent(share)),
  );
}

function renderNow({ x, y }: Point, price: number): Markup {
  const side = x < LAST_LABEL_X ? { dx: 9, dy: '0.35em' } : { dx: -9, dy: '0.35em', 'text-anchor': 'end' };
  return [
    el('line', { class: 'fan-grid', x1: percent(x), x2: percent(x), y1: '0%', y2: '100%' }),
    el('circle', { class: 'fan-now', cx: percent(x), cy: percent(y), r: 5 }),
    el('text', { class: 'fan-price', x: percent(x), y: percent(y), ...side }, `now ${formatUsd(price)}`),
  ];
}

/** What each mark of the fan is. */
function renderLegend({ range, price, access }: FirstScreenData): Markup {
  const fan = range === null ? null : computeFan(range, price);
  if (fan === null) return null;
  const entries = [
    ['mark-band', 'likely price'],
    fan.now !== null && ['mark-now', 'now'],
    ['mark-chosen', 'chosen day'],
    access.own !== null && ['mark-own-band', '80\u00a0% of this forecast, and its median'],
  ];
  return el(
    'ul',
    { class: 'legend' },
    entries.map((entry) => entry && el('li', {}, el('span', { class: `mark ${entry[0]}`, 'aria-hidden': 'true' }), entry[1])),
  );
}

function formatPoint({ x, y }: Point): string {
  return `${round(x)},${round(y)}`;
}

function percent(value: number): string {
  return `${round(value)}%`;
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}

/** The fan in a box of 100 by 100: time to the right from the signal to the end of the longest window, price upwards. */
interface FanGeometry {
  /** Widest first, as they are drawn. */
  bands: readonly { share: number; points: readonly Point[]; upper: number }[];
  start: Point;
  /** UTC date of the signal. */
  date: string;
  ends: readonly { horizon: string; x: number; date: string; size: string | null }[];
  now: Point | null;
  ticks: readonly { price: number; y: number }[];
  toY(price: number): number;
}

export interface Point {
  x: number;
  y: number;
}

export const FAN_SIZE = 100;
/** Above the highest and below the lowest mark, as a share of the height. */
const MARGIN_SHARE = 0.06;
/** First digits of the distance between two ticks. */
const STEPS = [1, 2, 2.5, 5, 10];
const MAX_TICKS = 5;

/** @param marks further prices to make room for. Null without ranges. */
export function computeFan(range: RangeData, price: PriceData | null, marks: readonly number[] = []): FanGeometry | null {
  const horizons = range.horizons ?? [];
  const last = horizons.at(-1);
  if (last === undefined) return null;
  const startMs = Date.parse(range.timestamp);
  const spanMs = Date.parse(last.resolvesAt) - startMs;
  const toX = (time: string) => clamp((FAN_SIZE * (Date.parse(time) - startMs)) / spanMs);
  const current = findCurrent(price, last.resolvesAt);
  const bounds = horizons.flatMap(({ ranges }) => ranges.flatMap(({ low, high }) => [low, high]));
  const toY = createPriceScale([...bounds, range.btcPrice, ...(current === null ? [] : [current.price]), ...marks]);
  const start = { x: 0, y: toY(range.btcPrice) };
  const shares = last.ranges.map(({ share }) => share).toSorted((a, b) => b - a);
  return {
    bands: shares.map((share) => {
      const ends = horizons.flatMap(({ ranges, resolvesAt }) => {
        const found = ranges.find((one) => one.share === share);
        return found === undefined ? [] : [{ x: toX(resolvesAt), top: toY(found.high), bottom: toY(found.low) }];
      });
      const above = ends.map(({ x, top }) => ({ x, y: top }));
      const below = ends.map(({ x, bottom }) => ({ x, y: bottom })).toReversed();
      return { share, points: [start, ...above, ...below], upper: above.at(-1)?.y ?? start.y };
    }),
    start,
    date: range.date,
    ends: horizons.map(({ horizon, resolvesAt, moveSize }) => ({
      ...{ horizon, x: toX(resolvesAt), date: resolvesAt.slice(0, 10), size: formatSize(moveSize) },
    })),
    now: current === null ? null : { x: toX(current.timestamp), y: toY(current.price) },
    ticks: listTicks(Math.min(...bounds), Math.max(...bounds), MAX_TICKS).map((tick) => ({ price: tick, y: toY(tick) })),
    toY,
  };
}

/** A price of after the last window, as during a replay, is not on the fan. */
function findCurrent(price: PriceData | null, end: string): { price: number; timestamp: string } | null {
  if (price === null || price.price === null || price.timestamp === null) return null;
  return Date.parse(price.timestamp) > Date.parse(end) ? null : { price: price.price, timestamp: price.timestamp };
}

function createPriceScale(prices: readonly number[]): (price: number) => number {
  const [least, most] = [Math.min(...prices), Math.max(...prices)];
  const room = (most - least || 1) * MARGIN_SHARE;
  const [bottom, top] = [least - room, most + room];
  return (price) => clamp((FAN_SIZE * (top - price)) / (top - bottom));
}

/** Round values between two, about `count` of them. */
export function listTicks(least: number, most: number, count: number): number[] {
  const rough = (most - least || 1) / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = STEPS.map((digit) => digit * unit).find((candidate) => candidate >= rough) ?? rough;
  const first = Math.ceil(least / step);
  const last = Math.floor(most / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
}

function clamp(value: number): number {
  return Math.min(FAN_SIZE, Math.max(0, value));
}

/** 21:35 UTC. */
const SIGNAL_HOURS = 21 + 35 / 60;

const WAITING_TEXTS = { starting: 'The service is starting', none: 'No forecast yet', loading: 'Loading…' } as const;
const OUTCOME_TEXTS = { WIN: 'Right', LOSS: 'Wrong', HOLD: 'HOLD, not scored' } as const;

/** State of the newest forecast in one line. */
export function formatStateLine({ call, waiting, range, horizonDays, now, access }: FirstScreenData): string {
  if (call === null) return WAITING_TEXTS[waiting];
  const { status, resolvesAt, attestationUid } = call;
  if (status === 'VOID') return 'Void: committed too late, never counts';
  // A reader of the call has its HOLD before the window ends.
  const isOpen = status === 'PENDING' || (status === 'HOLD' && resolvesAt.slice(0, 10) > now.slice(0, 10));
  if (!isOpen) return `Revealed ${formatDayAndMonth(resolvesAt)}: ${OUTCOME_TEXTS[status]}`;
  const attestedAt = range?.horizons?.find(({ horizon }) => horizon === `${horizonDays}d`)?.attestedAt ?? null;
  const isSameDay = range !== null && call.predictionId.startsWith(range.date);
  const committed = attestedAt !== null && isSameDay ? `committed on chain at ${attestedAt.slice(11, 16)} UTC` : 'committed on chain';
  const reveal = `${access.tier === null && access.boughtUntil === null ? 'revealed' : 'public'} on ${formatDayAndMonth(resolvesAt)}`;
  const bought = access.boughtUntil === null ? '' : `Bought; the newest until ${formatUtc(access.boughtUntil)}. `;
  return `${bought}Up or down: ${attestationUid === null ? 'not yet on chain' : committed}, ${reveal}`;
}

/** What the reader has to know beside it: a missed day, lost access, a SELL. */
export function formatNote({ call, missedDate, access }: FirstScreenData): string {
  if (access.problem !== null && call === null) return access.problem;
  if (missedDate !== null) return `No forecast on ${formatDayAndMonth(missedDate)}: the day is void.`;
  if (call?.signal === 'GATED' && access.tier !== null) return `The wallet no longer holds ${access.needed}.`;
  if (call?.signal === 'SELL' && access.sellNote !== null) return access.sellNote;
  return '';
}

/** Share of the range that is printed. */
const PRINTED_SHARE = 0.8;
/** With fewer resolved days of a size, the forecast's own probability says more than their share. */
const MIN_DAYS_OF_SIZE = 20;

/** Parts that are redrawn alone, each in an element whose height is reserved. The choice of the horizon is none: it is drawn once. */
export const FIRST_SCREEN_PARTS = {
  // The horizon at which the size has most skill comes first, whatever is chosen.
  tomorrow: (data) => (isFirstDay(data) ? renderFirstCountdown(data) : renderHorizon(data, 1)),
  chosen: (data) => (isFirstDay(data) ? renderFirstSteps(data) : data.horizonDays === 1 ? null : renderHorizon(data, data.horizonDays)),
  call: renderCall,
  record: renderRecord,
  actions: renderActions,
  note: formatNote,
  fan: renderFan,
  legend: renderLegend,
} as const satisfies Record<string, (data: FirstScreenData) => Markup>;

export type FirstScreenPart = keyof typeof FIRST_SCREEN_PARTS;

/** The size of the move, how often one as large came on such days, and the range: of the forecast itself where the reader may see it. */
function renderHorizon({ range, horizonDays, records, now, access }: FirstScreenData, days: number): Markup {
  const found = range?.horizons?.find(({ horizon }) => horizon === `${days}d`);
  const central = found?.ranges.find(({ share }) => share === PRINTED_SHARE);
  if (found === undefined || central === undefined) return el('strong', {}, days === 1 ? EMPTY_VALUE : null);
  const { moveSize, resolvesAt } = found;
  const { low, high } = (days === horizonDays && access.own) || central;
  return [
    el('strong', {}, [formatWindow(resolvesAt, days, now.slice(0, 10)), moveSize !== null && `: ${formatSize(moveSize)}`]),
    ' ',
    el(
      'span',
      {},
      `${formatUsd(low)}–${formatUsd(high)} by ${formatDayAndMonth(resolvesAt)} (${formatWholePercent(PRINTED_SHARE)} likely)`,
    ),
    ' ',
    el('span', {}, formatBigMove(found, days, records[`${days}d`])),
  ];
}

/** The window by its name while it is the current one. */
function formatWindow(resolvesAt: string, days: number, today: string): string {
  const opens = new Date(Date.parse(resolvesAt) - days * DAY_MS).toISOString();
  const daysAhead = (Date.parse(opens) - Date.parse(today)) / DAY_MS;
  if (days === 1) return daysAhead === 1 ? 'Tomorrow' : daysAhead === 0 ? 'Today' : formatDayAndMonth(opens);
  return days === 7 && daysAhead <= 1 && daysAhead > -days ? 'This week' : `${days} days to ${formatDayAndMonth(resolvesAt)}`;
}

function formatBigMove({ moveSize, pBig }: HorizonRange, days: number, record: RecordData | undefined): string {
  if (pBig === null) return '';
  const move = `over ${formatWholePercent(getBigMoveShare(days))}`;
  const known = record?.bySize.find((one) => one.moveSize === moveSize);
  if (known === undefined || known.bigShare === null || known.n < MIN_DAYS_OF_SIZE)
    return `${formatWholePercent(pBig)} likely to move ${move}`;
  return `${formatWholePercent(known.bigShare)} of ${known.n} such days moved ${move}`;
}

function formatSize(moveSize: MoveSize | null): string | null {
  return moveSize?.toLowerCase() ?? null;
}

function renderCall(data: FirstScreenData): Markup {
  if (isFirstDay(data)) return null;
  const verdict = data.call === null ? null : judgeCall(data.call, data.horizonDays, data.access.usual);
  const state = formatStateLine(data);
  if (verdict === null) return el('p', { title: 'Times are UTC' }, el('span', { class: 'seal', 'aria-hidden': 'true' }), state);
  const { claim, comparison, tone } = verdict;
  return [
    el('p', {}, [el('strong', { class: tone === 'plain' ? null : tone }, claim), comparison === null ? null : ` – ${comparison}`]),
    el('p', { class: 'quiet', title: 'Times are UTC' }, state),
  ];
}

function renderRecord(data: FirstScreenData): Markup {
  const record = data.records[`${data.horizonDays}d`];
  if (isFirstDay(data)) {
    return [
      'No outcome yet, so nothing is claimed. On recorded history the direction had no skill, the size of the move had: ',
      el('a', { href: 'documents/model' }, 'model card'),
    ];
  }
  return record === undefined ? null : formatRecordLine(record);
}

function renderActions(data: FirstScreenData): Markup {
  const { tier, hasEnded, boughtUntil } = data.access;
  if (isFirstDay(data)) return FIRST_DAY_LINKS.map(([href, text]) => el('a', { href }, text));
  const dialog = { 'data-do': 'buy', 'aria-haspopup': 'dialog' };
  return [
    el('a', { class: 'first-check', href: '#attestations', 'data-do': 'check' }, 'Check everything'),
    tier === null && [
      el('button', { type: 'button', 'data-do': 'unlock', 'aria-haspopup': 'dialog' }, hasEnded ? 'Unlock again' : 'Unlock'),
      el('a', { href: 'docs#/signal/buySignal', ...dialog }, boughtUntil === null ? 'Buy' : 'Receipt'),
    ],
  ];
}

/** Where the service can be looked at before there is a forecast. */
const FIRST_DAY_LINKS = [
  ['api/status', 'Status'],
  ['api/self-test/status', 'Self-tests'],
  ['#feeds', 'Market data'],
  ['verify', 'How to check it'],
  ['api/svc/open/calendar.ics', 'Calendar'],
] as const;

/** The service runs, and has never made a forecast. */
function isFirstDay({ call, range, waiting }: FirstScreenData): boolean {
  return waiting === 'none' && call === null && range === null;
}

/** Steps of the first day: hours after 00:00 UTC of the day of the signal. */
const FIRST_STEPS = [
  [SIGNAL_HOURS, 'The price in 1, 2, 3 and 7 days is forecast'],
  [21 + 38 / 60, 'All four are committed on chain, before anything is known of them'],
  [24, 'The outcome windows open'],
  [48, 'The first outcome is known, and its forecast revealed'],
  [192, 'The first 7-day outcome is known'],
] as const;

function renderFirstCountdown(data: FirstScreenData): Markup {
  const at = addHours(data.now, SIGNAL_HOURS);
  const isDue = at <= data.now;
  return [
    el('strong', {}, isDue ? 'The first forecast is due' : 'The first forecast comes at 21:35 UTC'),
    ' ',
    el('span', {}, isDue ? 'It is made as soon as there is a fresh price: Status says what it waits for.' : renderCountdown(at, data.now)),
  ];
}

function renderFirstSteps({ now }: FirstScreenData): Markup {
  const steps = FIRST_STEPS.map(([hours, text]) => {
    const at = addHours(now, hours);
    const when = `${formatDayAndMonth(at)}, ${at.slice(11, 16)}`;
    return el('li', {}, el('span', {}, when), ' ', el('span', {}, `${text}, `, renderCountdown(at, now)));
  });
  return el('ol', { class: 'first-steps', title: 'Times are UTC' }, steps);
}

/** The script keeps it current. */
function renderCountdown(at: string, now: string): Markup {
  return el('time', { class: 'ago', datetime: at, title: formatUtc(at) }, formatRelativeTime(at, Date.parse(now)));
}

/** @param now ISO 8601, whose UTC day counts */
function addHours(now: string, hours: number): string {
  return new Date(Date.parse(now.slice(0, 10)) + hours * HOUR_MS).toISOString();
}

interface CallVerdict {
  /** `UP 59 %`; led by the signal where it holds more than the usual share. */
  claim: string;
  /** `usual 60 %: no edge`; null while the usual share is unknown. */
  comparison: string | null;
  tone: 'good' | 'bad' | 'plain';
}

/** Two-sided 95 %. */
const Z95 = 1.96;
/** Arrows, as colour alone would not be accessible. */
const SIGNS = { BUY: '▲', SELL: '▼' } as const;

/** What the call says beside the usual share of its direction. Null for a call that is hidden. */
export function judgeCall(
  { signal, direction, confidence }: Pick<CallData, 'signal' | 'direction' | 'confidence'>,
  horizonDays: number,
  usual: UsualShare | null,
): CallVerdict | null {
  if (signal === 'GATED' || direction === null || confidence === null) return null;
  const claim = `${direction} ${formatWholePercent(confidence)}`;
  const held = signal === 'HOLD' ? `HOLD, ${claim}` : claim;
  if (usual === null) return { claim: held, comparison: null, tone: 'plain' };
  const share = direction === 'UP' ? usual.up : 1 - usual.up;
  const comparison = `usual ${formatWholePercent(share)}`;
  // The 95 % interval of the usual share, measured on windows that do not overlap.
  const windows = usual.days / horizonDays;
  const isAboveUsual = windows > 0 && confidence > share + Z95 * Math.sqrt((share * (1 - share)) / windows);
  if (!isAboveUsual) return { claim: held, comparison: `${comparison}: no edge`, tone: 'plain' };
  if (signal === 'HOLD') return { claim: held, comparison, tone: 'plain' };
  return { claim: `${SIGNS[signal]} ${signal}, ${claim}`, comparison, tone: signal === 'BUY' ? 'good' : 'bad' };
}

/** Horizons that the page can show, in days. */
export const SELECTABLE_HORIZONS: readonly number[] = [1, 2, 3, 7];
export const DEFAULT_HORIZON_DAYS = 7;

/** With fewer calls whose windows do not overlap, a percentage would mislead. */
const MIN_CALLS = 5;

/** The record in one line: its accuracy with its interval, beside always UP on the same calls. */
export function formatRecordLine(record: RecordData): string {
  const { resolved, holds, wins, accuracy, accuracyInterval95: interval, alwaysUpAccuracy, dedupedTotal } = record;
  if (resolved === 0 || accuracy === null) return holds === 0 ? 'No outcome yet' : `No call yet: all ${holds} outcomes were HOLD`;
  if (dedupedTotal < MIN_CALLS || interval === null || alwaysUpAccuracy === null)
    return `${wins} of ${resolved} calls were right: too few to say`;
  const [low, high] = [interval.low, interval.high].map((share) => Math.round(100 * share));
  const always = `always saying UP, ${formatWholePercent(alwaysUpAccuracy)}`;
  return `${formatWholePercent(accuracy)} of ${resolved} calls were right (95\u00a0% interval ${low} to ${high}\u00a0%); ${always}: ${judgeRecord(record)}`;
}

/** Calls that were all UP are always UP itself; else the interval of the difference decides, and without one that of the accuracy. */
export function judgeRecord({ accuracy, accuracyInterval95: interval, alwaysUpAccuracy, difference }: RecordData) {
  if (difference !== null && difference.low !== null && difference.high !== null) {
    if (difference.low > 0) return 'better';
    return difference.high < 0 ? 'worse' : 'no skill shown';
  }
  if (accuracy === null || interval === null || alwaysUpAccuracy === null) return 'too few to say';
  return interval.low <= alwaysUpAccuracy && alwaysUpAccuracy <= interval.high ? 'no skill shown' : 'too few to say';
}

const ORIGINS = {
  simulated: { mark: 'Simulated market', caution: ': no evidence of skill' },
  csv: { mark: 'Recorded history', caution: ': not the current market' },
  live: { mark: 'Live market data', caution: '' },
};

export type OriginKind = keyof typeof ORIGINS;

/** What the prices are, and what they are not evidence of. */
export function renderOriginMark(kind: OriginKind, { isStale }: { isStale: boolean }): Markup {
  const { mark, caution } = ORIGINS[kind];
  return [el('strong', {}, mark), kind === 'live' && isStale ? ': the newest price is stale' : caution];
}

/** "Today's forecast" until the next one is made; one of an earlier day, as during a replay, is titled by its date. */
export function formatTodayTitle(call: Pick<CallData, 'predictionId'> | null, nowMs: number): string {
  const date = call?.predictionId.slice(0, 10);
  if (date === undefined || date >= new Date(nowMs - DAY_MS).toISOString().slice(0, 10)) return "Today's forecast";
  return `Forecast of ${formatDate(date)}`;
}

/** The first screen as every reader gets it first: without access. @param initial null while the service starts */
export function toInitialScreen(initial: InitialData | null, horizonDays: number): FirstScreenData {
  const call = initial?.signals[`${horizonDays}d`] ?? null;
  return {
    horizonDays,
    call,
    waiting: initial === null ? 'starting' : 'none',
    range: initial?.range ?? null,
    price: initial?.price ?? null,
    records: initial?.records ?? {},
    missedDate: initial?.missedDate ?? null,
    now: initial?.now ?? '',
    access: PUBLIC_ACCESS,
  };
}
