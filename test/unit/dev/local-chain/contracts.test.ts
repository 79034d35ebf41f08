import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { getLocalWalletFactory } from '../../../../src/dev/local-chain/contracts.ts';

it('docs/PAYING.md names the wallet factory of the local chain', () => {
  const guide = readFileSync(new URL('../../../../docs/PAYING.md', import.meta.url), 'utf8');
  expect(guide).toContain(getLocalWalletFactory());
});
