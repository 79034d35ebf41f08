import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isOracleError, OracleError } from '../../errors.ts';
import { formatUtc } from '../../forecast/day.ts';
import { formatPercent } from '../../forecast/math.ts';
import { formatMove } from '../../forecast/move.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import { joinUrl } from '../../platform/service-client.ts';
import { parseJsonOrNull, sanitizeText, TIME } from '../../platform/validation.ts';
import type { EventPayload, PushedEvent, PushedName } from '../events.ts';

/** As it is stored. Any URL may have a credential in its path or query. */
export interface StoredTarget {
  /** Masked: its origin, and of a chat the last characters. */
  url: string;
  /** Encrypted, bound to the id of the webhook. */
  sealedUrl: string;
  /** Digest of URL and chat, equal for equal addresses; a credential within is too long to be found from it. */
  targetKey: string;
  /** Of formats that post to a chat; its id where they name one beside the URL. */
  chat?: { format: ChatName; chatId: string | null };
}

/** The URL to call. @throws OracleError CONFIG_INVALID if it is encrypted under another master secret */
export function openTargetUrl({ _id, sealedUrl }: Pick<StoredTarget, 'sealedUrl'> & { _id: string }, box: SecretBox): string {
  return box.open('webhook-url', _id, sealedUrl);
}

/** Null for what is encrypted under another master secret. */
export function openOrNull(open: () => string): string | null {
  try {
    return open();
  } catch (error) {
    if (isOracleError(error, 'CONFIG_INVALID')) return null;
    throw error;
  }
}

export interface ChatAnswer {
  status: number;
  /** The beginning of the body. */
  text: string;
}

/** How messages are posted to one kind of chat. */
interface ChatFormat {
  /** Name in texts. */
  label: string;
  /** Whether messages name the chat beside the URL. */
  hasChatId: boolean;
  /** JSON Schema pattern of its usual URLs: accepts only what `parseUrl` accepts. */
  urlPattern: string;
  /** What a URL looks like, for errors. */
  urlRule: string;
  /** The URL to post to; null for one of another form. */
  parseUrl(url: URL): URL | null;
  /** The last characters of the credential. */
  getHint(url: URL): string;
  /** The body of a post. */
  render(message: ChatMessage, address: { chatId: string | null }): object;
  /** Whether an answer of status 2xx says that the message was accepted. */
  isAccepted(answer: ChatAnswer): boolean;
  /** Whether another answer says that the address has ended. */
  isEnded(answer: ChatAnswer): boolean;
}

/** A message as its parts, without the markup of any chat. All texts are plain and have no line breaks. */
interface ChatMessage {
  title: string;
  fields: readonly (readonly [label: string, value: string])[];
  note: string;
  link: { label: string; url: string };
}

/** Length of text that other parties have written. */
const MAX_EXTERNAL_CHARS = 200;

/** Webhooks are called by this version, whatever their URL names: a webhook has one address. */
const API_PATH = '/api/v10';
const WEBHOOK_PATH = /^\/api(?:\/v\d{1,2})?(\/webhooks\/\d{1,20}\/([\w-]{8,100}))\/?$/;
const hasEnded = ({ status }: ChatAnswer) => [401, 404, 410].includes(status);

/** Execute Webhook of the Discord API. */
const DISCORD: ChatFormat = {
  label: 'Discord',
  hasChatId: false,
  urlPattern: '/api/(?:v\\d{1,2}/)?webhooks/\\d{1,20}/[\\w-]{8,100}(?:\\?thread_id=\\d{1,20})?$',
  urlRule: 'be that of a Discord webhook, https://discord.com/api/webhooks/<id>/<token>, with at most the parameter thread_id',
  parseUrl(url) {
    const path = WEBHOOK_PATH.exec(url.pathname)?.[1];
    if (path === undefined || !/^(?:\?thread_id=\d{1,20})?$/.test(url.search)) return null;
    return new URL(`${API_PATH}${path}${url.search}`, url);
  },
  getHint: ({ pathname }) => pathname.slice(-4),
  render: ({ title, fields, note, link }) => ({
    content: `**${escapeMarkdown(title)}**`,
    embeds: [
      {
        title: escapeMarkdown(link.label),
        url: link.url,
        fields: fields.map(([name, value]) => ({ name: escapeMarkdown(name), value: escapeMarkdown(value), inline: true })),
        // A footer has no markup.
        footer: { text: note },
      },
    ],
    // Even an escaped `@everyone` notifies without it.
    allowed_mentions: { parse: [] },
  }),
  // 204, and 200 with the message where the URL asked for it.
  isAccepted: () => true,
  isEnded: hasEnded,
};

/** Discord removes a backslash before any ASCII character that is neither letter, digit nor space. */
function escapeMarkdown(text: ChatMessage['title']): string {
  return text.replaceAll(/[\\`*_~|<>#@:[\](){}!+-]/g, '\\$&');
}

const MAX_HEADER_CHARS = 150;
const MAX_FIELDS = 10;

/** Incoming webhooks of Slack, and of the services that accept the same: the path is the receiver's own. */
const SLACK: ChatFormat = {
  label: 'Slack',
  hasChatId: false,
  urlPattern: '/[\\w.~/-]*[\\w-]{8}$',
  urlRule: 'be that of an incoming webhook, https://hooks.slack.com/services/<team>/<webhook>/<token>, without a query',
  parseUrl: (url) => (url.search === '' && /[\w-]{8}\/?$/.test(url.pathname) ? url : null),
  getHint: ({ pathname }) => pathname.replace(/\/$/, '').slice(-4),
  render: ({ title, fields, note, link }) => ({
    // For notifications, and for clients that show no blocks.
    text: escapeSlack(title),
    blocks: [
      { type: 'header', text: toPlainText(title.slice(0, MAX_HEADER_CHARS)) },
      // Plain text has no mentions, links or formatting.
      { type: 'section', fields: fields.slice(0, MAX_FIELDS).map(([name, value]) => toPlainText(`${name}\n${value}`)) },
      {
        type: 'context',
        elements: [{ type: 'mrkdwn', text: `${escapeSlack(note)} <${link.url}|${escapeSlack(link.label)}>`, verbatim: true }],
      },
    ],
    unfurl_links: false,
    unfurl_media: false,
  }),
  isAccepted: ({ status, text }) => status === 200 && text.trim() === 'ok',
  isEnded: hasEnded,
};

function toPlainText(text: string) {
  return { type: 'plain_text', text: escapeSlack(text), emoji: false };
}

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const METHOD_PATH = /^(?:\/[\w-]+)*\/bot\d{1,20}:([\w-]{20,100})(?:\/test)?\/sendMessage$/;
/** 403: the bot was blocked, or removed from the group. */
const TELEGRAM_ENDINGS = [401, 403, 404, 410];
const readTelegramOk = ({ text }: ChatAnswer) => (parseJsonOrNull(text) as { ok?: unknown } | null)?.ok;

/** A group, a person or a channel, by its id; a public channel or group by its name. */
export const CHAT_ID_PATTERN = '^(?:-?[1-9]\\d{0,15}|@[A-Za-z]\\w{3,31})$';

/** `sendMessage` of the Telegram Bot API. */
const TELEGRAM: ChatFormat = {
  label: 'Telegram',
  hasChatId: true,
  urlPattern: '(?:/[\\w-]+)*/bot\\d{1,20}:[\\w-]{20,100}/sendMessage$',
  urlRule: 'be that of the Bot API, https://api.telegram.org/bot<token>/sendMessage, without a query: the chat goes into chatId',
  parseUrl: (url) => (url.search === '' && METHOD_PATH.test(url.pathname) ? url : null),
  getHint: ({ pathname }) => METHOD_PATH.exec(pathname)?.[1]?.slice(-4) ?? '',
  render: ({ title, fields, note, link }, { chatId }) => ({
    chat_id: chatId,
    // Telegram finds no mentions, commands or links in <code>.
    text: [
      `<b>${escapeTelegram(title)}</b>`,
      ...fields.map(([name, value]) => `${escapeTelegram(name)}: <code>${escapeTelegram(value)}</code>`),
      '',
      `<i>${escapeTelegram(note)}</i>`,
      `<a href="${escapeTelegram(link.url)}">${escapeTelegram(link.label)}</a>`,
    ].join('\n'),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  }),
  isAccepted: (answer) => answer.status === 200 && readTelegramOk(answer) === true,
  // A proxy may answer 403 or 404 too, without the members of the Bot API.
  isEnded: (answer) => TELEGRAM_ENDINGS.includes(answer.status) && readTelegramOk(answer) === false,
};

function escapeTelegram(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** The only list: a further chat is an entry here and in `CHAT_NAMES`. */
export const CHAT_FORMATS = { discord: DISCORD, slack: SLACK, telegram: TELEGRAM } as const satisfies Record<ChatName, ChatFormat>;

export const CHAT_NAMES = ['discord', 'slack', 'telegram'] as const;
export const WEBHOOK_FORMATS = ['json', ...CHAT_NAMES] as const;

export type ChatName = (typeof CHAT_NAMES)[number];
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** The masked URL of a target, checked by the rules for all, and its parts to store. @throws OracleError INPUT_INVALID naming `url`, `format` or `chatId` */
export function toStoredTarget(
  webhookId: string,
  { format, url, chatId }: { format: WebhookFormat; url: string; chatId: string | null },
  box: SecretBox,
): StoredTarget {
  const given = new URL(url);
  if (format === 'json') requireNoChat(given);
  const chat = format === 'json' ? null : CHAT_FORMATS[format];
  const target = chat === null ? given : chat.parseUrl(given);
  if (target === null) throw new OracleError('INPUT_INVALID', `The URL of format ${format} must ${chat!.urlRule}`, { field: 'url' });
  if ((chatId !== null) !== (chat?.hasChatId ?? false)) {
    const needs = chat?.hasChatId ? `needs the id of the ${chat.label} chat` : chat === null ? 'has no chat' : 'has the chat in its URL';
    throw new OracleError('INPUT_INVALID', `body field "chatId": format ${format} ${needs}`, { field: 'chatId' });
  }
  const { href, origin } = target;
  const targetKey = createHash('sha256')
    .update(JSON.stringify([href, chatId]))
    .digest('hex');
  const stored = { url: `${origin}/***${chat?.getHint(target) ?? ''}`, sealedUrl: box.seal('webhook-url', webhookId, href), targetKey };
  return format === 'json' ? stored : { ...stored, chat: { format, chatId } };
}

/** Hosts and paths of chats, which take no event as it is. */
const CHAT_URLS: readonly [host: RegExp, path: RegExp, format: ChatName][] = [
  [/^(?:(?:canary|ptb)\.)?discord(?:app)?\.com$/, /^\/api\/(?:v\d+\/)?webhooks\/\d+\/[\w-]+\/?$/, 'discord'],
  [/^hooks\.slack(?:-gov)?\.com$/, /^\/services\//, 'slack'],
  [/^api\.telegram\.org$/, /^\/bot/, 'telegram'],
];

function requireNoChat({ hostname, pathname }: URL): void {
  const chat = CHAT_URLS.find(([host, path]) => host.test(hostname) && path.test(pathname))?.[2];
  if (chat === undefined) return;
  throw new OracleError('INPUT_INVALID', `This is the URL of a ${CHAT_FORMATS[chat].label} chat, which takes no event as it is`, {
    field: 'format',
    suggestedAction: `Register it with "format": "${chat}".`,
  });
}

/** What an answer means, by the rules of the format. Nothing of its text is taken over. */
export function judgeAnswer(format: WebhookFormat, answer: ChatAnswer): { reason: string | null; ended: string | null } {
  const { status } = answer;
  const chat = format === 'json' ? null : CHAT_FORMATS[format];
  if (status >= 200 && status < 300) {
    const isAccepted = chat === null || chat.isAccepted(answer);
    return { reason: isAccepted ? null : `HTTP ${status}, in which ${chat.label} does not confirm the message`, ended: null };
  }
  const reason = status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
  if (chat === null) return { reason, ended: status === HTTP_GONE ? 'The receiver answered 410 Gone' : null };
  return { reason, ended: chat.isEnded(answer) ? `${chat.label} answered ${status}: the address does not exist any more` : null };
}

/** Ends the subscription, by Standard Webhooks. */
const HTTP_GONE = 410;

/** A message of a delivery, as its recipient may see it. */
type DeliveredMessage = PushedEvent | PingMessage;

/** The body of a delivery, whose bytes are signed: the message itself, or as a chat takes it. @param publicUrl for links */
export function renderMessage({ chat }: Pick<StoredTarget, 'chat'>, message: DeliveredMessage, publicUrl: string): string {
  if (chat === undefined) return JSON.stringify(message);
  return JSON.stringify(CHAT_FORMATS[chat.format].render(describeMessage(message, publicUrl), chat));
}

type Description = Omit<ChatMessage, 'link'> & { link?: ChatMessage['link'] };

const NO_SKILL = 'The record shows no skill of the direction that can be distinguished from luck. Not advice.';
const RECORD = 'Every forecast is committed on chain before its window opens, and scored in public.';
const REPLAYED = ' Replayed by a demonstration.';

/** The text for each kind of event: without an entry the type check fails. */
const DESCRIPTIONS: { [Name in PushedName]: (data: EventPayload<Name>) => Description } = {
  'signal.new'(data) {
    const { signal, direction, confidence, premium, btcPrice, windowOpensAt, resolvesAt, regime } = data;
    const leaning = direction === null || confidence === null ? '' : ` (${direction}, ${formatPercent(confidence)})`;
    const { p05, p95 } = premium?.priceQuantiles ?? {};
    const range =
      p05 !== undefined && p95 !== undefined
        ? [['90 % range at the end', `${dollars.format(p05)} to ${dollars.format(p95)}`] as const]
        : [];
    return {
      title: `BTC/USD, ${data.horizon} forecast of ${data.date}: ${data.moveSize === null ? signal : `${describeName(data.moveSize)} move`}`,
      fields: [
        ...describeMove(data),
        ...range,
        ['Direction', `${signal}${leaning}, no proven skill`],
        ['Price', dollars.format(btcPrice)],
        ['Window', `${formatUtc(windowOpensAt)} to ${formatUtc(resolvesAt)}`],
        ['Regime', describeName(regime)],
      ],
      note: NO_SKILL,
      link: linkForecast(data),
    };
  },
  'signal.resolved'(data) {
    const { signal, direction, confidence, outcome, actualDirection, returnBps, btcAtSignal, btcAtResolution, resolvedAt } = data;
    return {
      title: `BTC/USD, ${data.horizon} forecast of ${data.date}: ${outcome === 'WIN' ? 'right' : 'wrong'}`,
      fields: [
        ...describeMove(data),
        ['Direction', `${signal} (${direction}, ${formatPercent(confidence)})`],
        ['Result', `${actualDirection}, ${returnBps > 0 ? '+' : ''}${formatPercent(returnBps / 10_000, 2)}`],
        ['Closes', `${dollars.format(btcAtSignal)} to ${dollars.format(btcAtResolution)}`],
        ['Resolved', formatUtc(resolvedAt)],
      ],
      note: NO_SKILL,
      link: linkForecast(data),
    };
  },
  'wager.placed'(data) {
    const { placed, reason, marketId, market, date } = data;
    if (placed !== false) return { title: `Wager of ${date}`, fields: describeStake(data), note: NO_SKILL };
    const fields = [
      ['Market', marketId === null ? 'none' : describeExternal(market)] as const,
      ['Reason', describeExternal(reason ?? '')] as const,
    ];
    return { title: `No wager on ${date}`, fields, note: RECORD };
  },
  'wager.settled'(data) {
    const { outcome, winner, pnl, asset, settledAt, date } = data;
    return {
      title: `Wager of ${date} settled: ${winner === null ? 'the market has no winner' : `${winner} won the market`}`,
      fields: [
        ...describeStake(data),
        ['Outcome', describeHidden(outcome, describeName)],
        ['Profit', describeHidden(pnl, (amount) => `${amount.toFixed(2)} ${describeExternal(asset)}`)],
        ['Settled', formatUtc(settledAt)],
      ],
      note: NO_SKILL,
    };
  },
  'attestation.created'(data) {
    const { type, status, uid, txHash, attestedAt } = data;
    return {
      title: `BTC/USD, ${data.horizon} forecast of ${data.date}: ${type === 'prediction' ? 'committed' : 'resolution'} on chain`,
      fields: [
        ['Status', describeName(status)],
        ['Attestation', uid],
        ['Transaction', txHash],
        ['Block time', formatUtc(attestedAt)],
      ],
      note: RECORD,
      link: linkForecast(data),
    };
  },
  'regime.changed': ({ from, to, riskLevel, date }) => ({
    title: `BTC/USD regime of ${date}: ${describeName(to)}`,
    fields: Object.entries({ From: from, To: to, Risk: riskLevel }).map(([label, name]) => [label, describeName(name)] as const),
    note: 'The regime describes past prices; it forecasts nothing.',
  }),
  'webhook.disabled': ({ webhookId, reason, failingSince, enableUrl }) => ({
    title: 'A webhook of yours was disabled',
    fields: [
      ['Webhook', webhookId],
      ['Reason', describeExternal(reason)],
      ...(failingSince === null ? [] : [['Failing since', formatUtc(failingSince)] as const]),
    ],
    note: 'A POST with your token to the linked URL enables it again.',
    link: { label: 'Enable it', url: enableUrl },
  }),
};

/** The text of a message for chats. @param publicUrl of the service, for links */
export function describeMessage(message: DeliveredMessage, publicUrl: string): ChatMessage {
  const isPing = message.type === 'ping';
  const described = isPing ? describePing(message) : (DESCRIPTIONS[message.type] as (data: EventPayload) => Description)(message.data);
  const { link: { label, url } = { label: 'The record', url: '/' }, ...text } = described;
  const isReplayed = 'replayed' in message.data && message.data.replayed;
  const absolute = url.startsWith('/') ? joinUrl(publicUrl, url) : url;
  return { ...text, note: `${text.note}${isReplayed ? REPLAYED : ''}`, link: { label, url: new URL(absolute).href } };
}

function describePing({ timestamp, data: { webhookId } }: PingMessage): Description {
  return {
    title: 'Test of a webhook: it works',
    fields: [
      ['Webhook', webhookId],
      ['Sent', formatUtc(timestamp)],
    ],
    note: 'Events arrive like this message.',
  };
}

/** What has skill comes first: the size of the move, what it was before, and whether it came. */
function describeMove(data: EventPayload<'signal.new'> | EventPayload<'signal.resolved'>): ChatMessage['fields'] {
  const move = formatMove(data);
  if (move === null) return [];
  if ('big' in data) return [['Size of the move', `${move}; it was ${data.big ? 'beyond' : 'within'}`]];
  const before = data.moveSizeBefore === null || data.moveSizeBefore === data.moveSize ? '' : `; ${data.moveSizeBefore} before`;
  return [['Size of the move', `${move}${before}`]];
}

type Stake = Pick<EventPayload<'wager.placed'>, 'market' | 'venue' | 'asset' | 'side' | 'amount' | 'odds'>;

function describeStake({ market, venue, asset, side, amount, odds }: Stake): ChatMessage['fields'] {
  return [
    ['Market', describeExternal(market)],
    ['Venue', describeExternal(venue)],
    ['Side', describeHidden(side, String)],
    ['Stake', describeHidden(amount, (stake) => `${stake.toFixed(2)} ${describeExternal(asset)}`)],
    ['Odds', describeHidden(odds, (decimal) => decimal.toFixed(2))],
  ];
}

function linkForecast({ date, horizon }: { date: string; horizon: string }): ChatMessage['link'] {
  return { label: 'The forecast', url: `/f/${date}/${horizon}` };
}

export const PING_MESSAGE = z.object({
  id: z.null().describe('Null: a test is not in the event log'),
  type: z.literal('ping').describe('Kind of message'),
  timestamp: TIME.describe('Time of the test request'),
  data: z.object({ webhookId: z.uuid().describe('The tested webhook') }).describe('What is tested'),
});

export type PingMessage = z.input<typeof PING_MESSAGE>;

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
/** `Bear trend` for `BEAR_TREND`; a dash for null. */
function describeName(name: string | null): string {
  if (name === null) return '–';
  return `${name.slice(0, 1)}${name.slice(1).toLowerCase().replaceAll('_', ' ')}`;
}

/** A dash stands for text of which nothing is left. */
function describeExternal(text: string): string {
  return sanitizeText(text, MAX_EXTERNAL_CHARS) || '–';
}

/** `hidden` for a value that the subscriber's tier may not see. */
function describeHidden<T>(value: T | null, describe: (value: T) => string): string {
  return value === null ? 'hidden' : describe(value);
}
