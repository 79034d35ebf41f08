import type { Address, Hex, LocalAccount } from 'viem';
import { jsonRpc } from './json-rpc.ts';

export interface LocalCall {
  /** Unset: creates a contract. */
  to?: Address;
  data: Hex;
}

const GAS = 6_000_000n;
const MAX_FEE = 100n * 10n ** 9n;

/** Sends transactions to a local chain that mines each at once, in order, with the account's next nonces. */
export async function sendInOrder(rpcUrl: string, from: LocalAccount, calls: LocalCall[]): Promise<void> {
  const chainId = Number(await jsonRpc<Hex>(rpcUrl, 'eth_chainId'));
  const first = Number(await jsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', from.address, 'latest'));
  const terms = { type: 'eip1559', chainId, gas: GAS, maxFeePerGas: MAX_FEE, maxPriorityFeePerGas: 0n } as const;
  for (const [index, call] of calls.entries()) {
    await jsonRpc(rpcUrl, 'eth_sendRawTransaction', await from.signTransaction({ ...terms, nonce: first + index, ...call }));
  }
}
