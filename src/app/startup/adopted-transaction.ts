import { type Hex, keccak256, serializeTransaction, type Transaction } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import type { JournalRow } from '../../chain/tx/journal.ts';

/** @throws OracleError CHAIN_UNREACHABLE, also for a transaction that the endpoint does not have */
export function readTransaction({ client }: Pick<Chain, 'client'>, hash: Hex): Promise<Transaction> {
  return chainCall('Reading a transaction', () => client.getTransaction({ hash }));
}

/**
 * The journal row of a mined transaction that a lost state of the journal had: as if it had been sent and not followed up, so that its wallet waits
 * for its depth, and sends it again after a reorganisation. Null for a transaction whose signature cannot be rebuilt.
 */
export function buildAdoptedRow(transaction: Transaction, { role, key, now }: { role: string; key: string; now: Date }): JournalRow | null {
  const { chainId, hash, nonce, to, input, value, gas, from, blockNumber, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = transaction;
  const raw = rebuildRaw(transaction);
  if (raw === null || chainId === undefined || to === null || blockNumber === null) return null;
  const fees = { maxFeePerGas: String(maxFeePerGas), maxPriorityFeePerGas: String(maxPriorityFeePerGas) };
  return {
    _id: `${chainId}:${role}:${key}`,
    ...{ key, role, chainId, nonce },
    ...{ address: from, to, data: input, value: String(value), gas: String(gas) },
    state: 'SENT',
    version: 0,
    signedFromBlock: Math.max(0, Number(blockNumber) - 1),
    attempts: [{ hash, raw, ...fees, signedAt: now }],
    displaced: [],
    receipt: null,
    createdAt: now,
    updatedAt: now,
  };
}

function rebuildRaw(transaction: Transaction): Hex | null {
  if (transaction.type !== 'eip1559') return null;
  const { chainId, nonce, to, input: data, value, gas, maxFeePerGas, maxPriorityFeePerGas, accessList, r, s, yParity } = transaction;
  const call = { type: 'eip1559', chainId, nonce, to, data, value, gas, maxFeePerGas, maxPriorityFeePerGas, accessList } as const;
  const raw = serializeTransaction(call, { r, s, yParity });
  return keccak256(raw) === transaction.hash ? raw : null;
}
