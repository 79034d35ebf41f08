import { createLocalJWKSet, FlattenedSign, flattenedVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CARD_KEY_RETIREMENT_DAYS, CardKeyStore, TokenKeyStore } from '../../../../src/auth/tokens.ts';
import { createSecretBox } from '../../../../src/platform/secrets.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

const DAY = 86_400_000;
const refused = expect.objectContaining({ code: 'CONFIG_INVALID', field: 'ENCRYPTION_SECRET' });

let database: TestDatabase;
let now: Date;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  now = new Date('2026-12-31T23:59:50Z');
  await database.db.collection('card_keys').deleteMany({});
});

/** What one process has of them. */
function open(secret = 's'.repeat(32)) {
  const options = { db: database.db, secretBox: createSecretBox(secret), now: () => now };
  return { keys: new CardKeyStore(options), tokens: new TokenKeyStore(options) };
}

const kidsOf = async ({ keys } = open()) => (await keys.listPublicKeys()).map(({ kid }) => kid);

describe('the first key', () => {
  it('is one for all processes that start at once, and the same after a restart', async () => {
    const signing = await Promise.all(Array.from({ length: 8 }, () => open().keys.getSigningKey()));
    expect(new Set(signing.map(({ kid }) => kid)).size).toBe(1);
    expect(await database.db.collection('card_keys').countDocuments()).toBe(1);
    expect((await open().keys.getSigningKey()).kid).toBe(signing[0].kid);
  });

  it('is published without its private part, which is stored sealed', async () => {
    const { keys } = open();
    const { kid } = await keys.getSigningKey();
    const coordinate = expect.stringMatching(/^[\w-]{43}$/);
    expect(await keys.listPublicKeys()).toEqual([{ kty: 'EC', crv: 'P-256', x: coordinate, y: coordinate, kid, alg: 'ES256', use: 'sig' }]);
    const stored = JSON.stringify(await database.db.collection('card_keys').find().toArray());
    expect(stored).not.toContain('"d"');
    expect(stored).toContain('"sealedPrivateJwk":"v1.');
  });

  it('opens only under its own secret and purpose', async () => {
    await open().keys.getSigningKey();
    await expect(open('t'.repeat(32)).keys.getSigningKey()).rejects.toEqual(refused);
    const [{ kid, sealedPrivateJwk }] = await database.db.collection('card_keys').find().toArray();
    expect(() => createSecretBox('s'.repeat(32)).open('token-signing-key', kid, sealedPrivateJwk)).toThrow(refused);
  });
});

describe('a new key', () => {
  it('signs from then on, and its predecessor is published until it retires', async () => {
    const before = (await open().keys.getSigningKey()).kid;
    const { kid } = await open().keys.rotate();
    expect((await open().keys.getSigningKey()).kid).toBe(kid);
    expect(await kidsOf()).toEqual([kid, before]);
    now = new Date(now.getTime() + CARD_KEY_RETIREMENT_DAYS * DAY - 1);
    expect(await kidsOf()).toEqual([kid, before]);
    now = new Date(now.getTime() + 1);
    expect(await kidsOf()).toEqual([kid]);
  });

  it('is one for processes that create it at the same moment', async () => {
    await open().keys.getSigningKey();
    const made = await Promise.all(Array.from({ length: 6 }, () => open().keys.rotate()));
    const kids = await kidsOf();
    expect(kids[0]).toBe((await open().keys.getSigningKey()).kid);
    expect(kids).toEqual(expect.arrayContaining(made.map(({ kid }) => kid)));
    expect(kids).toHaveLength(await database.db.collection('card_keys').countDocuments());
  });
});

it("keys of cards and of session tokens do not verify each other's signatures", async () => {
  const { keys, tokens } = open();
  const card = await keys.getSigningKey();
  const token = await tokens.getSigningKey();
  const payload = new TextEncoder().encode('{}');
  const byCard = await new FlattenedSign(payload).setProtectedHeader({ alg: 'ES256', kid: card.kid }).sign(card.privateKey);
  const byToken = await new FlattenedSign(payload).setProtectedHeader({ alg: 'EdDSA', kid: token.kid }).sign(token.privateKey);
  const sets = {
    card: createLocalJWKSet({ keys: await keys.listPublicKeys() }),
    token: createLocalJWKSet({ keys: await tokens.listPublicKeys() }),
  };
  await expect(flattenedVerify(byCard, sets.card)).resolves.toBeTruthy();
  await expect(flattenedVerify(byToken, sets.token)).resolves.toBeTruthy();
  await expect(flattenedVerify(byCard, sets.token)).rejects.toThrow();
  await expect(flattenedVerify(byToken, sets.card)).rejects.toThrow();
  expect(await tokens.findVerificationKey(card.kid)).toBeNull();
});

it('after a revocation only the new key is published, also by other processes', async () => {
  await open().keys.getSigningKey();
  await open().keys.rotate();
  const { kid } = await open().keys.rotate({ revoke: true });
  expect(await kidsOf()).toEqual([kid]);
  expect((await open().keys.getSigningKey()).kid).toBe(kid);
});
