import { setTimeout as delay } from 'node:timers/promises';
import type { Address, Hex, LocalAccount } from 'viem';
import { OracleError } from '../../../platform/errors.ts';
import { callJsonRpc } from '../json-rpc.ts';

export interface LocalTransaction {
  to?: Address;
  data: Hex;
}

const GAS_LIMIT = 6_000_000n;
const MAX_FEE_PER_GAS = 100n * 10n ** 9n;
const RECEIPT_TIMEOUT_MS = 10_000;

/** In order, with the account's next nonces; resolves once all are mined. @throws OracleError CHAIN_REVERTED */
export async function sendTransactions(rpcUrl: string, from: LocalAccount, calls: LocalTransaction[]): Promise<void> {
  await sendTransactionsForHashes(rpcUrl, from, calls);
}

export async function sendTransactionsForHashes(rpcUrl: string, from: LocalAccount, calls: LocalTransaction[]): Promise<Hex[]> {
  const chainId = Number(await callJsonRpc<Hex>(rpcUrl, 'eth_chainId'));
  const first = Number(await callJsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', from.address, 'latest'));
  const fields = { type: 'eip1559', chainId, gas: GAS_LIMIT, maxFeePerGas: MAX_FEE_PER_GAS, maxPriorityFeePerGas: 0n } as const;
  const hashes: Hex[] = [];
  for (const [index, call] of calls.entries()) {
    const raw = await from.signTransaction({ ...fields, nonce: first + index, ...call });
    hashes.push(await callJsonRpc<Hex>(rpcUrl, 'eth_sendRawTransaction', raw));
  }
  await Promise.all(hashes.map((hash) => requireSuccess(rpcUrl, hash)));
  return hashes;
}

/** The node may respond before it has mined the transaction. */
async function requireSuccess(rpcUrl: string, hash: Hex): Promise<void> {
  const deadline = performance.now() + RECEIPT_TIMEOUT_MS;
  for (;;) {
    const receipt = await callJsonRpc<{ status: Hex } | null>(rpcUrl, 'eth_getTransactionReceipt', hash);
    if (receipt?.status === '0x1') return;
    if (receipt !== null || performance.now() > deadline)
      throw new OracleError('CHAIN_REVERTED', `Transaction ${hash} of the local chain failed`);
    await delay(2);
  }
}
