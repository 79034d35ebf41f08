import { describe, expect, it } from 'vitest';
import { buildAsyncApiDocument } from '../../../src/events/asyncapi.ts';
import { PAYLOADS, PUSHED_NAMES } from '../../../src/events/events.ts';
import { CLIENT_MESSAGES, CLOSE_CODES, SERVER_MESSAGES } from '../../../src/events/websocket/messages.ts';
import { HANDSHAKE_QUERY } from '../../../src/http/routes/websocket.ts';
import { type AsyncApi, messageFaults, messageOf } from '../../support/http/asyncapi.ts';

const OPTIONS = { title: 'Oracle', description: 'Forecasts.', version: '1.0.0', chainId: 8453, handshake: HANDSHAKE_QUERY };
const json = (publicUrl: string) => JSON.stringify(buildAsyncApiDocument({ ...OPTIONS, publicUrl }));
const documentAt = (publicUrl: string) => JSON.parse(json(publicUrl)) as AsyncApi;

const document = documentAt('https://oracle.test/base');
const CHANNELS = ['socket', 'webhook'] as const;
const all = CHANNELS.flatMap((channel) =>
  Object.keys(document.channels[channel].messages).map((type) => ({ channel, type, message: messageOf(document, channel, type) })),
);

describe('the document', () => {
  it('is the same each time it is made', () => {
    expect(json('https://oracle.test')).toBe(json('https://oracle.test'));
  });

  it('names the address that callers use', () => {
    expect(document.servers.socket).toMatchObject({ host: 'oracle.test', pathname: '/base', protocol: 'wss' });
    const { socket } = documentAt('http://127.0.0.1:3000').servers;
    expect(socket).toMatchObject({ host: '127.0.0.1:3000', protocol: 'ws' });
    expect(socket).not.toHaveProperty('pathname');
    expect(document.channels.socket.address).toBe('/ws/signal');
    expect(document.channels.webhook.address).toBeNull();
  });

  it('has every message of both channels', () => {
    const { socket, webhook } = document.channels;
    expect(Object.keys(socket.messages)).toEqual([...PUSHED_NAMES, ...Object.keys(SERVER_MESSAGES), ...Object.keys(CLIENT_MESSAGES)]);
    expect(Object.keys(webhook.messages)).toEqual([...PUSHED_NAMES, 'ping']);
    for (const { type, message } of all) expect(message).toMatchObject({ name: type, contentType: 'application/json' });
  });

  it('names the sender of every message', () => {
    const refs = (list: readonly { $ref: string }[]) => list.map(({ $ref }) => $ref);
    const used = Object.values(document.operations).flatMap(({ messages }) => refs(messages));
    const there = all.map(({ channel, type }) => `#/channels/${channel}/messages/${type}`);
    expect([...new Set(used)].toSorted()).toEqual(there.toSorted());
    const received = Object.values(document.operations).filter(({ action }) => action === 'receive');
    expect(received.flatMap(({ messages }) => refs(messages)).map((ref) => ref.replace(/.*\//, ''))).toEqual(Object.keys(CLIENT_MESSAGES));
  });

  it('has all parameters of the handshake, and every way in which a connection ends', () => {
    const { bindings, ...socket } = document.channels.socket;
    expect(Object.keys(bindings!.ws.query.properties!)).toEqual(Object.keys(HANDSHAKE_QUERY.shape));
    expect(socket['x-close-codes']!.map(({ code }) => code)).toEqual(Object.values(CLOSE_CODES).map(({ code }) => code));
  });

  it('describes every field', () => {
    const { messages, schemas } = document.components;
    expect(undescribed({ messages, schemas, query: document.channels.socket.bindings }, '')).toEqual([]);
  });
});

/** Fields without a description, by their place; what is referred to has its own. */
function undescribed(node: unknown, place: string): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    if (key === 'examples') return [];
    const inner = undescribed(value, `${place}.${key}`);
    if (key !== 'properties') return inner;
    const bare = Object.entries<{ description?: string; $ref?: string }>(value).filter(([, field]) => !field.description && !field.$ref);
    return [...bare.map(([name]) => `${place}.${name}`), ...inner];
  });
}

describe.each(PUSHED_NAMES)('the payload of %s', (type) => {
  const schema = document.components.schemas[type];
  const { shape } = PAYLOADS[type] as { shape: Record<string, { description?: string }> };
  const examples = messageOf(document, 'socket', type).examples!.map(({ payload }) => payload as { type: string; data: object });

  it('has the fields of the schema that it is made by, in the same words', () => {
    const descriptions = Object.entries(schema.properties as Record<string, { description: string }>).map(([name, { description }]) => [
      name,
      description,
    ]);
    expect(Object.fromEntries(descriptions)).toEqual(
      Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, field.description])),
    );
    expect(schema.required!.toSorted()).toEqual(Object.keys(shape).toSorted());
  });

  it('takes and rejects what that schema does', () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const { data } of examples) {
      const variants = Object.keys(data).flatMap((name) => [
        without(data, name),
        { ...data, [name]: { no: 'value' } },
        { ...data, [name]: null },
      ]);
      for (const variant of [data, ...variants]) {
        const fits = messageFaults(document, 'socket', { ...examples[0], data: variant } as { type: string }).length === 0;
        expect(fits, JSON.stringify(variant)).toBe(PAYLOADS[type].safeParse(variant).success);
      }
    }
  });
});

function without(data: object, name: string): object {
  return Object.fromEntries(Object.entries(data).filter(([key]) => key !== name));
}

describe('the examples', () => {
  it.each(PUSHED_NAMES)('of %s are as their schema says', (type) => {
    const { examples = [] } = messageOf(document, 'socket', type);
    expect(examples.length).toBeGreaterThan(0);
    for (const { payload } of examples) {
      expect(payload.type).toBe(type);
      expect(messageFaults(document, 'socket', payload)).toEqual([]);
    }
  });

  it('show the payloads of Basic and Premium, and no other fields', () => {
    const schema = (type: string) =>
      messageOf(document, 'socket', type).examples!.map(({ payload }) => payload as { data?: { premium?: unknown } });
    for (const type of ['signal.new', 'wager.placed'])
      expect(schema(type).map(({ data }) => data!.premium !== null)).toEqual([false, true]);
    expect(JSON.stringify(document)).not.toMatch(/eyJ[\w-]{10}|whsec_[\w+/]{10}/);
  });
});
