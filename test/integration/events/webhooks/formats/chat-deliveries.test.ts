import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CHAT_NAMES, type ChatName, toStoredTarget } from '../../../../../src/events/webhooks/formats.ts';
import { fanOutEvents } from '../../../../../src/events/webhooks/queue.ts';
import { type ChatServer, startChat } from '../../../../support/webhooks/chat-server.ts';
import { type WebhookBench, webhookBench } from '../../../../support/webhooks/webhook-bench.ts';

let bench: WebhookBench;

beforeAll(async () => {
  bench = await webhookBench();
});
afterAll(() => bench.drop());
beforeEach(async () => {
  await bench.webhooks.deleteMany({});
});

async function chatOf(format: ChatName): Promise<ChatServer> {
  const chat = await startChat(format);
  onTestFinished(() => chat.close());
  return chat;
}

/** A webhook to the chat with so many events in its queue. */
async function waiting(format: ChatName, { url, chatId }: ChatServer, count: number) {
  const { id, secret } = await bench.addWebhook(url);
  await bench.webhooks.updateOne({ _id: id }, { $set: toStoredTarget(id, { format, url, chatId }, bench.worker().box) });
  await bench.happen(count);
  await fanOutEvents(bench.worker());
  return { id, secret };
}

const send = (id: string) => bench.send(id);
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

  it('retries a 429 by the schedule of all webhooks, and not before Retry-After', async () => {
    const chat = await chatOf(format);
    chat.refuse({ status: 429, headers: { 'Retry-After': '65' } });
    const { id } = await waiting(format, chat, 1);
    await send(id);
    expect(await row(id)).toMatchObject({ state: 'PENDING', attempts: [{ status: 429, reason: 'HTTP 429' }] });
    expect(await waitOf(id)).toBeGreaterThanOrEqual(65_000);
    expect(await waitOf(id)).toBeLessThan(67_000);
    bench.pass(67_000);
    await send(id);
    expect(await row(id)).toMatchObject({ state: 'DELIVERED' });
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
