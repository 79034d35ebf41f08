import type { ChatAnswer, ChatFormat } from '../chat-format.ts';
import type { ChatMessage } from '../chat-message.ts';
import { readMembers, readVerdict, toSeconds } from '../read-verdict.ts';

/** Five messages in two seconds. */
const INTERVAL_MS = 400;
/** Webhooks are called by this version, whatever their URL names: earlier ones give `retry_after` in milliseconds. */
const API_PATH = '/api/v10';
const WEBHOOK_PATH = /^\/api(?:\/v\d{1,2})?(\/webhooks\/\d{1,20}\/([\w-]{8,100}))\/?$/;
const ENDINGS = [401, 404, 410];

/** Execute Webhook of the Discord API. */
export const DISCORD: ChatFormat = {
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
  getIntervalMs: () => INTERVAL_MS,
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
  judge(answer) {
    const verdict = readVerdict(answer, {
      label: 'Discord',
      // 204, and 200 with the message where the URL asked for it.
      isAccepted: () => true,
      endings: ENDINGS,
      readRetryAfter: ({ text }) => readMembers(text).retry_after,
    });
    return { ...verdict, pauseMs: Math.max(verdict.pauseMs, readBucketMs(answer)) };
  },
};

/** Time until the limit of the webhook is reset, where this message was the last one within it. */
function readBucketMs({ header }: ChatAnswer): number {
  return header('x-ratelimit-remaining') === '0' ? Math.ceil(toSeconds(header('x-ratelimit-reset-after')) * 1_000) : 0;
}

/** Discord removes a backslash before any ASCII character that is neither letter, digit nor space. */
function escapeMarkdown(text: ChatMessage['title']): string {
  return text.replaceAll(/[\\`*_~|<>#@:[\](){}!+-]/g, '\\$&');
}
