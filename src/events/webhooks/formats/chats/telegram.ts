import type { ChatFormat } from '../chat-format.ts';
import { readMembers, readVerdict } from '../read-verdict.ts';

/** One message a second to a person, twenty a minute to a group or channel. */
const INTERVAL_MS = { person: 1_000, group: 3_000 } as const;
const METHOD_PATH = /^(?:\/[\w-]+)*\/bot\d{1,20}:([\w-]{20,100})(?:\/test)?\/sendMessage$/;
/** 403: the bot was blocked, or removed from the group. */
const ENDINGS = [401, 403, 404, 410];

/** A group, a person or a channel, by its id; a public channel or group by its name. */
export const CHAT_ID_PATTERN = '^(?:-?[1-9]\\d{0,15}|@[A-Za-z]\\w{3,31})$';

/** `sendMessage` of the Telegram Bot API. */
export const TELEGRAM: ChatFormat = {
  label: 'Telegram',
  hasChatId: true,
  urlPattern: '(?:/[\\w-]+)*/bot\\d{1,20}:[\\w-]{20,100}/sendMessage$',
  urlRule: 'be that of the Bot API, https://api.telegram.org/bot<token>/sendMessage, without a query: the chat goes into chatId',
  parseUrl: (url) => (url.search === '' && METHOD_PATH.test(url.pathname) ? url : null),
  getHint: ({ pathname }) => METHOD_PATH.exec(pathname)?.[1]?.slice(-4) ?? '',
  getIntervalMs: ({ chatId }) => (chatId !== null && /^\d/.test(chatId) ? INTERVAL_MS.person : INTERVAL_MS.group),
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
  judge(answer) {
    const body = readMembers(answer.text);
    return readVerdict(answer, {
      label: 'Telegram',
      isAccepted: ({ status }) => status === 200 && body.ok === true,
      // A proxy may answer 403 or 404 too, without the members of the Bot API.
      endings: body.ok === false ? ENDINGS : [],
      readRetryAfter: () => (body.parameters as { retry_after?: unknown } | undefined)?.retry_after,
    });
  },
};

function escapeTelegram(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
