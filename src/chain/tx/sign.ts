import { keccak256 } from 'viem';
import type { WalletContext } from './context.ts';
import type { Fees } from './fees.ts';
import type { JournalRow, SignedAttempt } from './journal.ts';

/** Signs a row's call (EIP-1559) without broadcasting it. */
export async function signAttempt(
  { account, chain }: WalletContext,
  { nonce, to, data, value, gas }: Pick<JournalRow, 'to' | 'data' | 'value' | 'gas' | 'nonce'>,
  { maxFeePerGas, maxPriorityFeePerGas }: Fees,
): Promise<SignedAttempt> {
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    nonce,
    to,
    data,
    value: BigInt(value),
    gas: BigInt(gas),
    maxFeePerGas,
    maxPriorityFeePerGas,
  });
  return {
    hash: keccak256(raw),
    raw,
    maxFeePerGas: String(maxFeePerGas),
    maxPriorityFeePerGas: String(maxPriorityFeePerGas),
    signedAt: new Date(),
  };
}
