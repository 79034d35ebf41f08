import { readFileSync } from 'node:fs';
import { type Abi, type Address, encodeFunctionData, getContractAddress, type Hex, type LocalAccount, type PublicClient } from 'viem';
import { serializeErc6492Signature } from 'viem/utils';
import { sendTransactions } from '../../../src/dev/local-chain/contracts.ts';

/** In the order of the contract's own list. */
const BEHAVIOURS = [
  'honest',
  'reverts',
  'never ends',
  'invalid',
  'wrong answer',
  'trusts fee estimates',
  'valid without gas price',
  'valid without origin',
  'valid with spare gas',
  'burns gas',
] as const;
export type WalletBehaviour = (typeof BEHAVIOURS)[number];

const FACTORY = JSON.parse(readFileSync(new URL('../../../contracts/compiled/test-only/WalletFactory.json', import.meta.url), 'utf8')) as {
  abi: Abi;
  bytecode: Hex;
};

export interface ContractWallet {
  address: Address;
  deploy(): Promise<void>;
  /** A signature of the owner for a wallet that is yet to be deployed (ERC-6492). */
  wrapped(signature: Hex): Hex;
}

/** Makes contract wallets (EIP-1271) whose addresses are known before they are deployed. */
export async function walletFactory(
  chain: { client: Pick<PublicClient, 'getTransactionCount' | 'readContract'> },
  rpcUrl: string,
  payer: LocalAccount,
) {
  const nonce = await chain.client.getTransactionCount({ address: payer.address });
  await sendTransactions(rpcUrl, payer, [{ data: FACTORY.bytecode }]);
  const factory = getContractAddress({ from: payer.address, nonce: BigInt(nonce) });

  return async (owner: Address, behaviour: WalletBehaviour = 'honest'): Promise<ContractWallet> => {
    const args = [owner, BEHAVIOURS.indexOf(behaviour)];
    const data = encodeFunctionData({ abi: FACTORY.abi, functionName: 'deploy', args });
    const address = await chain.client.readContract({ address: factory, abi: FACTORY.abi, functionName: 'addressOf', args });
    return {
      address: address as Address,
      deploy: () => sendTransactions(rpcUrl, payer, [{ to: factory, data }]),
      wrapped: (signature) => serializeErc6492Signature({ address: factory, data, signature }),
    };
  };
}
