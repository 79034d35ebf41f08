import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { buildSignatureHeaders, generateSecret, openSigningSecrets } from '../../../../../src/events/webhooks/signing.ts';
import { createSecretBox } from '../../../../../src/platform/secrets.ts';

const messageId = fc.stringMatching(/^(evt|ping)_[0-9a-f]{32}$/);
const secret = fc.uint8Array({ minLength: 24, maxLength: 64 }).map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
const body = fc.json();

describe('a signature', () => {
  it('verifies with the library of the standard, whatever is signed', () => {
    fc.assert(
      fc.property(messageId, body, secret, (id, text, key) => {
        const headers = buildSignatureHeaders({ messageId: id, at: new Date(), body: text }, [key]);
        expect(new Webhook(key).verify(text, headers)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('is the one that the library makes', () => {
    const [key, at] = [generateSecret(), new Date('2026-03-10T00:00:00.999Z')];
    const { 'webhook-signature': signature, 'webhook-timestamp': timestamp } = buildSignatureHeaders(
      { messageId: 'evt_1', at, body: '{"a":"ü"}' },
      [key],
    );
    expect(timestamp).toBe('1773100800');
    expect(signature).toBe(new Webhook(key).sign('evt_1', at, '{"a":"ü"}'));
  });

  it.each([
    ['the body', { body: '{"a":2}' }],
    ['the id', { 'webhook-id': 'evt_2' }],
    ['the time', { 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 1) }],
  ])('does not verify once %s is another', (_what, { body: other = '{"a":1}', ...changed }: Record<string, string>) => {
    const key = generateSecret();
    const headers = { ...buildSignatureHeaders({ messageId: 'evt_1', at: new Date(), body: '{"a":1}' }, [key]), ...changed };
    expect(() => new Webhook(key).verify(other, headers)).toThrow('No matching signature');
  });

  it('of each secret stands there, so that either of them verifies, and no other', () => {
    const [one, two, three] = [generateSecret(), generateSecret(), generateSecret()];
    const headers = buildSignatureHeaders({ messageId: 'evt_1', at: new Date(), body: '{}' }, [one, two]);
    expect(headers['webhook-signature']).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
    for (const key of [one, two]) expect(new Webhook(key).verify('{}', headers)).toEqual({});
    expect(() => new Webhook(three).verify('{}', headers)).toThrow();
  });

  it('by a text of the caller verifies with the text as the key', () => {
    const text = 'a secret of the caller, long enough';
    const headers = buildSignatureHeaders({ messageId: 'evt_1', at: new Date(), body: '{}' }, [text]);
    expect(new Webhook(text, { format: 'raw' }).verify('{}', headers)).toEqual({});
  });
});

describe('the secrets that sign', () => {
  const box = createSecretBox('m'.repeat(32));
  const seal = (text: string) => box.seal('webhook-secret', 'id', text);
  const validUntil = new Date('2026-03-10T00:00:00Z');

  it('are the new one and, until its end, the one before', () => {
    const webhook = { _id: 'id', sealedSecret: seal('new'), previousSecret: { sealed: seal('old'), validUntil } };
    expect(openSigningSecrets(webhook, box, new Date(validUntil.getTime() - 1))).toEqual(['new', 'old']);
    expect(openSigningSecrets(webhook, box, validUntil)).toEqual(['new']);
    expect(openSigningSecrets({ ...webhook, previousSecret: null }, box, new Date(0))).toEqual(['new']);
  });

  it('open for their own webhook only', () => {
    const webhook = { _id: 'another', sealedSecret: seal('new'), previousSecret: null };
    expect(() => openSigningSecrets(webhook, box, validUntil)).toThrow('ENCRYPTION_SECRET');
  });
});
