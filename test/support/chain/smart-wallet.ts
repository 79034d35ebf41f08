import { readFileSync } from 'node:fs';
import { type Abi, type Address, encodeFunctionData, type Hex, type PublicClient } from 'viem';
import { serializeErc6492Signature } from 'viem/utils';
import { getLocalWalletFactory } from '../../../src/dev/local-chain/contracts.ts';

const { abi } = JSON.parse(readFileSync(new URL('../../../contracts/compiled/SmartWalletFactory.json', import.meta.url), 'utf8')) as {
  abi: Abi;
};

export interface SmartWallet {
  address: Address;
  /** Call data of the factory. */
  creation: Hex;
  /** A signature of the owner with the deployment of the wallet (ERC-6492). */
  wrap(signature: Hex): Hex;
}

/** A wallet of the local chain's factory that is not deployed yet. */
export async function smartWallet(client: Pick<PublicClient, 'readContract'>, owner: Address, salt = 0n): Promise<SmartWallet> {
  const factory = getLocalWalletFactory();
  const args = [owner, salt];
  const creation = encodeFunctionData({ abi, functionName: 'createAccount', args });
  const address = (await client.readContract({ address: factory, abi, functionName: 'getAddress', args })) as Address;
  return { address, creation, wrap: (signature) => serializeErc6492Signature({ address: factory, data: creation, signature }) };
}
