import { createLocalJWKSet, FlattenedSign, flattenedVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CARD_KEY_RETIREMENT_DAYS, CardKeys } from '../../../src/access/card-keys.ts';
import { TokenKeys } from '../../../src/access/token-keys.ts';
import { createSecretBox } from '../../../src/secret-box.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

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
  return { keys: new CardKeys(options), tokens: new TokenKeys(options) };
}

const kidsOf = async ({ keys } = open()) => (await keys.published()).map(({ kid }) => kid);

describe('the first key', () => {
  it('is one, however many processes start at once, and the same after a restart', async () => {
    const signing = await Promise.all(Array.from({ length: 8 }, () => open().keys.signing()));
    expect(new Set(signing.map(({ kid }) => kid)).size).toBe(1);
    expect(await database.db.collection('card_keys').countDocuments()).toBe(1);
    expect((await open().keys.signing()).kid).toBe(signing[0].kid);
  });

  it('is published without its private part, which is stored sealed', async () => {
    const { keys } = open();
    const { kid } = await keys.signing();
    const coordinate = expect.stringMatching(/^[\w-]{43}$/);
    expect(await keys.published()).toEqual([{ kty: 'EC', crv: 'P-256', x: coordinate, y: coordinate, kid, alg: 'ES256', use: 'sig' }]);
    const stored = JSON.stringify(await database.db.collection('card_keys').find().toArray());
    expect(stored).not.toContain('"d"');
    expect(stored).toContain('"sealedPrivateJwk":"v1.');
  });

  it('opens under its own secret and for its own purpose only', async () => {
    await open().keys.signing();
    await expect(open('t'.repeat(32)).keys.signing()).rejects.toEqual(refused);
    const [{ kid, sealedPrivateJwk }] = await database.db.collection('card_keys').find().toArray();
    expect(() => createSecretBox('s'.repeat(32)).open('token-signing-key', kid, sealedPrivateJwk)).toThrow(refused);
  });
});

describe('a new key', () => {
  it('signs from then on, and the one before is published until it is retired', async () => {
    const before = (await open().keys.signing()).kid;
    const { kid } = await open().keys.rotate();
    expect((await open().keys.signing()).kid).toBe(kid);
    expect(await kidsOf()).toEqual([kid, before]);
    now = new Date(now.getTime() + CARD_KEY_RETIREMENT_DAYS * DAY - 1);
    expect(await kidsOf()).toEqual([kid, before]);
    now = new Date(now.getTime() + 1);
    expect(await kidsOf()).toEqual([kid]);
  });

  it('is one for processes that make it at the same moment', async () => {
    await open().keys.signing();
    const made = await Promise.all(Array.from({ length: 6 }, () => open().keys.rotate()));
    const kids = await kidsOf();
    expect(kids[0]).toBe((await open().keys.signing()).kid);
    expect(kids).toEqual(expect.arrayContaining(made.map(({ kid }) => kid)));
    expect(kids).toHaveLength(await database.db.collection('card_keys').countDocuments());
  });
});

it('the keys of cards and of session tokens verify nothing of each other', async () => {
  const { keys, tokens } = open();
  const card = await keys.signing();
  const token = await tokens.signing();
  const payload = new TextEncoder().encode('{}');
  const byCard = await new FlattenedSign(payload).setProtectedHeader({ alg: 'ES256', kid: card.kid }).sign(card.privateKey);
  const byToken = await new FlattenedSign(payload).setProtectedHeader({ alg: 'EdDSA', kid: token.kid }).sign(token.privateKey);
  const sets = { card: createLocalJWKSet({ keys: await keys.published() }), token: createLocalJWKSet({ keys: await tokens.published() }) };
  await expect(flattenedVerify(byCard, sets.card)).resolves.toBeTruthy();
  await expect(flattenedVerify(byToken, sets.token)).resolves.toBeTruthy();
  await expect(flattenedVerify(byCard, sets.token)).rejects.toThrow();
  await expect(flattenedVerify(byToken, sets.card)).rejects.toThrow();
  expect(await tokens.verifying(card.kid)).toBeNull();
});

it('whose predecessors are revoked is the only one that is published, also in other processes', async () => {
  await open().keys.signing();
  await open().keys.rotate();
  const { kid } = await open().keys.rotate({ revoke: true });
  expect(await kidsOf()).toEqual([kid]);
  expect((await open().keys.signing()).kid).toBe(kid);
});
