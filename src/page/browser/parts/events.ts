import { el, formatDayAndMonth, formatPercent, formatRegime, formatUsd } from '../../markup.ts';
import { ApiProblem, requestApi, type Session } from '../api.ts';
import { createRelativeTime, formatHorizon, formatSignedPercent, truncate } from '../dom.ts';
import type { AttestationHistory, EventName, EventPayload } from '../responses.ts';
import type { Page } from '../state.ts';
import { createDialogButton, UNLOCK_EVENT } from '../unlock.ts';
import { draw } from '../view.ts';

/** Live events for a logged-in reader; otherwise the newest attestations. */
export function mountEvents({ store, session, poller }: Page, body: HTMLElement) {
  const live = new LiveEvents({ session, onChange: () => redraw(), onEvents });
  const getLastOnChain = followAttestations({ store, session, onChange: () => redraw() });

  function redraw() {
    const isLoggedIn = session.current !== null;
    const nothing = live.state === 'live' && live.events.length === 0 ? ' No events yet.' : '';
    const text = isLoggedIn ? `${live.detail} ${STATE_MESSAGES[live.state]}${nothing}`.trim() : 'Latest attestations:';
    const unlock = createDialogButton('Unlock live events', UNLOCK_EVENT, 'primary');
    // Only events after the initial list are announced by screen readers.
    const box = isLoggedIn
      ? { role: 'log', 'aria-live': live.caughtUp ? 'polite' : 'off', 'aria-label': 'Events, newest first' }
      : { role: 'region', 'aria-live': 'off', 'aria-label': 'Latest attestations, newest first' };
    const lines = isLoggedIn ? toEventLines(live.events) : getLastOnChain();
    draw(
      body,
      el('div', {}, !isLoggedIn && el('div', { class: 'events-offer' }, el('p', {}, OFFER), unlock)),
      el('p', { class: 'events-status', role: 'status', 'data-state': isLoggedIn ? live.state : 'off' }, text),
      el('div', { class: 'scroll', tabindex: 0, ...box }, el('ol', { class: 'events' }, lines.map(renderEventLine))),
    );
  }

  function onEvents() {
    redraw();
    void poller.recordMoved();
  }

  let wasUp = false;
  poller.onLook(({ state }) => {
    if (state === 'up' && !wasUp) live.retryNow();
    wasUp = state === 'up';
  });
  session.onChange(redraw);
  live.start();
  redraw();
}

const OFFER = 'New calls, outcomes, wagers and regime changes appear here in real time over a WebSocket. Requires the Basic tier.';

const STATE_MESSAGES: Record<LiveEvents['state'], string> = {
  off: 'Not connected.',
  connecting: 'Connecting…',
  live: 'Live.',
  waiting: 'Reconnecting; missed events will follow.',
};

/** Fetches the newest attestations, and again when their number changes. */
function followAttestations({ store, session, onChange }: Pick<Page, 'store' | 'session'> & { onChange: () => void }) {
  let lines: EventLine[] = [];
  let requestedCount = 0;
  async function refreshLines() {
    const count = store.get('stats').answer?.totalAttestations ?? 0;
    if (session.current !== null || count === requestedCount) return;
    requestedCount = count;
    // Extra rows, as the oldest group may be incomplete.
    const { data } = await requestApi<AttestationHistory>('api/svc/onchain-oracle/history?horizons=all&limit=30');
    lines = toAttestationLines(data).slice(0, 10);
    onChange();
  }
  const tryRefreshLines = () =>
    void refreshLines().catch((error) => {
      if (!(error instanceof ApiProblem)) throw error;
      requestedCount = 0;
    });
  store.watch('stats', tryRefreshLines);
  session.onChange(tryRefreshLines);
  return () => lines;
}

type EventLine = EventMessage & { key: string; time: string; replayed: boolean; uids: readonly string[] };

/** Fields of events and attestations that lines are made of. */
type EventFields = Partial<Record<'type' | 'status' | 'date' | 'horizon' | 'uid' | 'attestedAt', string>> & {
  blockNumber?: number;
  resolutionUid?: string | null;
  replayed?: boolean;
};

/** An event or attestation with its own line. */
interface EventEntry {
  type: string;
  data: EventFields;
  line: EventLine;
}

const UID_PATTERN = /^0x[0-9a-f]{64}$/;

/** @param events newest first */
export function toEventLines(events: readonly PushedEvent[]): EventLine[] {
  const entries = events.map(({ id, type, timestamp, data: payload }) => {
    const data: EventFields = payload;
    const uids = parseEventUids(data.uid ?? data.resolutionUid);
    return {
      type,
      data,
      line: { ...formatEvent(type, data), key: `event-${id}`, time: timestamp, replayed: data.replayed === true, uids },
    };
  });
  return groupEntries(entries);
}

/** @param rows of `GET /api/svc/onchain-oracle/history`, newest first */
export function toAttestationLines(rows: readonly EventFields[]): EventLine[] {
  const entries = rows.map((data) => {
    const { uid = '', attestedAt: time = '', replayed } = data;
    const line = { ...formatAttestation(data), key: uid, time, replayed: replayed === true, uids: parseEventUids(uid) };
    return { type: 'attestation.created', data, line };
  });
  return groupEntries(entries);
}

/** Merges consecutive entries of one step. The key of the newest identifies the line, so that it is redrawn when one more arrives. */
function groupEntries(entries: readonly EventEntry[]): EventLine[] {
  const groups: EventEntry[][] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    const step = getGroupKey(entry);
    if (group !== undefined && step !== null && getGroupKey(group[0]) === step) group.push(entry);
    else groups.push([entry]);
  }
  return groups.map((group) => (group.length === 1 ? group[0].line : mergeGroup(group)));
}

/** Key of a step with one entry per horizon; null for single entries. */
function getGroupKey({ type, data }: EventEntry) {
  if (type === 'signal.new') return `${type} ${data.date}`;
  return type === 'attestation.created' && data.type === 'prediction' ? `${type} ${data.date} ${data.blockNumber}` : null;
}

function mergeGroup(group: readonly EventEntry[]): EventLine {
  const [{ type, line }] = group;
  const getDays = ({ data: { horizon = '' } }: EventEntry) => Number.parseInt(horizon, 10);
  const all = group.toSorted((one, other) => getDays(one) - getDays(other));
  const data: readonly object[] = all.map((entry) => entry.data);
  const message =
    type === 'signal.new'
      ? formatCalls(data as readonly EventPayload<'signal.new'>[])
      : formatCommitments(data as readonly EventPayload<'attestation.created'>[]);
  return { ...line, ...message, uids: all.flatMap((entry) => entry.line.uids) };
}

function parseEventUids(uid: unknown) {
  return typeof uid === 'string' && UID_PATTERN.test(uid) ? [uid] : [];
}

/** By its key, a line stays in its place, so that screen readers do not announce it again. */
function renderEventLine({ key, kind, text, tone, time, replayed, uids }: EventLine) {
  return el('li', { key, 'data-key': key, class: replayed && 'replayed' }, [
    createRelativeTime(time),
    el('span', { class: `kind ${tone ?? ''}` }, kind),
    el('span', { class: 'what' }, [
      `${text} `,
      uids.flatMap((uid) => [el('a', { href: `api/svc/onchain-oracle/verify/${uid}` }, `${uid.slice(0, 8)}…`), ' ']),
      ' ',
      replayed ? el('span', { class: 'tag' }, 'Replayed') : null,
    ]),
  ]);
}

interface EventMessage {
  kind: string;
  text: string;
  tone?: 'good' | 'bad';
}

export function formatEvent(type: string, data: object): EventMessage {
  const format: ((data: never) => EventMessage) | undefined = EVENT_FORMATTERS[type as EventName];
  return format?.(data as never) ?? { kind: truncate(type, 40), text: '' };
}

const EVENT_FORMATTERS: { [Name in EventName]: (data: EventPayload<Name>) => EventMessage } = {
  'signal.new': (data) => ({
    kind: 'New call',
    text: `${formatCallName(data)}: ${formatCallValue(data)}, with Bitcoin at ${formatUsd(data.btcPrice)}.`,
  }),
  'signal.resolved': (data) => ({
    kind: 'Outcome',
    tone: data.outcome === 'WIN' ? 'good' : 'bad',
    text: `${formatCallName(data)}: ${data.outcome}. Called ${data.direction}; the price moved ${formatSignedPercent(data.returnBps / 100)}.`,
  }),
  'wager.placed': (data) => ({
    kind: 'Wager',
    text:
      data.placed === false
        ? `None on ${formatDayAndMonth(data.date)}: ${truncate(data.reason)}.`
        : `${formatStake(data)} on “${truncate(data.market)}”.`,
  }),
  'wager.settled': (data) => ({
    kind: 'Wager settled',
    ...(data.outcome === null || data.outcome === 'VOID' ? {} : { tone: data.outcome === 'WIN' ? 'good' : 'bad' }),
    text: `“${truncate(data.market)}” ended ${data.winner ?? 'void'}${formatProfit(data)}.`,
  }),
  'attestation.created': (data) => ({
    kind: data.type === 'resolution' ? 'Revealed' : 'Committed',
    text:
      data.type === 'resolution'
        ? `${formatCallName(data)}: ${data.status}, revealed on chain in block ${data.blockNumber}.`
        : `${formatCallName(data)}: committed on chain in block ${data.blockNumber}.`,
  }),
  'regime.changed': (data) => ({
    kind: 'Regime',
    text: `From ${formatRegime(data.from)} to ${formatRegime(data.to)}; risk is now ${String(data.riskLevel).toLowerCase()}.`,
  }),
  'webhook.disabled': ({ reason }) => ({ kind: 'Webhook', tone: 'bad', text: `One of your webhooks was disabled: ${truncate(reason)}.` }),
};

const LIST = new Intl.ListFormat('en-GB');

/** One sentence for the calls of a day, which are made together. @param all at least one */
function formatCalls(all: readonly EventPayload<'signal.new'>[]): EventMessage {
  const [{ date, btcPrice }] = all;
  const calls = all.map((data) => `${formatHorizon(data.horizon)} ${formatCallValue(data)}`);
  return { kind: 'New calls', text: `Calls of ${formatDayAndMonth(date)}, with Bitcoin at ${formatUsd(btcPrice)}: ${calls.join('; ')}.` };
}

function formatCommitments(all: readonly EventPayload<'attestation.created'>[]): EventMessage {
  const [{ date, blockNumber }] = all;
  const days = LIST.format(all.map(({ horizon }) => horizon.replace(/d$/, '')));
  return { kind: 'Committed', text: `Calls of ${formatDayAndMonth(date)} for ${days} days: committed on chain in block ${blockNumber}.` };
}

function formatCallName({ horizon, date }: { horizon: string; date: string }) {
  return `${formatHorizon(horizon)} call of ${formatDayAndMonth(date)}`;
}

function formatCallValue({ signal, direction, confidence }: EventPayload<'signal.new'>) {
  if (signal === 'GATED') return 'hidden';
  const sure = `${direction} at ${formatPercent(confidence)}`;
  return signal === 'HOLD' ? `HOLD, abstains (leans ${sure})` : `${signal}, ${sure}`;
}

function formatStake({ side, amount, odds, asset }: EventPayload<'wager.placed'>) {
  if (side === null) return 'Hidden,';
  return `${formatPlainAmount(amount ?? 0, asset)} on ${side} at odds of ${Number(odds).toFixed(2)},`;
}

function formatProfit({ outcome, pnl, asset }: EventPayload<'wager.settled'>) {
  if (outcome === null || pnl === null) return '';
  return `: ${outcome}, ${pnl < 0 ? 'a loss' : 'a gain'} of ${formatPlainAmount(Math.abs(pnl), asset)}`;
}

function formatPlainAmount(amount: number, asset: string) {
  return `${amount.toFixed(2)} ${asset}`;
}

/** An attestation of the public record as an event. @param row of `GET /api/svc/onchain-oracle/history` */
export function formatAttestation(row: { type?: string; status?: string }): EventMessage {
  const scored = row.type === 'resolution' && (row.status === 'WIN' || row.status === 'LOSS');
  return formatEvent(scored ? 'signal.resolved' : 'attestation.created', scored ? { ...row, outcome: row.status } : row);
}

interface PushedEvent {
  id: number;
  type: string;
  timestamp: string;
  data: object;
}

type LiveState = 'off' | 'connecting' | 'live' | 'waiting';

interface LiveEventsOptions {
  session: Session;
  onChange: () => void;
  /** New events have arrived, and none for `SETTLE_MS`. */
  onEvents: () => void;
}

const MAX_EVENTS = 50;
const SETTLE_MS = 300;
const RETRY_MS = { least: 1_000, most: 30_000, later: 30_000 };
const SOCKET_CLOSE_CODES = { tryLater: 1013, tokenEnded: 4001, tierLost: 4003 };

/**
 * Events for a logged-in reader over a WebSocket that reconnects and resumes after the last event. All events are dropped when the session
 * ends.
 */
export class LiveEvents {
  /** Newest first. */
  events: readonly PushedEvent[] = [];
  state: LiveState = 'off';
  /** Explains the state. */
  detail = '';
  /** True once the replay of earlier events is complete. */
  caughtUp = false;

  #options;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;
  /** Id of the newest event that was received or skipped; null before the first connection. */
  #lastId: number | null = null;
  #failures = 0;
  #socket: ReturnType<typeof openSocket> | null = null;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  /** Increments on each change; callbacks of an earlier generation are ignored. */
  #generation = 0;

  constructor(options: LiveEventsOptions) {
    this.#options = options;
    options.session.onChange(() => this.start());
    // Reconnects with the new token and resumes.
    options.session.onRenewal(() => void this.#connect());
  }

  /** Restarts with an empty list, as another reader may have logged in. */
  start() {
    this.events = [];
    this.caughtUp = false;
    this.#lastId = null;
    this.#failures = 0;
    void this.#connect();
  }

  /** Reconnects at once when the service is back. */
  retryNow() {
    if (this.state === 'waiting') void this.#connect();
  }

  async #connect() {
    const generation = this.#stop();
    const { current } = this.#options.session;
    if (current === null) return this.#setState('off');
    this.#setState('connecting');
    try {
      const { ticket } = await requestApi<{ ticket: string }>('api/svc/ws/ticket', { token: current.token, method: 'POST' });
      if (generation !== this.#generation) return;
      this.#socket = openSocket({
        url: buildSocketUrl(ticket, this.#lastId),
        onMessage: (message) => this.#handleMessage(message),
        onClosed: (code) => this.#handleClose(code),
      });
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (generation === this.#generation) this.#handleTicketProblem(error);
    }
  }

  #stop() {
    clearTimeout(this.#retryTimer);
    this.#socket?.close();
    this.#socket = null;
    this.#generation += 1;
    return this.#generation;
  }

  #handleMessage({ id, type, timestamp, data }: SocketMessage) {
    if (typeof id === 'number') return this.#addEvent({ id, type, timestamp, data });
    if (type === 'connected') return this.#handleConnected(data.lastEventId ?? 0);
    if (type === 'replay.complete') {
      this.caughtUp = true;
      this.#setState('live');
    }
    if (type === 'token.expiring') this.#setState('live', 'The session expires within a minute. Renew it at the top of the page.');
  }

  /** The first connection only learns the newest id; the second one replays the last events. */
  #handleConnected(newestId: number) {
    this.#failures = 0;
    if (this.#lastId !== null) return;
    this.#lastId = Math.max(0, newestId - MAX_EVENTS);
    if (newestId > 0) return void this.#connect();
    this.caughtUp = true;
    this.#setState('live');
  }

  #addEvent(event: PushedEvent) {
    if (this.#lastId !== null && event.id <= this.#lastId) return;
    this.#lastId = event.id;
    this.events = [event, ...this.events].slice(0, MAX_EVENTS);
    // Replayed events are rendered together.
    if (!this.caughtUp) return;
    // Debounced: screen readers would announce the events of one change one by one.
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(this.#options.onEvents, SETTLE_MS);
  }

  #handleClose(code: number) {
    if (code === SOCKET_CLOSE_CODES.tokenEnded || code === SOCKET_CLOSE_CODES.tierLost) return this.#options.session.end();
    this.#scheduleReconnect('The connection was lost.', code === SOCKET_CLOSE_CODES.tryLater ? RETRY_MS.later : 0);
  }

  #handleTicketProblem({ code, message, retryAfterSeconds }: ApiProblem) {
    if (code === 'UNAUTHENTICATED') return this.#options.session.end();
    if (code === 'TIER_REQUIRED') return this.#setState('off', `${message}.`);
    this.#scheduleReconnect(`${message}.`, 1_000 * (retryAfterSeconds ?? 0));
  }

  /** Exponential backoff with jitter. */
  #scheduleReconnect(detail: string, leastMs: number) {
    this.#stop();
    const backoffMs = Math.min(RETRY_MS.most, RETRY_MS.least * 2 ** this.#failures) * (0.5 + Math.random());
    this.#failures += 1;
    this.#retryTimer = setTimeout(() => void this.#connect(), Math.max(leastMs, backoffMs));
    this.#setState('waiting', detail);
  }

  #setState(state: LiveState, detail = '') {
    this.state = state;
    this.detail = detail;
    this.#options.onChange();
  }
}

/** Browsers hide ping frames, so the page sends its own and closes a silent connection. */
const PING_MS = 30_000;
const SILENCE_TIMEOUT_MS = 75_000;

/** Close code of a connection that timed out. */
const SILENT_CLOSE_CODE = 1006;

/** An event has an `id`; the first message, `connected`, names the newest one. */
interface SocketMessage {
  id?: number;
  type: string;
  timestamp: string;
  data: { lastEventId?: number };
}

/** One WebSocket connection. @param options `onClosed` is called once, and not after `close` */
function openSocket(options: { url: URL; onMessage: (message: SocketMessage) => void; onClosed: (code: number) => void }) {
  const { url, onMessage, onClosed } = options;
  const socket = new WebSocket(url);
  let heardAt = Date.now();
  let open = true;
  const watchdog = setInterval(() => {
    if (Date.now() - heardAt > SILENCE_TIMEOUT_MS) end(SILENT_CLOSE_CODE);
    else if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"ping"}');
  }, PING_MS);

  function close() {
    open = false;
    clearInterval(watchdog);
    socket.close();
  }

  function end(code: number) {
    if (!open) return;
    close();
    onClosed(code);
  }

  socket.onmessage = ({ data }) => {
    heardAt = Date.now();
    if (open) onMessage(JSON.parse(data));
  };
  socket.onclose = ({ code }) => end(code);
  return { close };
}

/**
 * Relative to the page, as it may be served below a path. The ticket works once within 30 seconds, so no token appears in a URL.
 * @param since last known event id
 */
function buildSocketUrl(ticket: string, since: number | null) {
  const url = new URL('ws/signal', document.baseURI);
  url.protocol = url.protocol.replace('http', 'ws');
  url.searchParams.set('ticket', ticket);
  // The default is 7d only; the page lists all horizons.
  url.searchParams.set('horizons', 'all');
  if (since !== null) url.searchParams.set('since', String(since));
  return url;
}
