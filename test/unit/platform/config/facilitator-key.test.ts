import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { inspectConfig, loadConfig } from '../../../../src/config.ts';
import { createEd25519Key, createP256Key } from '../../../support/commerce/cdp-server.ts';

const URL = { X402_FACILITATOR_URL: 'https://api.cdp.coinbase.com/platform/v2/x402' };
const settings = ({ id, secret }: { id: string; secret: string }) => ({ ...URL, CDP_API_KEY_ID: id, CDP_API_KEY_SECRET: secret });
const problemsOf = (environment: Record<string, string>) => inspectConfig(environment).problems;

describe('the key of a facilitator', () => {
  const p256 = createP256Key();
  it.each([
    ['Ed25519', createEd25519Key()],
    ['P-256', p256],
    ['P-256 on one line', { ...p256, secret: p256.secret.replaceAll('\n', '\\n') }],
  ])('is accepted as %s', (_, key) => {
    expect(loadConfig(settings(key)).CDP_API_KEY_SECRET).toBe(key.secret);
  });

  const ed25519 = createEd25519Key();
  const swapped = Buffer.from(ed25519.secret, 'base64');
  it.each([
    ['random text', 'not a key at all'],
    ['a seed without its public key', Buffer.from(ed25519.secret, 'base64').subarray(0, 32).toString('base64')],
    ['halves that do not belong together', Buffer.concat([swapped.subarray(32), swapped.subarray(0, 32)]).toString('base64')],
    ['an RSA key', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()],
    [
      'a secp256k1 key',
      generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export({ format: 'pem', type: 'sec1' }).toString(),
    ],
  ])('is rejected as %s, naming the setting and not its value', (_, secret) => {
    const problems = problemsOf(settings({ id: ed25519.id, secret }));
    expect(problems).toEqual([{ name: 'CDP_API_KEY_SECRET', problem: expect.stringContaining('must be base64 of the 64 bytes') }]);
    expect(JSON.stringify(problems)).not.toContain(secret.slice(0, 12));
  });

  it('needs both settings, a facilitator, and https unless it is on this machine', () => {
    const { CDP_API_KEY_ID, CDP_API_KEY_SECRET, ...url } = settings(ed25519);
    expect(problemsOf({ ...url, CDP_API_KEY_ID })).toEqual([expect.objectContaining({ name: 'CDP_API_KEY_SECRET' })]);
    expect(problemsOf({ ...url, CDP_API_KEY_SECRET })).toEqual([expect.objectContaining({ name: 'CDP_API_KEY_ID' })]);
    expect(problemsOf({ CDP_API_KEY_ID, CDP_API_KEY_SECRET })).toEqual([expect.objectContaining({ name: 'X402_FACILITATOR_URL' })]);
    const at = (X402_FACILITATOR_URL: string) => problemsOf({ CDP_API_KEY_ID, CDP_API_KEY_SECRET, X402_FACILITATOR_URL });
    expect(at('http://x402.example.org')).toEqual([{ name: 'X402_FACILITATOR_URL', problem: expect.stringContaining('https') }]);
    expect(at('http://127.0.0.1:4021')).toEqual([]);
  });
});
