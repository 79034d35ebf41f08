import { type Address, type Hex, keccak256, sliceHex } from 'viem';
import type { ChainReader } from '../rpc/blocks.ts';
import { chainCall } from '../rpc/chain-call.ts';

/** Storage slots of ERC-1967: keccak256 of `eip1967.proxy.implementation` and of `eip1967.proxy.beacon`, minus 1. */
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
const BEACON_SLOT = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50';

/**
 * keccak256 of the runtime code of a contract, followed by that of its implementation where it is a proxy of ERC-1967. Null without code,
 * and for a beacon proxy, whose code any call may change. @throws OracleError CHAIN_UNREACHABLE
 */
export async function readCodeHashes(chain: ChainReader, contract: Address): Promise<Hex[] | null> {
  const [code, implementation, beacon] = await Promise.all([
    readCode(chain, contract),
    readAddressSlot(chain, contract, IMPLEMENTATION_SLOT),
    readAddressSlot(chain, contract, BEACON_SLOT),
  ]);
  if (code === null || beacon !== null) return null;
  if (implementation === null) return [keccak256(code)];
  const target = await readCode(chain, implementation);
  return target === null ? null : [keccak256(code), keccak256(target)];
}

async function readCode({ client }: ChainReader, address: Address): Promise<Hex | null> {
  return (await chainCall('Reading the code of a contract', () => client.getCode({ address }))) ?? null;
}

async function readAddressSlot({ client }: ChainReader, address: Address, slot: Hex): Promise<Address | null> {
  const word = await chainCall('Reading the implementation of a contract', () => client.getStorageAt({ address, slot }));
  if (word === undefined || BigInt(word) === 0n) return null;
  return sliceHex(word, 12);
}
