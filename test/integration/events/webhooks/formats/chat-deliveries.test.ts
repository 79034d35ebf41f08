import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { deliverToWebhook } from '../../../../../src/events/webhooks/delivery/deliver-to-webhook.ts';
import { fanOutEvents } from '../../../../../src/events/webhooks/delivery/fan-out.ts';
import { toStoredTarget } from '../../../../../src/events/webhooks/formats/chat-target.ts';
import { CHAT_NAMES, type ChatName } from '../../../../../src/events/webhooks/formats/webhook-formats.ts';
import { ChatPaceStore } from '../../../../../src/events/webhooks/limits/chat-pace-store.ts';
import { type ChatServer, startChat } from '../../../../support/webhooks/chat-server.ts';
import { type WebhookBench, webhookBench } from '../../../../support/webhooks/webhook-bench.ts';

const INTERVAL_MS = { discord: 400, slack: 1_000, telegram: 3_000 } as const;

let bench: WebhookBench;

beforeAll(async () => {
  bench = await webhookBench();
});
afterAll(() => bench.drop());
beforeEach(async () => {
  await bench.webhooks.deleteMany({});
  await rest();
});

/** As if no message had been sent for long: the pace follows the clock of the database, which no test moves. */
const rest = () => bench.db.collection('webhook_chat_pace').deleteMany({});

async function chatOf(format: ChatName): Promise<ChatServer> {
  const chat = await startChat(format);
  onTestFinished(() => chat.close());
  return chat;
}

/** A webhook to the chat with so many events in its queue. */
async function waiting(format: ChatName, { url, chatId }: ChatServer, count: number) {
  const { id, secret, doc } = await bench.addWebhook(url);
  const target = toStoredTarget(id, { format, url, chatId }, bench.worker().box);
  await bench.webhooks.updateOne({ _id: id }, { $set: target });
  await bench.happen(count);
  await fanOutEvents(bench.worker());
  return { id, secret, doc: { ...doc, ...target } };
}

const send = (id: string) => deliverToWebhook(bench.worker(), id);
const row = async (id: string, index = 0) => (await bench.rows(id))[index]!;
const waitOf = async (id: string, index = 0) => (await row(id, index)).nextAttemptAt!.getTime() - bench.clock.now.getTime();

describe.each(CHAT_NAMES)('a webhook of format %s', (format) => {
  it('posts what the chat accepts, and signs the bytes that it posts', async () => {
    const chat = await chatOf(format);
    const { id, secret } = await waiting(format, chat, 1);
    await send(id);
    expect(await row(id)).toMatchObject({ state: 'DELIVERED', attempts: [{ reason: null }] });
    expect(chat.posted).toHaveLength(1);
    expect(JSON.stringify(chat.posted[0])).toContain('Bull trend');
    const headers = chat.asked[0]!.headers as Record<string, string>;
    const signature = new Webhook(secret).sign(headers['webhook-id']!, bench.clock.now, chat.bodies[0]!);
    expect(headers['webhook-signature']).toBe(signature);
  });

  it('spaces the messages to one chat, also those of another webhook to it', async () => {
    const chat = await chatOf(format);
    const { id } = await waiting(format, chat, 2);
    await send(id);
    expect([chat.posted.length, (await row(id, 1)).attempts]).toEqual([1, []]);
    const wait = await waitOf(id, 1);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(INTERVAL_MS[format]);
    const other = await waiting(format, chat, 1);
    await send(other.id);
    expect([chat.posted.length, (await row(other.id)).attempts]).toEqual([1, []]);

    await rest();
    bench.pass(INTERVAL_MS[format]);
    await send(id);
    expect(chat.posted).toHaveLength(2);
  });

  it('waits as long as the chat asks, and so does every webhook to it', async () => {
    const chat = await chatOf(format);
    const body = { discord: { retry_after: 64.57 }, slack: {}, telegram: { ok: false, error_code: 429, parameters: { retry_after: 65 } } }[
      format
    ];
    chat.refuse({ status: 429, body, ...(format === 'slack' && { headers: { 'Retry-After': '65' } }) });
    const { id, doc } = await waiting(format, chat, 1);
    await send(id);
    expect(await row(id)).toMatchObject({ state: 'PENDING', attempts: [{ status: 429, reason: 'HTTP 429' }] });
    expect(await waitOf(id)).toBeGreaterThanOrEqual(65_000);
    expect(await waitOf(id)).toBeLessThan(67_000);
    expect(await new ChatPaceStore(bench.db).reserve(doc)).toBeGreaterThan(50_000);
  });

  it('is disabled when the chat says that it has been deleted', async () => {
    const chat = await chatOf(format);
    const status = format === 'slack' ? 410 : 404;
    chat.refuse({ status, body: { ok: false, code: 10_015 } });
    const { id } = await waiting(format, chat, 2);
    await send(id);
    const { disabledReason, ...webhook } = await bench.webhook(id);
    expect(webhook).toMatchObject({ status: 'disabled', disabledBy: 'receiver' });
    expect(disabledReason).toMatch(new RegExp(`answered ${status}: the address does not exist any more`));
    expect((await row(id, 0)).state).toBe('CANCELLED');
  });

  it('keeps its credential out of database and log', async () => {
    const chat = await chatOf(format);
    chat.refuse({ status: 500 });
    const { id } = await waiting(format, chat, 1);
    await send(id);
    expect((await row(id)).attempts).toHaveLength(1);
    const names = (await bench.db.listCollections().toArray()).map(({ name }) => name);
    const documents = await Promise.all(names.map((name) => bench.db.collection(name).find().toArray()));
    for (const text of [JSON.stringify(documents), bench.lines.join('\n')]) {
      expect(text).not.toContain(chat.token);
      expect(text).not.toContain(chat.token.slice(0, 8));
    }
  });
});

it('a confirmation that is missing in the answer is a failed attempt', async () => {
  const chat = await chatOf('telegram');
  chat.refuse({ status: 200, body: { ok: false } });
  const { id } = await waiting('telegram', chat, 1);
  await send(id);
  expect(await row(id)).toMatchObject({
    state: 'PENDING',
    attempts: [{ status: 200, reason: 'HTTP 200, in which Telegram does not confirm the message' }],
  });
});

it('a URL sealed under another master secret is not called, and waits', async () => {
  const chat = await chatOf('discord');
  const { id } = await waiting('discord', chat, 1);
  await bench.webhooks.updateOne({ _id: id }, { $set: { sealedUrl: bench.seal(id, chat.url) } });
  await send(id);
  expect(chat.asked).toEqual([]);
  expect([(await row(id)).attempts, await waitOf(id)]).toEqual([[], 60_000]);
});
