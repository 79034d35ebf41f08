import { z } from 'zod';
import type { EventName } from '../../../../clients/typescript/src/events.ts';
import { type Credentials, createAuthorizedSend } from '../../../../clients/typescript/src/http.ts';
import { type StreamDeps, streamEvents } from '../../../../clients/typescript/src/stream.ts';
import type { MoveSize } from '../../../../clients/typescript/src/types.ts';
import { OracleError, UsageError } from '../../../errors.ts';
import { HORIZON_NAMES } from '../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../forecast/model.ts';
import { formatStartupStep } from '../../../platform/progress.ts';
import {
  formatJson,
  JSON_OPTION,
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
import { createServiceSend, hasKeyOption, KEY_OPTIONS, type KeyOptions, openLogin } from '../secrets.ts';
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
  async run(context, { since, events, horizon, moveSize, ...options }) {
    const url = await resolveServiceUrl(context, options.url);
    const asJson = wantsJson(context, options.json);
    const writer = createTerminalWriter(context.out, context);
    const signal = context.createInterruptSignal();
    const { send, credentials } = await openConnection(context, { ...options, url, signal });
    const following = streamEvents(
      { url, send, credentials },
      {
        since: since === undefined ? undefined : Number(since),
        // The service rejects names that it does not know.
        events: events?.split(',') as EventName[] | undefined,
        horizons: horizon === 'all' ? horizon : (horizon?.split(',') as HorizonName[] | undefined),
        moveSize: moveSize?.split(',') as MoveSize[] | undefined,
        signal,
        reconnectMs: RECONNECT_MS,
        onConnected: ({ tier, lastEventId }) => {
          const goesOn = context.out.isTTY ? '; waiting for more, Ctrl-C ends it' : '';
          printNotice(context, `connected as ${tier}; the newest event is ${lastEventId}${goesOn}`);
          void printStartupStep(url, context);
        },
        onGap: ({ from, to }) => printNotice(context, `events ${from} to ${to} are no longer stored`),
        onReconnect: ({ reason, waitMs }) => printNotice(context, `${reason}; again in ${Math.round(waitMs / 1_000)} s`),
      },
    );
    for await (const event of following) {
      context.out.write(`${asJson ? formatJson(context.out, event) : sanitizeLine(formatEventLine(event, writer))}\n`);
    }
    return EXIT.ok;
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

/** Logs in with a key whenever a token is needed; a given or stored token is used until it expires. */
async function openConnection(
  context: CliContext,
  { url, signal, ...options }: WatchValues & { url: string; signal: AbortSignal },
): Promise<Pick<StreamDeps, 'send' | 'credentials'>> {
  const send = createServiceSend(url, { signal });
  const authorizeBy = (credentials: Credentials) => ({ send: createAuthorizedSend(send, credentials, 'always'), credentials });
  if (options.token === undefined && hasKeyOption(options, context))
    return authorizeBy(await openLogin(context, { ...options, url, signal }));
  const token = async () => {
    // Another terminal may have stored a new login in the meantime.
    const found = await resolveToken(context, url, options.token);
    if (found === undefined) throw new OracleError('UNAUTHENTICATED', `Not logged in at ${url}: events require the Basic tier`);
    return found;
  };
  return authorizeBy({ token, forget: async () => false });
}

const ID_WIDTH = 6;
const TYPE_WIDTH = 19;
/** By column; the cells after these are not padded. */
const PADDINGS: readonly ((text: string) => string)[] = [
  (text) => text.padStart(ID_WIDTH),
  (text) => text,
  (text) => text.padEnd(TYPE_WIDTH),
];

interface WatchedEvent {
  id: number;
  type: string;
  timestamp: string;
  data: object;
}

/** One line, truncated at the width of the terminal. */
export function formatEventLine({ id, type, timestamp, data }: WatchedEvent, writer: TerminalWriter): string {
  const cells: Cell[] = [
    { text: String(id), style: 'dim' },
    formatMinute(timestamp),
    { text: type, style: 'cyan' },
    // Event types that this version does not know are printed as JSON.
    ...(FORMATTERS[type]?.(data as EventData) ?? [JSON.stringify(data)]).filter((cell) => getCellText(cell) !== ''),
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

type EventData = Record<string, unknown>;

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
