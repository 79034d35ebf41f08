import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../../src/auth/caller.ts';
import { buildExampleEvent, EXAMPLE_WEBHOOK } from '../../../../src/events/asyncapi.ts';
import { viewEvent } from '../../../../src/events/event-view.ts';
import { PUSHED_NAMES } from '../../../../src/events/events.ts';
import type { AnyEvent } from '../../../../src/events/log.ts';
import {
  CHAT_FORMATS,
  CHAT_NAMES,
  type ChatName,
  describeMessage,
  judgeAnswer,
  openTargetUrl,
  renderMessage,
  toStoredTarget,
  type WebhookFormat,
} from '../../../../src/events/webhooks/formats.ts';
import { createSecretBox } from '../../../../src/platform/secrets.ts';

type DeliveredMessage = Parameters<typeof describeMessage>[0];

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
    const [one, same, other] = ['1', '1', '2'].map((chatId) => store('telegram', TELEGRAM, chatId).targetKey);
    expect(one).toEqual(same);
    expect(one).not.toEqual(other);
    expect(store('discord', DISCORD.replace('/api/', '/api/v8/')).targetKey).toBe(store('discord', DISCORD).targetKey);
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
}

const judged = (format: ChatName, { status, text = '' }: Answered) => judgeAnswer(format, { status, text });

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
const PUBLIC_URL = 'https://oracle.example/btc';
const VIEW = { saltSecret: 'a master secret of a test', policy: 'resolution', publicUrl: PUBLIC_URL, chainId: 8453 } as const;
const WALLET = `0x${'12'.repeat(20)}` as const;
const HOSTILE = '@everyone <!channel> <@1> [x](https://evil.example) **b** `c` </code><b> @admin #tag www.evil.example\n\u202eabc';

const seenBy = (event: AnyEvent, tier: Caller['tier'] = 'premium') => viewEvent(event, { tier, wallet: WALLET } as Caller, VIEW);
const PING: DeliveredMessage = { id: null, type: 'ping', timestamp: '2026-03-10T12:00:00.000Z', data: { webhookId: EXAMPLE_WEBHOOK } };
const MESSAGES: [string, DeliveredMessage][] = [
  ...PUSHED_NAMES.map((name): [string, DeliveredMessage] => [name, seenBy(buildExampleEvent(name) as AnyEvent)]),
  ['ping', PING],
];

const chat = (format: ChatName) => ({ chat: { format, chatId: format === 'telegram' ? '-1001234567890' : null } });
// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
const rendered = (format: ChatName, message: DeliveredMessage): any => JSON.parse(renderMessage(chat(format), message, PUBLIC_URL));

/** All texts of a body. */
function textsOf(body: unknown): string[] {
  if (typeof body === 'string') return [body];
  return typeof body === 'object' && body !== null ? Object.values(body).flatMap(textsOf) : [];
}

describe('a message to a chat', () => {
  it.each(MESSAGES)('has a title, fields, a note and an absolute link for %s', (_, message) => {
    const { title, fields, note, link } = describeMessage(message, PUBLIC_URL);
    expect(fields.length).toBeGreaterThan(0);
    for (const text of [title, note, link.label, ...fields.flat()]) expect(text).toMatch(/^\S(.*\S)?$/);
    expect(link.url.startsWith(`${PUBLIC_URL}/`)).toBe(true);
    // Hashes and ids are the longest.
    expect(JSON.stringify([title, fields, note]).length).toBeLessThan(900);
  });

  it.each(MESSAGES)('keeps the limits of each chat for %s', (_, message) => {
    const discord = rendered('discord', message);
    expect(discord.allowed_mentions).toEqual({ parse: [] });
    expect(discord.content.length).toBeLessThanOrEqual(2_000);
    const [embed] = discord.embeds;
    expect(embed.fields.length).toBeLessThanOrEqual(25);
    for (const { name, value } of embed.fields)
      expect([name.length <= 256, value.length > 0 && value.length <= 1_024]).toEqual([true, true]);

    const { text, blocks } = rendered('slack', message);
    expect(text.length).toBeGreaterThan(0);
    expect(blocks.map(({ type }: { type: string }) => type)).toEqual(['header', 'section', 'context']);
    expect(blocks[0].text.text.length).toBeLessThanOrEqual(150);
    expect(blocks[1].fields.length).toBeLessThanOrEqual(10);
    for (const field of blocks[1].fields) expect(field).toMatchObject({ type: 'plain_text', emoji: false });

    const telegram = rendered('telegram', message);
    expect(telegram).toMatchObject({ chat_id: '-1001234567890', parse_mode: 'HTML' });
    expect(telegram.text.length).toBeLessThanOrEqual(4_096);
    // Only the elements that the renderer writes, each closed.
    const tags = telegram.text.match(/<[^>]*>/g)!;
    expect(tags.every((tag: string) => /^<(\/?(b|i|code|a)|a href="https:[^"<>]+")>$/.test(tag))).toBe(true);
    expect(tags.filter((tag: string) => tag.startsWith('</')).length * 2).toBe(tags.length);
  });

  it('shows the range with its level to Premium, and what Basic may see to Basic', () => {
    const event = buildExampleEvent('signal.new') as AnyEvent;
    const [premium, basic, below] = (['premium', 'basic', 'public'] as const).map((tier) =>
      describeMessage(seenBy(event, tier), PUBLIC_URL),
    );
    expect(Object.fromEntries(premium!.fields)).toEqual({
      'Size of the move': 'WILD; P(move beyond 5 %) 58 %; USUAL before',
      '90 % range at the end': '$50,660 to $63,291',
      Direction: 'BUY (UP, 56.1 %), no proven skill',
      Price: '$56,124',
      Window: '2021-03-11 00:00 UTC to 2021-03-18 00:00 UTC',
      Regime: 'Bull trend',
    });
    expect(premium!.link.url).toBe(`${PUBLIC_URL}/f/2021-03-10/7d`);
    expect(Object.keys(Object.fromEntries(basic!.fields))).toEqual(['Size of the move', 'Direction', 'Price', 'Window', 'Regime']);
    expect(basic!.title).toBe('BTC/USD, 7d forecast of 2021-03-10: Wild move');
    expect(below!.fields[0]).toEqual(basic!.fields[0]);
    expect(JSON.stringify(below)).not.toMatch(/BUY|UP|56\.1/);
  });

  it('names no side, stake or reason of a wager below Basic', () => {
    const event = buildExampleEvent('wager.placed') as AnyEvent;
    const text = JSON.stringify(describeMessage(seenBy(event, 'public'), PUBLIC_URL));
    expect(text).not.toMatch(/YES|NO\b/);
    expect(text).toContain('["Side","hidden"],["Stake","hidden"],["Odds","hidden"]');
  });

  it.each(CHAT_NAMES)('contains no mention, link or markup of external text: %s', (format) => {
    const event = buildExampleEvent('wager.placed') as Extract<AnyEvent, { type: 'wager.placed' }>;
    const market = { ...event.content.market!, question: HOSTILE };
    const body = rendered(format, seenBy({ ...event, content: { ...event.content, market, venue: HOSTILE, asset: HOSTILE } }));
    for (const text of textsOf(body)) {
      expect(text).not.toMatch(/@everyone|@admin|<!|<@|\]\(|https:\/\/(?!oracle\.)|www\.|\u202e|`/);
      if (format !== 'telegram') expect(text).not.toContain('\n\n');
    }
  });

  it('is escaped by each chat itself', () => {
    const hostile = { title: HOSTILE, fields: [[HOSTILE, HOSTILE]] as const, note: '', link: { label: HOSTILE, url: `${PUBLIC_URL}/` } };
    const [discord, slack, telegram] = CHAT_NAMES.map((format) => JSON.stringify(CHAT_FORMATS[format].render(hostile, { chatId: null })));
    expect(discord).toContain('\\\\@everyone \\\\<\\\\!channel\\\\> ');
    expect(discord).not.toMatch(/[^\\][@`[\]](everyone|admin|x|c)/);
    expect(slack).toContain('&lt;!channel&gt; &lt;@1&gt;');
    expect(slack).not.toMatch(/<[!@]/);
    expect(telegram).toContain('&lt;/code&gt;&lt;b&gt; @admin');
  });

  it('is the event itself in format json', () => {
    const message = seenBy(buildExampleEvent('regime.changed') as AnyEvent);
    expect(renderMessage({}, message, PUBLIC_URL)).toBe(JSON.stringify(message));
  });
});
