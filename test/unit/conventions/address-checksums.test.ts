import { glob, readFile } from 'node:fs/promises';
import { getAddress } from 'viem';
import { expect, it } from 'vitest';
import { BASE_SEPOLIA_ADDRESSES } from '../../../src/chain/addresses.ts';

const ROOT = new URL('../../../', import.meta.url);
const SOURCES = '{src,contracts,skills,agent-card,examples}/**/*.{ts,js,mjs,sol,html}';
const ADDRESS = /\b0x[0-9a-fA-F]{40}\b/g;

/** Literals that are no addresses: their case is not a checksum. */
const EXCEPTIONS = new Set(['0x5165c0de00000000000000000000000000006492']);

interface Literal {
  file: string;
  address: string;
}

async function findAddresses(): Promise<Literal[]> {
  const found: Literal[] = [];
  for await (const file of glob(SOURCES, { cwd: ROOT, exclude: ['**/node_modules'] })) {
    const text = await readFile(new URL(file, ROOT), 'utf8');
    for (const [address] of text.matchAll(ADDRESS)) found.push({ file, address });
  }
  return found;
}

it('every address in the sources has the checksum of EIP-55', async () => {
  const addresses = await findAddresses();
  expect(addresses.map(({ file }) => file)).toEqual(expect.arrayContaining(['src/settings.ts', 'src/payer.ts', 'src/chain/addresses.ts']));
  const wrong = addresses.filter(({ address }) => !EXCEPTIONS.has(address) && getAddress(address.toLowerCase()) !== address);
  expect(wrong).toEqual([]);
});

it('USDC on Base and on Base Sepolia is at the addresses of its issuer', async () => {
  const coins = await readFile(new URL('src/payer.ts', ROOT), 'utf8');
  expect(coins).toContain("{ chainId: 8453, address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }");
  expect(coins).toContain('{ chainId: 84532, address: BASE_SEPOLIA_ADDRESSES.stablecoin }');
  expect(BASE_SEPOLIA_ADDRESSES.stablecoin).toBe('0x036CbD53842c5426634e7929541eC2318f3dCF7e');
});
