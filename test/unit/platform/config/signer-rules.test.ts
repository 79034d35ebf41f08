import { describe, expect, it } from 'vitest';
import { type Environment, loadConfig } from '../../../../src/config.ts';

const address = (digit: string) => `0x${digit.repeat(40)}`;
const KMS = 'kms:arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const REAL: Environment = {
  PUBLIC_URL: 'https://oracle.example.org',
  CHAIN_RPC_URL: 'https://rpc.example.org',
  ATTESTER_SIGNER: KMS,
  REPORTER_SIGNER: 'https://user:pa55-phrase@signer.example.org',
  REPORTER_ADDRESS: address('a'),
  FACILITATOR_SIGNER: 'kms:alias/facilitator',
  AWS_REGION: 'eu-central-1',
  PROVIDER_PRIVATE_KEY: `0x${'ef'.repeat(32)}`,
  SALT_SECRET: '9f86d081884c7d659a2feaa0c55ad015',
  ENCRYPTION_SECRET: '60303ae22b998861bce3b28f33eec1be',
  PAYEE_ADDRESS: address('5'),
  GATE_TOKEN_ADDRESS: address('3'),
  STABLECOIN_ADDRESS: address('4'),
  IDENTITY_REGISTRY_ADDRESS: address('1'),
  REPUTATION_REGISTRY_ADDRESS: address('2'),
};

const refusal = (field: string, words: string) =>
  expect.objectContaining({ code: 'CONFIG_INVALID', field, message: `Setting ${field}: ${words}` });

describe('signers of a real chain', () => {
  it('are taken of every kind, with or without the expected address', () => {
    expect(loadConfig(REAL).chainMode).toBe('real');
    expect(loadConfig({ ...REAL, ATTESTER_ADDRESS: address('9') }).ATTESTER_ADDRESS).toBe(address('9'));
    expect(loadConfig({ ...REAL, FACILITATOR_SIGNER: '', X402_FACILITATOR_URL: 'https://x402.example.org' }).chainMode).toBe('real');
  });

  it.each([
    [
      { ATTESTER_PRIVATE_KEY: `0x${'ab'.repeat(32)}` },
      'ATTESTER_SIGNER',
      'is set, and so is ATTESTER_PRIVATE_KEY: a role has one signer; unset one of them',
    ],
    [
      { ATTESTER_SIGNER: '' },
      'ATTESTER_PRIVATE_KEY',
      'is required on a real chain (CHAIN_RPC_URL without CHAIN_LOCAL=1), or ATTESTER_SIGNER in its place',
    ],
    [
      { FACILITATOR_SIGNER: '' },
      'FACILITATOR_PRIVATE_KEY',
      'is required on a real chain unless X402_FACILITATOR_URL is set, or FACILITATOR_SIGNER in its place',
    ],
    [{ REPORTER_ADDRESS: '' }, 'REPORTER_ADDRESS', 'is required when REPORTER_SIGNER is the URL of a Web3Signer'],
    [{ REPORTER_SIGNER: KMS }, 'REPORTER_SIGNER', 'must not be the key of ATTESTER_SIGNER: each role has a wallet of its own'],
    [{ AWS_REGION: '' }, 'AWS_REGION', 'is required, since FACILITATOR_SIGNER names its key without an ARN'],
    [{ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLEAKIDEXAMP' }, 'AWS_SECRET_ACCESS_KEY', 'is required when AWS_ACCESS_KEY_ID is set'],
  ])('are refused with %j, naming %s', (change, field, words) => {
    expect(() => loadConfig({ ...REAL, ...change })).toThrow(refusal(field, words));
  });

  it('are refused for one wallet of a Web3Signer in two roles, and taken for two', () => {
    const provider = { PROVIDER_PRIVATE_KEY: '', PROVIDER_SIGNER: 'https://signer.example.org' };
    expect(loadConfig({ ...REAL, ...provider, PROVIDER_ADDRESS: address('b') }).chainMode).toBe('real');
    expect(() => loadConfig({ ...REAL, ...provider, PROVIDER_ADDRESS: address('A') })).toThrow(
      refusal('PROVIDER_SIGNER', 'must not be the key of REPORTER_SIGNER: each role has a wallet of its own'),
    );
  });

  it.each(['kms:', 'kms:a key', 'signer.example.org', 'ftp://user:pa55-phrase@signer.example.org', 'http://'])(
    'are refused when malformed, without showing a password: %s',
    (signer) => {
      const refused = { field: 'REPORTER_SIGNER', message: expect.not.stringContaining('pa55') };
      expect(() => loadConfig({ ...REAL, REPORTER_SIGNER: signer })).toThrow(expect.objectContaining(refused));
    },
  );
});

it.each(['', 'http://127.0.0.1:8545'])('a local chain refuses every signer (CHAIN_RPC_URL=%s)', (CHAIN_RPC_URL) => {
  const chain = { CHAIN_RPC_URL, CHAIN_LOCAL: '1' };
  for (const role of ['ATTESTER', 'REPORTER', 'FACILITATOR', 'PROVIDER']) {
    const environment = { ...chain, [`${role}_SIGNER`]: KMS };
    expect(() => loadConfig(environment)).toThrow(
      expect.objectContaining({ field: `${role}_SIGNER`, message: expect.stringContaining('refused on a local chain') }),
    );
  }
});
