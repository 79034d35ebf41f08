import type { ChatFormat } from '../chat-format.ts';
import { readVerdict } from '../read-verdict.ts';

/** One message a second. */
const INTERVAL_MS = 1_000;
const MAX_HEADER_CHARS = 150;
const MAX_FIELDS = 10;
const ENDINGS = [401, 404, 410];

/** Incoming webhooks of Slack, and of the services that accept the same: the path is the receiver's own. */
export const SLACK: ChatFormat = {
  label: 'Slack',
  hasChatId: false,
  urlPattern: '/[\\w.~/-]*[\\w-]{8}$',
  urlRule: 'be that of an incoming webhook, https://hooks.slack.com/services/<team>/<webhook>/<token>, without a query',
  parseUrl: (url) => (url.search === '' && /[\w-]{8}\/?$/.test(url.pathname) ? url : null),
  getHint: ({ pathname }) => pathname.replace(/\/$/, '').slice(-4),
  getIntervalMs: () => INTERVAL_MS,
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
  judge: (answer) =>
    readVerdict(answer, {
      label: 'Slack',
      isAccepted: ({ status, text }) => status === 200 && text.trim() === 'ok',
      endings: ENDINGS,
      readRetryAfter: () => null,
    }),
};

function toPlainText(text: string) {
  return { type: 'plain_text', text: escapeSlack(text), emoji: false };
}

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
