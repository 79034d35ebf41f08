import { describe, expect, it } from 'vitest';
import { composePublicRpc } from '../../../src/app/app.ts';
import { loadKmsSdk } from '../../../src/app/chain.ts';
import { loadConfig } from '../../../src/config.ts';

describe('composePublicRpc', () => {
  const key = (digit: number) => `0x${String(digit).repeat(64)}`;
  const ADDRESS = `0x${'2'.repeat(40)}`;
  const real = {
    PUBLIC_URL: 'https://oracle.test',
    CHAIN_RPC_URL: 'https://rpc.example.org/v2/very-secret',
    ...{ ATTESTER_PRIVATE_KEY: key(1), REPORTER_PRIVATE_KEY: key(2), PROVIDER_PRIVATE_KEY: key(3), FACILITATOR_PRIVATE_KEY: key(4) },
    ...{ SALT_SECRET: '9f86d081884c7d659a2feaa0c55ad015', ENCRYPTION_SECRET: '60303ae22b998861bce3b28f33eec1be', PAYEE_ADDRESS: ADDRESS },
    ...{
      GATE_TOKEN_ADDRESS: ADDRESS,
      STABLECOIN_ADDRESS: ADDRESS,
      IDENTITY_REGISTRY_ADDRESS: ADDRESS,
      REPUTATION_REGISTRY_ADDRESS: ADDRESS,
    },
  };
  const composeFor = (environment: Record<string, string>) =>
    composePublicRpc({
      config: loadConfig(environment),
      rpcUrl: 'http://127.0.0.1:8545',
      contracts: {} as Parameters<typeof composePublicRpc>[0]['contracts'],
      publicUrl: 'https://oracle.test/base/',
    });

  it.each<[string, Record<string, string>, string | null, boolean]>([
    ['returns /rpc of the service on a local chain', { PUBLIC_RPC_URL: 'https://elsewhere.example' }, 'https://oracle.test/base/rpc', true],
    ['returns the public endpoint of Base on chain 8453', real, 'https://mainnet.base.org', false],
    ['returns no endpoint on another chain', { ...real, CHAIN_ID: '10' }, null, false],
    ['serves no /rpc for an own node of the testnet', { ...real, CHAIN_RPC_URL: 'http://127.0.0.1:8545', CHAIN_ID: '84532' }, null, false],
    [
      'returns PUBLIC_RPC_URL when it is set',
      { ...real, PUBLIC_RPC_URL: 'https://public.example/rpc' },
      'https://public.example/rpc',
      false,
    ],
  ])('%s', (_, environment, rpcUrl, reads) => {
    const reading = composeFor(environment);
    expect([reading.rpcUrl, reading.rpc !== null]).toEqual([rpcUrl, reads]);
  });

  it('rejects a PUBLIC_RPC_URL with a key or credentials', () => {
    expect(() => loadConfig({ PUBLIC_RPC_URL: 'https://rpc.example.org/?key=secret' })).toThrow('PUBLIC_RPC_URL');
    expect(() => loadConfig({ PUBLIC_RPC_URL: 'https://user:secret@rpc.example.org' })).toThrow('PUBLIC_RPC_URL');
  });
});
describe('kms sdk', () => {
  it('names setting, package and command when the package is not installed', () => {
    expect(() => loadKmsSdk('REPORTER_SIGNER')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        field: 'REPORTER_SIGNER',
        message: expect.stringContaining('@aws-sdk/client-kms'),
        suggestedAction: expect.stringContaining('npm install --no-save @aws-sdk/client-kms@3'),
      }),
    );
  });

  it('reports a package that is installed and fails as it is', () => {
    const broken = new Error('broken');
    const load = () => {
      throw broken;
    };
    expect(() => loadKmsSdk('REPORTER_SIGNER', load)).toThrow(broken);
  });
});
