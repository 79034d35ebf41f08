import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSecretBox } from '../../../src/platform/secrets.ts';

const box = createSecretBox('m'.repeat(32));
const refused = expect.objectContaining({ code: 'CONFIG_INVALID', field: 'ENCRYPTION_SECRET' });

describe('a secret box', () => {
  it('opens what it sealed, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (owner, plain) => {
        expect(box.open('webhook-secret', owner, box.seal('webhook-secret', owner, plain))).toBe(plain);
      }),
    );
  });

  it('shows nothing of the secret, and never the same twice', () => {
    const sealed = box.seal('webhook-secret', 'a', 'a secret of the caller');
    expect(Buffer.from(sealed.slice(3), 'base64url').toString()).not.toContain('secret');
    expect(box.seal('webhook-secret', 'a', 'a secret of the caller')).not.toBe(sealed);
  });

  it('opens for the same purpose, owner and master secret only, and not when changed', () => {
    const sealed = box.seal('webhook-secret', 'a', 'secret');
    expect(() => box.open('token-signing-key', 'a', sealed)).toThrow(refused);
    expect(() => box.open('webhook-secret', 'b', sealed)).toThrow(refused);
    expect(() => createSecretBox('n'.repeat(32)).open('webhook-secret', 'a', sealed)).toThrow(refused);
    for (let i = 3; i < sealed.length; i++) {
      const changed = sealed.slice(0, i) + (sealed[i] === 'A' ? 'Q' : 'A') + sealed.slice(i + 1);
      if (Buffer.from(changed.slice(3), 'base64url').equals(Buffer.from(sealed.slice(3), 'base64url'))) continue;
      expect(() => box.open('webhook-secret', 'a', changed)).toThrow(refused);
    }
    expect(() => box.open('webhook-secret', 'a', '')).toThrow(refused);
  });
});
