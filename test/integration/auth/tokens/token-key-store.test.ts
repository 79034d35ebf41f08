import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessTokens, TokenKeyStore } from '../../../../src/auth/tokens.ts';
import { connectMongo } from '../../../../src/platform/mongo.ts';
import { createSecretBox } from '../../../../src/platform/secrets.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

const content = { sessionId: 'a-session', wallet: `0x${'a'.repeat(40)}`, tier: 'basic' } as const;

let database: TestDatabase;
let now: Date;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  now = new Date('2026-12-31T23:59:50Z');
  await database.db.collection('token_keys').deleteMany({});
});

/** What one process has of them. */
function process({ secret = 's'.repeat(32), db = database.db, minReloadMs = 1 } = {}) {
  const keys = new TokenKeyStore({ db, secretBox: createSecretBox(secret), now: () => now, minReloadMs: minReloadMs });
  const tokens = new AccessTokens({ keys, issuer: 'eip155:84532:0x0:0', now: () => now });
  return { keys, tokens, kids: async () => (await keys.listPublicKeys()).map(({ kid }) => kid) };
}

const pass = (minutes: number) => {
  now = new Date(now.getTime() + minutes * 60_000);
};

describe('the first key', () => {
  it('is one for all processes that start at once, and the same after a restart', async () => {
    const processes = Array.from({ length: 8 }, () => process());
    const signing = await Promise.all(processes.map(({ keys }) => keys.getSigningKey()));
    expect(new Set(signing.map(({ kid }) => kid)).size).toBe(1);
    expect(await database.db.collection('token_keys').countDocuments()).toBe(1);
    expect((await process().keys.getSigningKey()).kid).toBe(signing[0]!.kid);
  });

  it('is published without its private part, which is stored sealed', async () => {
    const { keys } = process();
    const { kid } = await keys.getSigningKey();
    expect(await keys.listPublicKeys()).toEqual([
      { kty: 'OKP', crv: 'Ed25519', x: expect.stringMatching(/^[\w-]{43}$/), kid, alg: 'EdDSA', use: 'sig' },
    ]);
    const stored = JSON.stringify(await database.db.collection('token_keys').find().toArray());
    expect(stored).not.toContain('"d"');
    expect(stored).toContain('"sealedPrivateJwk":"v1.');
  });

  it('does not open under another secret', async () => {
    await process().keys.getSigningKey();
    await expect(process({ secret: 't'.repeat(32) }).keys.getSigningKey()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'ENCRYPTION_SECRET',
    });
  });
});

describe('a rotation', () => {
  it('keeps tokens of the old key valid until they expire, and no longer', async () => {
    const { keys, tokens, kids } = process();
    const { token } = await tokens.issue(content);
    const [old] = await kids();
    const { kid, revokedKids } = await keys.rotate();
    expect(revokedKids).toEqual([]);
    expect(await kids()).toEqual([kid, old]);
    pass(29);
    expect(await tokens.verify(token)).toMatchObject({ sessionId: content.sessionId });
    expect(await kids()).toEqual([kid, old]);
    pass(3);
    expect(await kids()).toEqual([kid]);
    await expect(process().tokens.verify(token)).rejects.toThrow('a key that is not in use here');
    await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('applies immediately in other processes, for signing and verification', async () => {
    const [one, other] = [process(), process()];
    await other.tokens.verify((await one.tokens.issue(content)).token);
    const { kid } = await one.keys.rotate();
    expect((await other.keys.getSigningKey()).kid).toBe(kid);
    expect(await other.tokens.verify((await one.tokens.issue(content)).token)).toMatchObject({ sessionId: content.sessionId });
  });

  it('in several processes at once returns the same active key to each', async () => {
    const { kids } = process();
    await process().keys.getSigningKey();
    const rotated = await Promise.all(Array.from({ length: 5 }, () => process().keys.rotate()));
    const known = await kids();
    const active = (await process().keys.getSigningKey()).kid;
    expect(known[0]).toBe(active);
    expect(rotated.map(({ kid }) => kid)).toContain(active);
    expect(new Set(rotated.map(({ kid }) => kid)).size).toBe(known.length - 1);
  });

  it('with revocation applies in other processes within a minute, also for known keys', async () => {
    const [one, other] = [process(), process()];
    const { token } = await one.tokens.issue(content);
    await other.tokens.verify(token);
    await one.keys.rotate({ revoke: true });
    pass(1.01);
    await expect(other.tokens.verify(token)).rejects.toThrow('a key that is not in use here');
  });

  it('with revocation invalidates all earlier tokens', async () => {
    const { keys, tokens, kids } = process();
    const first = await tokens.issue(content);
    const [firstKid] = await kids();
    const { kid: secondKid } = await keys.rotate();
    const second = await tokens.issue(content);
    const { kid, revokedKids } = await keys.rotate({ revoke: true });
    expect(revokedKids.toSorted()).toEqual([firstKid, secondKid].toSorted());
    expect(await kids()).toEqual([kid]);
    for (const { token } of [first, second]) {
      for (const { tokens: anyTokens } of [process(), { tokens }]) {
        await expect(anyTokens.verify(token)).rejects.toThrow('a key that is not in use here');
      }
    }
    expect(await tokens.verify((await tokens.issue(content)).token)).toMatchObject({ sessionId: content.sessionId });
  });
});

describe('a purge', () => {
  it('deletes keys without valid tokens, never the active key', async () => {
    const { keys } = process();
    const count = () => database.db.collection('token_keys').countDocuments();
    await keys.getSigningKey();
    await keys.rotate();
    await keys.purge();
    expect(await count()).toBe(2);
    pass(32);
    await keys.purge();
    expect(await count()).toBe(1);
    pass(60 * 24 * 365);
    await keys.purge();
    expect(await count()).toBe(1);
    // Its number goes on counting.
    await keys.rotate({ revoke: true });
    await keys.purge();
    expect(await database.db.collection('token_keys').find().toArray()).toMatchObject([{ _id: 3, revokedAt: null }]);
  });
});

it('a flood of unknown key ids costs the database next to nothing, and hides no new key', async () => {
  const watched = await connectMongo(database.uri, { monitorCommands: true });
  let reads = 0;
  watched.client.on('commandStarted', ({ commandName }) => {
    if (commandName === 'find') reads += 1;
  });
  const one = process();
  const other = process({ db: watched.db, minReloadMs: 50 });
  await other.tokens.verify((await one.tokens.issue(content)).token);
  expect(reads).toBe(1);
  await one.keys.rotate();
  const fresh = await one.tokens.issue(content);
  const flood = Array.from({ length: 500 }, (_, index) => other.keys.findVerificationKey(`made-up-${index}`));
  const found = other.tokens.verify(fresh.token);
  expect(await Promise.all(flood)).toEqual(flood.map(() => null));
  expect(await found).toMatchObject({ sessionId: content.sessionId });
  expect(reads).toBeLessThanOrEqual(3);
  await watched.close();
});
