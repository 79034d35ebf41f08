import { expect, it } from 'vitest';
import { getEasExplorerUrl } from '../../../src/app/core.ts';

it.each([
  [8_453, 'https://base.easscan.org'],
  [84_532, 'https://base-sepolia.easscan.org'],
  [10, null],
])('attestations of chain %i are shown by %s', (chainId, explorer) => {
  expect(getEasExplorerUrl(chainId)).toBe(explorer);
});
