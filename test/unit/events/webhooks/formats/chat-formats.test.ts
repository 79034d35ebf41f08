import { describe, expect, it } from 'vitest';
import {
  CHAT_FORMATS,
  CHAT_NAMES,
  type ChatName,
  matchTarget,
  openTargetUrl,
  toStoredTarget,
  type WebhookFormat,
} from '../../../../../src/events/webhooks/formats.ts';
import { createSecretBox } from '../../../../../src/platform/secrets.ts';

const BOX = createSecretBox('m'.repeat(32));
const ID = 'a webhook';
const TOKEN = 'AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';
const DISCORD = 'https://discord.com/api/webhooks/1234567890/abcdefgh-IJKLMNOP_qrst';
const SLACK = 'https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnopqrstWXYZ';
const TELEGRAM = `https://api.telegram.org/bot110201543:${TOKEN}/sendMessage`;

const store = (format: WebhookFormat, url: string, chatId: string | null = null) => toStoredTarget(ID, { format, url, chatId }, BOX);

describe('the URL of a chat', () => {
  it.each([
    ['discord', DISCORD, null, 'https://discord.com/***qrst'],
    ['slack', SLACK, null, 'https://hooks.slack.com/***WXYZ'],
    ['telegram', TELEGRAM, '-100123', 'https://api.telegram.org/***Dsaw'],
  ] as const)('is stored encrypted, with host and four characters in clear: %s', (format, url, chatId, masked) => {
    const stored = store(format, url, chatId);
    expect(stored).toMatchObject({ url: masked, chat: { format, chatId } });
    expect(JSON.stringify(stored)).not.toMatch(/abcdefgh|AAHdqT|1234567890|B00000000/);
    expect(openTargetUrl({ _id: ID, ...stored }, BOX)).toBe(url.replace('/api/webhooks', '/api/v10/webhooks'));
    expect(() => openTargetUrl({ _id: 'another', ...stored }, BOX)).toThrow();
  });

  it('has one key per address, by which a changed target is noticed', () => {
    const [one, same, other] = ['1', '1', '2'].map((chatId) => matchTarget(store('telegram', TELEGRAM, chatId)));
    expect(one).toEqual(same);
    expect(one).not.toEqual(other);
    expect(matchTarget(store('discord', DISCORD.replace('/api/', '/api/v8/')))).toEqual(matchTarget(store('discord', DISCORD)));
  });

  it.each<[WebhookFormat, string, string | null, string]>([
    ['discord', SLACK, null, 'url'],
    ['discord', `${DISCORD}/slack`, null, 'url'],
    ['discord', `${DISCORD}?wait=true&x=1`, null, 'url'],
    ['slack', 'https://hooks.slack.com/', null, 'url'],
    ['slack', `${SLACK}?a=b`, null, 'url'],
    ['telegram', TELEGRAM.replace('sendMessage', 'getUpdates'), '1', 'url'],
    ['telegram', `${TELEGRAM}?chat_id=2`, '1', 'url'],
    ['telegram', TELEGRAM, null, 'chatId'],
    ['slack', SLACK, '1', 'chatId'],
    ['json', 'https://hooks.example.com/', '1', 'chatId'],
    ['json', DISCORD, null, 'format'],
    ['json', SLACK, null, 'format'],
    ['json', TELEGRAM, null, 'format'],
  ])('is rejected without being repeated: %s %s', (format, url, chatId, field) => {
    expect.assertions(2);
    try {
      store(format, url, chatId);
    } catch (error) {
      expect(error).toMatchObject({ code: 'INPUT_INVALID', field });
      expect(JSON.stringify(error) + (error as Error).message).not.toMatch(/abcdefgh|AAHdqT/);
    }
  });

  it('is accepted by a pattern of the API reference only if the format accepts it', () => {
    const urls = [
      DISCORD,
      `${DISCORD}?thread_id=7`,
      `${DISCORD}/slack`,
      SLACK,
      `${SLACK}?a`,
      TELEGRAM,
      `${TELEGRAM}/x`,
      'https://a.example.com/',
    ];
    for (const format of Object.values(CHAT_FORMATS)) {
      const matched = urls.filter((url) => new RegExp(format.urlPattern).test(url));
      expect(matched.length).toBeGreaterThan(0);
      for (const url of matched) expect(format.parseUrl(new URL(url))).not.toBeNull();
    }
  });
});

interface Answered {
  status: number;
  text?: string;
  retryAfterSeconds?: number;
}

const judged = (format: ChatName, { status, text = '', retryAfterSeconds }: Answered) =>
  CHAT_FORMATS[format].judge({ status, text, retryAfterSeconds: retryAfterSeconds ?? null });

describe('the answer of a chat', () => {
  it.each<[ChatName, Answered, boolean]>([
    ['discord', { status: 204 }, true],
    ['discord', { status: 200, text: '{"id":"1"}' }, true],
    ['discord', { status: 400, text: '{"code":50006}' }, false],
    ['slack', { status: 200, text: 'ok' }, true],
    ['slack', { status: 200, text: '<html>ok</html>' }, false],
    ['slack', { status: 204 }, false],
    ['telegram', { status: 200, text: '{"ok":true,"result":{}}' }, true],
    ['telegram', { status: 200, text: '{"ok":false}' }, false],
    ['telegram', { status: 200, text: 'not json' }, false],
    ['telegram', { status: 302 }, false],
  ])('confirms the message, or does not: %s %j', (format, answer, accepted) => {
    const { reason, ended } = judged(format, answer);
    expect([reason === null, ended]).toEqual([accepted, null]);
  });

  it.each(CHAT_NAMES)('keeps the time that Retry-After asks for: %s', (format) => {
    expect(judged(format, { status: 429, retryAfterSeconds: 30 })).toEqual({ reason: 'HTTP 429', retryAfterSeconds: 30, ended: null });
    expect(judged(format, { status: 429 }).retryAfterSeconds).toBeNull();
  });

  it.each<[ChatName, Answered, boolean]>([
    ['discord', { status: 404, text: '{"code":10015}' }, true],
    ['discord', { status: 401 }, true],
    ['discord', { status: 403 }, false],
    ['slack', { status: 404, text: 'no_service' }, true],
    ['slack', { status: 410, text: 'channel_is_archived' }, true],
    ['slack', { status: 403, text: 'action_prohibited' }, false],
    ['telegram', { status: 401, text: '{"ok":false,"error_code":401}' }, true],
    ['telegram', { status: 403, text: '{"ok":false,"error_code":403}' }, true],
    ['telegram', { status: 404, text: '<html>of a proxy</html>' }, false],
    ['telegram', { status: 500, text: '{"ok":false}' }, false],
  ])('ends the subscription, or does not: %s %j', (format, answer, ends) => {
    const { reason, ended } = judged(format, answer);
    expect([reason, ended !== null]).toEqual([`HTTP ${answer.status}`, ends]);
  });
});
