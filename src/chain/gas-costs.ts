import type { Db } from 'mongodb';
import type { Address } from 'viem';
import type { JournalRow, StoredReceipt } from './tx/journal.ts';

/** Gas costs of one purpose: the prefix of the transaction keys, such as `attest` or `feedback`. */
export interface GasCosts {
  purpose: string;
  transactions: number;
  gasUsed: number;
  /** Includes the data fee of a rollup. */
  costWei: bigint;
}

/** Costs of the transactions mined from one instant until before another, by block time. */
export type ReadGasCosts = (from: Date, to: Date) => Promise<GasCosts[]>;

export function createGasCostReader(db: Db, { chainId, addresses }: { chainId: number; addresses: readonly Address[] }): ReadGasCosts {
  const rows = db.collection<JournalRow>('transactions');
  return async (from, to) => {
    const mined = await rows
      .find(
        { chainId, address: { $in: [...addresses] }, 'receipt.at': { $gte: from, $lt: to } },
        { hint: 'one_row_per_nonce', projection: { key: 1, receipt: 1 } },
      )
      .toArray();
    return [...Map.groupBy(mined, ({ key }) => key.split(':', 1)[0])].map(([purpose, members]) => {
      const receipts = members.map(({ receipt }) => receipt!);
      return {
        purpose,
        transactions: receipts.length,
        gasUsed: receipts.reduce((sum, { gasUsed }) => sum + gasUsed, 0),
        costWei: receipts.reduce((sum, receipt) => sum + getReceiptCostWei(receipt), 0n),
      };
    });
  };
}

/** Cost of a transaction in wei: gas used times effective gas price, plus the data fee of a rollup. */
export function getReceiptCostWei({ gasUsed, effectiveGasPrice, l1FeeWei = '0' }: StoredReceipt): bigint {
  return BigInt(gasUsed) * BigInt(effectiveGasPrice) + BigInt(l1FeeWei);
}
