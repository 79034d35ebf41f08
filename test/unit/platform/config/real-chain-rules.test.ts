import { randomBytes } from 'node:crypto';
import { bytesToHex, type Hex } from 'viem';
import { generatePrivateKey, mnemonicToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../src/config.ts';
import { OracleError } from '../../../../src/errors.ts';
import { estimateEntropyBits } from '../../../../src/platform/secrets.ts';

const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const ADDRESS = `0x${'5'.repeat(40)}`;
const safe = () => ({
  PUBLIC_URL: 'https://oracle.example.org',
  CHAIN_RPC_URL: 'https://rpc.example.org',
  ATTESTER_PRIVATE_KEY: generatePrivateKey(),
  REPORTER_PRIVATE_KEY: generatePrivateKey(),
  PROVIDER_PRIVATE_KEY: generatePrivateKey(),
  FACILITATOR_PRIVATE_KEY: generatePrivateKey(),
  SALT_SECRET: hex(32),
  ENCRYPTION_SECRET: hex(32),
  ...{ ADMIN_USER: 'operator', ADMIN_PASSWORD: randomBytes(18).toString('base64') },
  ...{ PAYEE_ADDRESS: ADDRESS, GATE_TOKEN_ADDRESS: ADDRESS, STABLECOIN_ADDRESS: ADDRESS },
  ...{ IDENTITY_REGISTRY_ADDRESS: ADDRESS, REPUTATION_REGISTRY_ADDRESS: ADDRESS },
});

const MNEMONIC = 'test test test test test test test test test test test junk';
const publishedKey = (addressIndex: number): Hex => bytesToHex(mnemonicToAccount(MNEMONIC, { addressIndex }).getHdKey().privateKey!);

function errorOf(environment: Record<string, string>): OracleError {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof OracleError) return error;
    throw error;
  }
  throw new Error('the settings are taken');
}

/** Names of the settings that the start refuses. */
const refusedNames = (environment: Record<string, string>) =>
  [...errorOf(environment).message.matchAll(/Setting (\w+): /g)].map(([, name]) => name);

describe('a real chain', () => {
  it('takes random secrets of every usual form', () => {
    for (let round = 0; round < 50; round++) {
      expect(loadConfig(safe()).chainMode).toBe('real');
      const forms = { SALT_SECRET: hex(16), ENCRYPTION_SECRET: randomBytes(24).toString('base64') };
      expect(loadConfig({ ...safe(), ...forms, ADMIN_PASSWORD: randomBytes(12).toString('base64url') }).chainMode).toBe('real');
    }
  });

  it('names malformed, missing and unsafe settings in one error, each once', () => {
    const { PAYEE_ADDRESS: _missing, ...others } = safe();
    const wrong = { SALT_SECRET: 'changeme', PORT: 'none', ATTESTER_PRIVATE_KEY: publishedKey(0), PUBLIC_URL: 'http://oracle.example.org' };
    expect(refusedNames({ ...others, ...wrong }).toSorted()).toEqual([
      ...['ATTESTER_PRIVATE_KEY', 'PAYEE_ADDRESS', 'PORT', 'PUBLIC_URL', 'SALT_SECRET'],
    ]);
  });

  it('rejects each of the first 30 keys that anvil publishes, in any case', () => {
    for (let index = 0; index < 30; index++) {
      const key = publishedKey(index);
      expect(refusedNames({ ...safe(), PROVIDER_PRIVATE_KEY: key }), `key ${index}`).toEqual(['PROVIDER_PRIVATE_KEY']);
      expect(refusedNames({ ...safe(), ATTESTER_PRIVATE_KEY: key.toUpperCase().replace('0X', '0x') })).toEqual(['ATTESTER_PRIVATE_KEY']);
    }
  });

  it.each([
    'x'.repeat(32),
    'ab'.repeat(20),
    '0123456789abcdef'.repeat(4),
    '00000000000000000000000000000001',
    'deadbeefcafebabedeadbeefcafebabe',
    'changeme-changeme-changeme-please',
    'Change-Me-To-A-Long-Random-String!!',
    'p4ssw0rd-p4ssw0rd-p4ssw0rd-p4ssw0rd',
    'abcdefghijklmnopqrstuvwxyz012345',
    'a-very-long-secret-of-32-characters',
    'my super secret salt for the oracle 2026',
    'I like to eat apples on sunny days',
    MNEMONIC,
  ])('rejects the master secret %j', (secret) => {
    expect(refusedNames({ ...safe(), SALT_SECRET: secret })).toEqual(['SALT_SECRET']);
    expect(refusedNames({ ...safe(), ENCRYPTION_SECRET: secret })).toEqual(['ENCRYPTION_SECRET']);
  });

  it('rejects a master secret that is equal to another secret, whatever its case and prefix', () => {
    const settings = safe();
    const { SALT_SECRET: salt, ATTESTER_PRIVATE_KEY: key } = settings;
    expect(refusedNames({ ...settings, ENCRYPTION_SECRET: salt })).toEqual(['ENCRYPTION_SECRET']);
    expect(refusedNames({ ...settings, ENCRYPTION_SECRET: salt.toUpperCase() })).toEqual(['ENCRYPTION_SECRET']);
    expect(refusedNames({ ...settings, SALT_SECRET: key.slice(2) })).toEqual(['SALT_SECRET']);
    expect(refusedNames({ ...settings, ADMIN_PASSWORD: salt })).toEqual(['SALT_SECRET']);
  });

  it.each([
    'password12345678',
    'Sup3rS3cretPassw0rd!',
    'administrator1234',
    'operator-operator1',
    'correct horse battery staple',
    '1234567890123456',
    'qwertyuiopasdfgh',
  ])('rejects the password %j of the operator', (password) => {
    expect(refusedNames({ ...safe(), ADMIN_PASSWORD: password })).toEqual(['ADMIN_PASSWORD']);
  });

  it('rejects a public URL without encryption', () => {
    expect(refusedNames({ ...safe(), PUBLIC_URL: 'http://oracle.example.org' })).toEqual(['PUBLIC_URL']);
  });

  it('names every wrong setting at once, says what to do, and shows no secret', () => {
    const unsafe = {
      ATTESTER_PRIVATE_KEY: publishedKey(0),
      REPORTER_PRIVATE_KEY: publishedKey(1),
      SALT_SECRET: 'changeme'.repeat(4),
      ENCRYPTION_SECRET: 'changeme'.repeat(4),
      ADMIN_PASSWORD: 'password-password',
    };
    const settings = { ...safe(), ...unsafe, PUBLIC_URL: 'http://oracle.example.org', PAYEE_ADDRESS: '' };
    const { code, message, suggestedAction } = errorOf(settings);
    const names = [...Object.keys(unsafe), 'PUBLIC_URL', 'PAYEE_ADDRESS'];
    expect(new Set(refusedNames(settings))).toEqual(new Set(names));
    expect(code).toBe('CONFIG_INVALID');
    for (const name of names) expect(suggestedAction).toContain(name);
    for (const secret of Object.values(unsafe)) expect(message).not.toContain(secret);
    expect(message).toContain('openssl rand -hex 32');
  });

  it('names every malformed setting at once', () => {
    expect(refusedNames({ PORT: 'abc', ROLE: 'boss', CHAIN_ID: '0' })).toEqual(['PORT', 'ROLE', 'CHAIN_ID']);
  });
});

describe('a demonstration', () => {
  it('takes plain HTTP and a simple password', () => {
    const settings = { PUBLIC_URL: 'http://127.0.0.1:3000', ADMIN_USER: 'operator', ADMIN_PASSWORD: 'password12345678' };
    expect(loadConfig(settings)).toMatchObject({ chainMode: 'own', ...settings });
  });
});

describe('the estimate of a secret', () => {
  it('stays fast for what a pattern could be tried on for ever', () => {
    const started = performance.now();
    for (const secret of [`${'Aa '.repeat(200)}1`, `${'-'.repeat(600)}1`, `${'A '.repeat(300)}1`])
      expect(estimateEntropyBits(secret)).toBeLessThan(20);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
