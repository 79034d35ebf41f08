import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { isOracleError, OracleError, UsageError } from '../../../errors.ts';
import { HORIZON_NAMES } from '../../../forecast/horizon-input.ts';
import { openWebSocket } from '../../../platform/outbound/websocket.ts';
import { formatStartupStep } from '../../../platform/progress.ts';
import { parseProblemDetails } from '../../../platform/service-client.ts';
import { parseJsonOrNull } from '../../../platform/validation.ts';
import {
  formatJson,
  JSON_OPTION,
  parseAnswer,
  printNotice,
  queryService,
  resolveServiceUrl,
  resolveToken,
  type ServiceValues,
  TOKEN_OPTION,
  URL_OPTION,
  wantsJson,
} from '../command.ts';
import { type CliContext, EXIT, type SvcCommand } from '../context.ts';
import { createLoginTokenSource, hasKeyOption, KEY_OPTIONS, type KeyOptions } from '../secrets.ts';
import {
  type Cell,
  createTerminalWriter,
  formatMinute,
  formatPercentOrDash,
  formatReturn,
  formatUsdAmount,
  getCellText,
  NONE,
  paintCell,
  sanitizeLine,
  styleValue,
  type TerminalWriter,
} from '../text.ts';

/** Interface, section 6.1. */
const RECONNECT_MS = 5_000;
const MAX_WAIT_MS = 3_600_000;
const TOKEN_ENDED_CODE = 4001;

interface WatchValues extends ServiceValues, KeyOptions {
  token?: string;
  since?: string;
  events?: string;
  horizon?: string;
  moveSize?: string;
}

const HEALTH = z.object({ setup: z.object({ what: z.string(), done: z.number().nullable(), total: z.number().nullable() }).nullable() });

/** Interface, section 6.1. */
export const watchCommand: SvcCommand<WatchValues> = {
  example: 'svc watch --since 0 --events signal.resolved | jq -r .data.outcome',
  description: `One line an event on a terminal, one JSON document a line elsewhere. Ctrl-C ends it. It needs the Basic tier: with a key it renews its login by itself; with a token, or the token of svc login, it runs until the token expires.`,
  options: [
    ['--since <id>', 'also events after this one; 0: all of the last 90 days', parseEventId],
    ['--events <names>', 'such as signal.new,signal.resolved (default: all)'],
    [
      '--horizon <days>',
      'one, several such as 2d,7d, or all (default: 7d, or 1d with --move-size); events without a horizon are always printed',
      undefined,
      [...HORIZON_NAMES, 'all'],
    ],
    ['--move-size <sizes>', 'of signal.new only a change to one of these, such as WILD'],
    ...KEY_OPTIONS,
    URL_OPTION,
    TOKEN_OPTION,
    JSON_OPTION,
  ],
  async run(context, { since, events, horizon: horizons, moveSize, ...options }) {
    const url = await resolveServiceUrl(context, options.url);
    const asJson = wantsJson(context, options.json);
    const writer = createTerminalWriter(context.out, context);
    const signal = context.createInterruptSignal();
    const follow: FollowStreamOptions = {
      url,
      query: { since, events, horizons, moveSize },
      ...(await createTokenSource(context, { ...options, url, signal })),
      onEvent: (event) => {
        context.out.write(`${asJson ? formatJson(context.out, event) : sanitizeLine(formatEventLine(event, writer))}\n`);
      },
      onConnected: () => void printStartupStep(url, context),
      onNotice: (text) => printNotice(context, text),
      signal,
    };
    return followUntilStopped(follow, context);
  },
};

function parseEventId(name: string, text: string): string {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(name, 'must be an event id, or 0');
  return text;
}

/** Explains the silence of a service that is starting: events of the replay are published when it is done. */
async function printStartupStep(url: string, context: CliContext): Promise<void> {
  const health = await queryService({ url, path: '/health', schema: HEALTH }).catch(() => null);
  const step = health === null ? null : formatStartupStep({ current: health.answer.setup });
  if (step !== null) printNotice(context, `the service is starting (${step}); its events follow when it is done`);
}

/** Reconnects until interrupted, except after an error that a retry would repeat. */
async function followUntilStopped(follow: FollowStreamOptions, context: CliContext): Promise<number> {
  const { signal } = follow;
  while (!signal.aborted) {
    const { message, waitMs } = await followStream(follow).then(
      ({ code, reason }) => {
        if (code === TOKEN_ENDED_CODE) follow.forgetToken();
        return { message: `closed: ${code} ${reason}`.trimEnd(), waitMs: RECONNECT_MS };
      },
      (error: unknown) => {
        if (signal.aborted) return { message: '', waitMs: 0 };
        const isPermanent = isOracleError(error) && !error.retryable;
        if (isPermanent && !(isOracleError(error, 'UNAUTHENTICATED') && follow.forgetToken())) throw error;
        return { message: formatConnectionError(error, follow.url), waitMs: getRetryDelayMs(error) };
      },
    );
    if (signal.aborted) break;
    printNotice(context, `${message}; again in ${waitMs / 1_000} s`);
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
  return EXIT.ok;
}

/** Retry-After of the service, at least 5 seconds and at most an hour. */
function getRetryDelayMs(error: unknown): number {
  const askedMs = isOracleError(error) ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
  return Math.min(MAX_WAIT_MS, Math.max(RECONNECT_MS, askedMs));
}

function formatConnectionError(error: unknown, url: string): string {
  if (isOracleError(error)) return `${error.code}: ${error.message}`;
  const { code } = error as { code?: unknown };
  return `no service answers at ${url} (${typeof code === 'string' ? code : 'no connection'})`;
}

type TokenSource = Pick<FollowStreamOptions, 'getToken' | 'renewToken' | 'forgetToken'>;
type TokenOptions = KeyOptions & Pick<FollowStreamOptions, 'url' | 'signal'> & { token?: string };

/** Logs in with a key whenever a token is needed; a given or stored token is used until it expires. */
async function createTokenSource(context: CliContext, { url, signal, ...options }: TokenOptions): Promise<TokenSource> {
  if (options.token === undefined && hasKeyOption(options, context)) {
    return createLoginTokenSource(context, { ...options, url, signal });
  }
  const readToken = async () => {
    const found = await resolveToken(context, url, options.token);
    if (found === undefined) throw new OracleError('UNAUTHENTICATED', `Not logged in at ${url}: events require the Basic tier`);
    return found;
  };
  let used = '';
  return {
    getToken: async () => {
      used = await readToken();
      return used;
    },
    // Another terminal may have stored a new login in the meantime.
    renewToken: async () => {
      const found = await readToken().catch(() => used);
      return found === used ? null : found;
    },
    forgetToken: () => false,
  };
}

const ID_WIDTH = 6;
const TYPE_WIDTH = 19;
/** By column; the cells after these are not padded. */
const PADDINGS: readonly ((text: string) => string)[] = [
  (text) => text.padStart(ID_WIDTH),
  (text) => text,
  (text) => text.padEnd(TYPE_WIDTH),
];

/** One line, truncated at the width of the terminal. */
export function formatEventLine({ id, type, timestamp, data }: WatchedEvent, writer: TerminalWriter): string {
  const cells: Cell[] = [
    { text: String(id), style: 'dim' },
    formatMinute(timestamp),
    { text: type, style: 'cyan' },
    // Event types that this version does not know are printed as JSON.
    ...(FORMATTERS[type]?.(data) ?? [JSON.stringify(data)]).filter((cell) => getCellText(cell) !== ''),
  ];
  let room = writer.width;
  return cells
    .flatMap((cell, index) => {
      const padded = PADDINGS[index]?.(getCellText(cell)) ?? getCellText(cell);
      const text = padded.slice(0, Math.max(0, room));
      room -= padded.length + 2;
      return text === '' ? [] : [paintCell(writer, cell, text)];
    })
    .join('  ')
    .trimEnd();
}

type EventData = WatchedEvent['data'];

const FORMATTERS: Record<string, (data: EventData) => Cell[]> = {
  'signal.new': (data) => [
    ...formatForecastId(data),
    formatMove(data),
    getStyledValue(data, 'signal'),
    formatPercentOrDash(getNumber(data, 'confidence')),
    formatUsdField(data, 'btcPrice'),
    getText(data, 'regime'),
  ],
  'signal.resolved': (data) => [
    ...formatForecastId(data),
    getStyledValue(data, 'outcome'),
    getText(data, 'direction'),
    formatReturn(getNumber(data, 'returnBps')),
  ],
  'attestation.created': (data) => [...formatForecastId(data), getText(data, 'type'), abbreviateHex(getText(data, 'uid'))],
  'wager.placed': (data) =>
    data.placed === false
      ? [getText(data, 'date'), 'none', getText(data, 'reason')]
      : [getText(data, 'date'), getText(data, 'side'), formatUsdField(data, 'amount'), getText(data, 'market')],
  'wager.settled': (data) => [getText(data, 'date'), getStyledValue(data, 'outcome'), formatUsdField(data, 'pnl'), getText(data, 'market')],
  'regime.changed': (data) => [getText(data, 'date'), `${getText(data, 'from')} to ${getText(data, 'to')}`],
};

/** `0xdbf7…e128`. */
export function abbreviateHex(hex: string): string {
  return hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex;
}

function formatForecastId(data: EventData): Cell[] {
  return [getText(data, 'date'), getText(data, 'horizon')];
}

/** Empty where the service sends none. */
function formatMove(data: EventData): Cell {
  const pBig = getNumber(data, 'pBig');
  return pBig === null ? '' : `${getText(data, 'moveSize')} ${formatPercentOrDash(pBig)}`;
}

function getText(data: EventData, field: string): string {
  const value = data[field];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function getNumber(data: EventData, field: string): number | null {
  const value = data[field];
  return typeof value === 'number' ? value : null;
}

function getStyledValue(data: EventData, field: string): Cell {
  const value = getText(data, field);
  return value === '' ? NONE : styleValue(value);
}

function formatUsdField(data: EventData, field: string): string {
  return `${formatUsdAmount(getNumber(data, field))} USD`;
}

const EVENT = z.looseObject({ id: z.number().optional(), type: z.string(), timestamp: z.string(), data: z.looseObject({}) });

/** Messages of the WebSocket about the connection itself have no id. */
type WatchedEvent = z.infer<typeof EVENT> & { id: number };

interface FollowStreamOptions {
  url: string;
  /** Query of the WebSocket. `since` advances with each event, so that a reconnect misses none. */
  query: { since?: string; events?: string; horizons?: string; moveSize?: string };
  /** @throws OracleError */
  getToken(): Promise<string>;
  /** A token to replace the one that is about to expire; null when there is none. */
  renewToken(): Promise<string | null>;
  /** Called when the token was rejected or has expired. @returns whether `getToken` may return another one */
  forgetToken(): boolean;
  onEvent(event: WatchedEvent): void;
  onConnected?(): void;
  onNotice(text: string): void;
  signal: AbortSignal;
}

type StreamClose = { code: number; reason: string };

/** The service pings every 30 seconds; after a longer silence the connection counts as lost. */
const MAX_SILENCE_MS = 75_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
const MAX_REJECTION_BYTES = 65_536;
const NORMAL_CLOSE = 1000;

/** Follows one connection until it closes. @throws OracleError of the service on a rejected handshake; a socket error when it cannot connect */
async function followStream(options: FollowStreamOptions): Promise<StreamClose> {
  const token = await options.getToken();
  if (options.signal.aborted) return { code: NORMAL_CLOSE, reason: '' };
  const headers = { authorization: `Bearer ${token}` };
  const socket = openWebSocket({ url: buildStreamUrl(options), headers, handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS });
  const silence = setTimeout(() => socket.terminate(), MAX_SILENCE_MS);
  const stop = () => socket.close(NORMAL_CLOSE);
  options.signal.addEventListener('abort', stop, { once: true });
  socket.on('ping', () => silence.refresh());
  socket.on('message', (text) => handleMessage(socket, String(text), options));
  try {
    return await waitForClose(socket, options.url);
  } finally {
    clearTimeout(silence);
    options.signal.removeEventListener('abort', stop);
  }
}

function buildStreamUrl({ url, query }: FollowStreamOptions): URL {
  const address = new URL(`${url.replace(/^http/, 'ws')}/ws/signal`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(name, value);
  return address;
}

function waitForClose(socket: WebSocket, url: string): Promise<StreamClose> {
  return new Promise((done, fail) => {
    socket.on('unexpected-response', (_, response) =>
      readRejection(response).then((rejection) => fail(rejection ?? notServedError(url)), fail),
    );
    socket.on('error', fail);
    socket.on('close', (code, reason) => done({ code, reason: String(reason) }));
  });
}

/** The problem details (RFC 9457) of a rejected handshake. */
async function readRejection(response: IncomingMessage): Promise<OracleError | undefined> {
  let text = '';
  for await (const chunk of response) {
    text += chunk;
    if (text.length > MAX_REJECTION_BYTES) return undefined;
  }
  try {
    return parseProblemDetails(JSON.parse(text), response.headers['retry-after'] ?? null);
  } catch {
    return undefined;
  }
}

function notServedError(url: string): unknown {
  try {
    return parseAnswer(z.never(), null, { url, path: '/ws/signal' });
  } catch (error) {
    return error;
  }
}

function handleMessage(socket: WebSocket, text: string, options: FollowStreamOptions): void {
  const { data: message } = EVENT.safeParse(parseJsonOrNull(text));
  if (message === undefined) return;
  const { id, type, data } = message;
  if (id !== undefined) {
    options.onEvent({ ...message, id });
    options.query.since = String(id);
  } else if (type === 'connected') {
    // Resumes here, too, when the connection drops before the first event.
    options.query.since ??= String(data.lastEventId);
    options.onNotice(`connected as ${data.tier}; the newest event is ${data.lastEventId}`);
    options.onConnected?.();
  } else if (type === 'token.expiring') void renewToken(socket, options);
  else if (type === 'replay.gap') options.onNotice(`events ${data.from} to ${data.to} are no longer stored`);
  else if (type === 'error') options.onNotice(`${data.code}: ${data.message}`);
}

/** Without a new token the service closes the connection with 4001. */
async function renewToken(socket: WebSocket, { renewToken: renew, onNotice }: FollowStreamOptions): Promise<void> {
  try {
    const token = await renew();
    if (token !== null) socket.send(JSON.stringify({ type: 'authenticate', data: { token } }));
    else onNotice('the token expires within a minute: log in again with svc login');
  } catch (error) {
    onNotice(isOracleError(error) ? error.message : 'the token could not be renewed');
  }
}
