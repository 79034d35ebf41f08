import { setTimeout as delay } from 'node:timers/promises';
import type { Address, Hex, LocalAccount } from 'viem';
import { OracleError } from '../errors.ts';
import { jsonRpc } from './json-rpc.ts';

export interface LocalCall {
  /** Unset: creates a contract. */
  to?: Address;
  data: Hex;
}

const GAS = 6_000_000n;
const MAX_FEE = 100n * 10n ** 9n;
const PATIENCE_MS = 10_000;

/**
 * Sends transactions to a local chain that mines each at once, in order, with the account's next nonces, and waits until they
 * are mined.
 * @throws OracleError CHAIN_REVERTED when one is refused or reverts.
 */
export async function sendInOrder(rpcUrl: string, from: LocalAccount, calls: LocalCall[]): Promise<void> {
  await sendForHashes(rpcUrl, from, calls);
}

/** The same, for who wants the hashes. @throws OracleError CHAIN_REVERTED */
export async function sendForHashes(rpcUrl: string, from: LocalAccount, calls: LocalCall[]): Promise<Hex[]> {
  const chainId = Number(await jsonRpc<Hex>(rpcUrl, 'eth_chainId'));
  const first = Number(await jsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', from.address, 'latest'));
  const terms = { type: 'eip1559', chainId, gas: GAS, maxFeePerGas: MAX_FEE, maxPriorityFeePerGas: 0n } as const;
  const hashes: Hex[] = [];
  for (const [index, call] of calls.entries()) {
    const raw = await from.signTransaction({ ...terms, nonce: first + index, ...call });
    hashes.push(await jsonRpc<Hex>(rpcUrl, 'eth_sendRawTransaction', raw));
  }
  await Promise.all(hashes.map((hash) => requireSuccess(rpcUrl, hash)));
  return hashes;
}

/** The node answers as soon as it has a transaction, which may be before it has mined it. */
async function requireSuccess(rpcUrl: string, hash: Hex): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const receipt = await jsonRpc<{ status: Hex } | null>(rpcUrl, 'eth_getTransactionReceipt', hash);
    if (receipt?.status === '0x1') return;
    if (receipt !== null || Date.now() > deadline) throw new OracleError('CHAIN_REVERTED', `Transaction ${hash} of the local chain failed`);
    await delay(2);
  }
}
