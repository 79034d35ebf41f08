import { expect, it } from 'vitest';
import { loadKmsSdk } from '../../../../src/app/chain.ts';

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
