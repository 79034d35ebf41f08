import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
// @ts-expect-error: a build script without types.
import { compileAll, readEas } from '../../../contracts/compile.mjs';

const FOLDER = resolve(import.meta.dirname, '../../../contracts/compiled');

it.each([
  [
    '',
    [
      ...['AgenticCommerce', 'GateToken', 'IdentityRegistry', 'Multicall3', 'OracleRecordReader', 'ReputationRegistry'],
      ...['SmartWallet', 'SmartWalletFactory', 'TestStablecoin'],
    ],
  ],
  ['examples', ['SignalScore']],
  ['test-only', ['Batcher', 'ContractWallet', 'EvaluatorlessCommerce', 'RevertingContract', 'WalletFactory']],
])('compiling the contracts again gives the files that are committed: %s', (subfolder, names) => {
  const compiled = compileAll(subfolder) as Record<string, string>;
  expect(Object.keys(compiled)).toEqual(names);
  for (const [name, text] of Object.entries(compiled)) {
    // Not `toEqual`, whose difference would fill the screen with bytecode.
    expect(readFileSync(resolve(FOLDER, subfolder, `${name}.json`), 'utf8') === text, `${name} is out of date: npm run contracts`).toBe(
      true,
    );
  }
});

it('the files of the Ethereum Attestation Service are those of its package', () => {
  const files = readEas() as Record<string, string>;
  expect(Object.keys(files)).toEqual(['EAS.json', 'SchemaRegistry.json', 'LICENSE']);
  for (const [name, text] of Object.entries(files)) {
    expect(readFileSync(resolve(FOLDER, 'eas', name), 'utf8') === text, `${name} is out of date: npm run contracts`).toBe(true);
  }
});
