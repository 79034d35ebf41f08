import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../../../src/auth/caller.ts';
import { buildExampleEvent, EXAMPLE_WEBHOOK } from '../../../../../src/events/asyncapi.ts';
import { viewEvent } from '../../../../../src/events/event-view.ts';
import { PUSHED_NAMES } from '../../../../../src/events/events.ts';
import type { AnyEvent } from '../../../../../src/events/log.ts';
import {
  CHAT_FORMATS,
  CHAT_NAMES,
  type ChatName,
  type DeliveredMessage,
  describeMessage,
} from '../../../../../src/events/webhooks/formats.ts';
import { renderMessage } from '../../../../../src/events/webhooks/store.ts';

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
      Signal: 'BUY (UP, 56.1 %)',
      '90 % range at the end': '$50,660 to $63,291',
      Price: '$56,124',
      Window: '2021-03-11 00:00 UTC to 2021-03-18 00:00 UTC',
      Regime: 'Bull trend',
    });
    expect(premium!.link.url).toBe(`${PUBLIC_URL}/f/2021-03-10/7d`);
    expect(Object.keys(Object.fromEntries(basic!.fields))).toEqual(['Signal', 'Price', 'Window', 'Regime']);
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
