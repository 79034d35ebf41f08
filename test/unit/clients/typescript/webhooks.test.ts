import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { WebhookRejected } from '../../../../clients/typescript/src/errors.ts';
import { verifyWebhook } from '../../../../clients/typescript/src/webhooks.ts';

const SECRET = `whsec_${Buffer.from('a key of the receiver').toString('base64')}`;
const NOW = new Date('2026-11-20T12:00:00Z');
const EVENT = { id: 7, type: 'signal.new', timestamp: NOW.toISOString(), data: { signal: 'HOLD', horizon: '7d' } };
const BODY = JSON.stringify(EVENT);

function sign(body = BODY, at = NOW, secret = SECRET) {
  return {
    'Webhook-Id': 'evt_1',
    'webhook-timestamp': String(at.getTime() / 1_000),
    'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
  };
}

const verify = (headers: Record<string, string>, secret: string | string[] = SECRET, body: string | Uint8Array = BODY) =>
  verifyWebhook(body, headers, secret, { now: NOW });

it.each([BODY, new TextEncoder().encode(BODY)])('returns the event of a delivery that the reference library has signed', async (body) => {
  expect(await verify(sign(), SECRET, body)).toEqual(EVENT);
  expect(await verifyWebhook(body, new Headers(sign()), SECRET, { now: NOW })).toEqual(EVENT);
});

it('accepts one of several secrets, and one of several signatures', async () => {
  const other = `whsec_${Buffer.from('the key after it').toString('base64')}`;
  expect(await verify(sign(), [other, SECRET])).toEqual(EVENT);
  const both = `${sign(BODY, NOW, other)['webhook-signature']} ${sign()['webhook-signature']}`;
  expect(await verify({ ...sign(), 'webhook-signature': both })).toEqual(EVENT);
});

it('takes a text without whsec_ as the bytes of the key', async () => {
  const headers = sign(BODY, NOW, `whsec_${Buffer.from('a text of one’s own').toString('base64')}`);
  expect(await verify(headers, 'a text of one’s own')).toEqual(EVENT);
});

it.each([
  ['another body', sign(), SECRET, `${BODY} `],
  ['another secret', sign(), `whsec_${btoa('another')}`, BODY],
  ['another id', { ...sign(), 'Webhook-Id': 'evt_2' }, SECRET, BODY],
  ['another version of signatures', { ...sign(), 'webhook-signature': sign()['webhook-signature'].replace('v1,', 'v2,') }, SECRET, BODY],
  ['a signature that is no base64', { ...sign(), 'webhook-signature': 'v1,%' }, SECRET, BODY],
  ['a missing header', { 'webhook-id': 'evt_1' }, SECRET, BODY],
  ['a timestamp that is none', { ...sign(), 'webhook-timestamp': '1e9' }, SECRET, BODY],
  ['a delivery of six minutes ago', sign(BODY, new Date(NOW.getTime() - 360_000)), SECRET, BODY],
  ['a delivery of the future', sign(BODY, new Date(NOW.getTime() + 360_000)), SECRET, BODY],
  ['a signed body that is no event', sign('[]'), SECRET, '[]'],
  ['a signed body that is no JSON', sign('text'), SECRET, 'text'],
])('rejects %s', async (_, headers, secret, body) => {
  await expect(verify(headers as Record<string, string>, secret, body)).rejects.toThrow(WebhookRejected);
});

it.each(['whsec_%', 'whsec_', ''])('names the secret %j as the fault', async (secret) => {
  await expect(verify(sign(), secret)).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'secret' });
});
