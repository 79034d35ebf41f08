import { type CryptoKey, exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccessTokens, type SigningKey, TokenKeyStore } from '../../../../src/auth/tokens.ts';
import { createSecretBox } from '../../../../src/platform/secrets.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

const ISSUER = 'eip155:84532:0x0000000000000000000000000000000000000001:0';
const content = { sessionId: 'a-session', wallet: `0x${'a'.repeat(40)}`, tier: 'basic' } as const;
const issuedAt = new Date('2026-12-31T23:59:50.700Z');

let database: TestDatabase;
let now = issuedAt;
let tokens: AccessTokens;
let own: SigningKey;
let strange: CryptoKey;
let publicX: string;
beforeAll(async () => {
  database = await testDatabase();
  const keys = new TokenKeyStore({ db: database.db, secretBox: createSecretBox('s'.repeat(32)), now: () => now, minReloadMs: 1 });
  tokens = new AccessTokens({ keys, issuer: ISSUER, now: () => now });
  own = await keys.getSigningKey();
  publicX = (await keys.listPublicKeys())[0]!.x;
  strange = (await generateKeyPair('EdDSA', { crv: 'Ed25519' })).privateKey;
});
afterAll(() => database.drop());

const seconds = Math.floor(issuedAt.getTime() / 1_000);
const claims = {
  iss: ISSUER,
  aud: 'bitcoin-signal-oracle',
  sub: content.wallet,
  jti: content.sessionId,
  iat: seconds,
  exp: seconds + 1_800,
};

interface Forgery {
  header?: Partial<JWTHeaderParameters>;
  payload?: JWTPayload;
  key?: CryptoKey | Uint8Array;
}

/** A token as ours but for what is given; `undefined` leaves something out. */
const forged = ({ header, payload, key = own.privateKey }: Forgery) =>
  new SignJWT({ ...claims, ...payload }).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: own.kid, ...header }).sign(key);

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const partsOf = (token: string) => token.split('.') as [string, string, string];

describe('an access token', () => {
  it('is valid for its session for 30 minutes and not a second longer', async () => {
    now = issuedAt;
    const { token, expiresAt } = await tokens.issue(content);
    expect(expiresAt).toEqual(new Date('2027-01-01T00:29:50.000Z'));
    for (const at of ['2026-12-31T23:59:50.700Z', '2027-01-01T00:00:10.000Z', '2027-01-01T00:29:49.999Z']) {
      now = new Date(at);
      expect(await tokens.verify(token)).toEqual({ sessionId: content.sessionId, wallet: content.wallet });
    }
    now = expiresAt;
    await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message: 'The access token has expired' });
    now = issuedAt;
  });

  it('names issuer, audience and subject', async () => {
    const { token } = await tokens.issue(content);
    const [header, payload] = partsOf(token)
      .slice(0, 2)
      .map((text) => JSON.parse(Buffer.from(text, 'base64url').toString()));
    expect(header).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: own.kid });
    expect(payload).toEqual({ ...claims, tier: 'basic' });
  });

  it.each<[string, string, () => Promise<string>]>([
    ['without a signature', 'not signed with EdDSA', async () => new UnsecuredJWT(claims).setIssuer(ISSUER).encode()],
    [
      'of alg none with our kid',
      'not signed with EdDSA',
      async () => `${part({ alg: 'none', typ: 'at+jwt', kid: own.kid })}.${part(claims)}.`,
    ],
    [
      'of HS256 under our public key',
      'not signed with EdDSA',
      () => forged({ header: { alg: 'HS256' }, key: Buffer.from(publicX.padEnd(44, '=')) }),
    ],
    ['of another key under our kid', 'signature of the access token is wrong', () => forged({ key: strange })],
    ['of a key that we do not know', 'a key that is not in use here', () => forged({ header: { kid: 'k' }, key: strange })],
    [
      'that brings its own key along',
      'a key that is not in use here',
      async () => {
        const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
        return forged({ header: { kid: 'k', jwk: await exportJWK(pair.publicKey) }, key: pair.privateKey });
      },
    ],
    [
      'that brings its own key under our kid',
      'signature of the access token is wrong',
      async () => {
        const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
        return forged({ header: { jwk: await exportJWK(pair.publicKey), jku: 'https://evil.example/jwks.json' }, key: pair.privateKey });
      },
    ],
    ['without a kid', 'does not name its key', () => forged({ header: { kid: undefined } })],
    ['with a kid that is no text', 'does not name its key', () => forged({ header: { kid: { $ne: '' } as never } })],
    [
      'with a critical header that nobody knows',
      'cannot be read',
      async () => {
        const [, payload, signature] = partsOf(await forged({}));
        return `${part({ alg: 'EdDSA', typ: 'at+jwt', kid: own.kid, crit: ['x'], x: 1 })}.${payload}.${signature}`;
      },
    ],
    ['of another kind', 'is not an access token', () => forged({ header: { typ: 'JWT' } })],
    ['of no kind', 'is not an access token', () => forged({ header: { typ: undefined } })],
    ['of another issuer', 'issued by another service', () => forged({ payload: { iss: ISSUER.replace(/0$/, '1') } })],
    ['of no issuer', 'issued by another service', () => forged({ payload: { iss: undefined } })],
    ['for another audience', 'meant for another service', () => forged({ payload: { aud: 'elsewhere' } })],
    ['without an end', 'no valid "exp"', () => forged({ payload: { exp: undefined } })],
    ['with an end that is no number', 'no valid "exp"', () => forged({ payload: { exp: '9999999999' as never } })],
    ['that is expired', 'has expired', () => forged({ payload: { exp: seconds - 1 } })],
    ['that is not valid yet', 'no valid "nbf"', () => forged({ payload: { nbf: seconds + 600 } })],
    ['without a session', 'no valid "jti"', () => forged({ payload: { jti: undefined } })],
    ['with a session that is no text', 'names no session', () => forged({ payload: { jti: { $gt: '' } as never } })],
    ['without a wallet', 'no valid "sub"', () => forged({ payload: { sub: undefined } })],
    [
      'whose content was changed',
      'signature of the access token is wrong',
      async () => {
        const [header, , signature] = partsOf(await forged({}));
        return `${header}.${part({ ...claims, tier: 'premium' })}.${signature}`;
      },
    ],
    [
      'without its end',
      'cannot be read',
      async () =>
        partsOf(await forged({}))
          .slice(0, 2)
          .join('.'),
    ],
    ['that is empty text', 'cannot be read', async () => ''],
    ['that is no token', 'cannot be read', async () => 'premium'],
    ['that is very long', 'cannot be read', () => forged({ payload: { filler: 'a'.repeat(4_000) } })],
  ])('is refused %s: %s', async (_, words, make) => {
    const error: unknown = await tokens.verify(await make()).catch((refusal: unknown) => refusal);
    expect(error).toMatchObject({ code: 'UNAUTHENTICATED', field: 'Authorization', message: expect.stringContaining(words) });
  });

  it('is rejected when any character is changed', async () => {
    const token = await forged({});
    for (let index = 0; index < token.length; index += 7) {
      const changed = token.slice(0, index) + (token[index] === 'A' ? 'B' : 'A') + token.slice(index + 1);
      // The last bits of a base64url text may stand for nothing.
      const same = partsOf(changed).every((text, i) => Buffer.from(text, 'base64url').equals(Buffer.from(partsOf(token)[i]!, 'base64url')));
      if (!same) await expect(tokens.verify(changed), changed).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
  });
});
