import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import type { OracleError } from '../../../../src/errors.ts';
import {
  buildSignatureHeaders,
  generateSecret,
  openSigningSecrets,
  toSigningKey,
  toVerificationKey,
} from '../../../../src/events/webhooks/call.ts';
import { createSecretBox } from '../../../../src/platform/secrets.ts';

function suggestionFor(secret: string): string {
  try {
    toSigningKey(secret);
  } catch (error) {
    return String((error as OracleError).details!.suggestion);
  }
  throw new Error('it was accepted');
}

const refused = expect.objectContaining({ code: 'INPUT_INVALID', field: 'secret' });

describe('the secret of a webhook', () => {
  it('is made of 32 random bytes, as Standard Webhooks writes them', () => {
    const secrets = Array.from({ length: 50 }, generateSecret);
    expect(new Set(secrets).size).toBe(50);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(toSigningKey(secret)).toHaveLength(32);
    }
  });

  it('stands for the bytes that its base64 stands for, padded or not', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 64 }), (bytes) => {
        const base64 = Buffer.from(bytes).toString('base64');
        expect(toSigningKey(`whsec_${base64}`)).toEqual(Buffer.from(bytes));
        expect(toSigningKey(`whsec_${base64.replace(/=+$/, '')}`)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('is its own key when it is any other text', () => {
    expect(toSigningKey('a shared secret, long enough')).toEqual(Buffer.from('a shared secret, long enough'));
    expect(toSigningKey('ä'.repeat(8))).toHaveLength(16);
  });

  it('has a key that stock libraries verify with, whatever its form', () => {
    const key = Buffer.alloc(32, 0xfb);
    const base64 = key.toString('base64');
    const forms = [`whsec_${base64}`, `whsec_${base64.replace('=', '')}`, base64, key.toString('hex'), `v1,whsec_${base64}`, 'ä'.repeat(8)];
    for (const secret of forms) {
      const isPrefixed = secret.startsWith('whsec_');
      expect(toVerificationKey(secret)).toBe(`whsec_${isPrefixed ? base64 : Buffer.from(secret).toString('base64')}`);
    }
  });

  it.each([
    ['nothing', ''],
    ['short text', 'x'.repeat(15)],
    ['a short key', `whsec_${Buffer.alloc(15, 1).toString('base64')}`],
    ['no base64', `whsec_${'!'.repeat(40)}`],
    ['base64 with a space', `whsec_ ${Buffer.alloc(32, 1).toString('base64')}`],
    ['base64 of the URL alphabet', `whsec_${Buffer.alloc(33, 0xfb).toString('base64url')}`],
    ['base64 with stray bits', `whsec_${'A'.repeat(41)}B`],
    ['too much padding', `whsec_${Buffer.alloc(32, 1).toString('base64')}==`],
    ['a line break', `${'x'.repeat(30)}\n`],
    ['half a character', `${'x'.repeat(30)}\ud800`],
    ['too long a text', 'x'.repeat(257)],
  ])('is rejected as %s, and not repeated', (_, secret) => {
    expect(() => toSigningKey(secret)).toThrow(refused);
    if (secret !== '') expect(() => toSigningKey(secret)).not.toThrow(secret);
    const [one, other] = [suggestionFor(secret), suggestionFor(secret)];
    expect(toSigningKey(one)).toHaveLength(32);
    expect(one).not.toBe(other);
  });
});
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
