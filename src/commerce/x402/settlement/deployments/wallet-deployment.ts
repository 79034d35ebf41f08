import {
  type Address,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  isErc6492Signature,
  parseAbi,
  parseErc6492Signature,
  size,
} from 'viem';
import { MULTICALL3_ADDRESS } from '../../../../chain/addresses.ts';

/** The contents of an ERC-6492 signature: a wallet that is yet to be deployed, and how. */
export interface WalletDeployment {
  factory: Address;
  /** Call data of the factory. */
  data: Hex;
  /** For the wallet once it is there (EIP-1271). */
  signature: Hex;
}

/** The factory calls of known wallets have some hundred bytes. */
export const MAX_FACTORY_DATA_BYTES = 2_048;

const multicallAbi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] results)',
]);

/** Null for another signature, and for a malformed wrapper, which no wallet accepts. */
export function parseWalletDeployment(wrapped: Hex): WalletDeployment | null {
  if (!isErc6492Signature(wrapped)) return null;
  try {
    const { address, data = '0x', signature } = parseErc6492Signature(wrapped);
    return address === undefined ? null : { factory: address, data, signature };
  } catch {
    return null;
  }
}

/** Reason of a rejection that needs no chain read; null for a deployment that may be tried. */
export function findDeploymentRejection({ factory, data }: WalletDeployment, factories: readonly Address[]): string | null {
  if (!factories.some((allowed) => isAddressEqual(allowed, factory))) return 'eip6492_factory_not_allowed';
  return size(data) > MAX_FACTORY_DATA_BYTES ? 'eip6492_factory_data_too_large' : null;
}

/**
 * One call for deployment and transfer, so that neither happens without the other. A deployment that fails since another sender was first is
 * no failure; without a wallet the transfer fails, and the whole with it.
 */
export function encodeDeployAndTransfer({ factory, data }: WalletDeployment, { asset, transfer }: { asset: Address; transfer: Hex }) {
  const calls = [
    { target: factory, allowFailure: true, callData: data },
    { target: asset, allowFailure: false, callData: transfer },
  ];
  return { to: MULTICALL3_ADDRESS, data: encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args: [calls] }) };
}
