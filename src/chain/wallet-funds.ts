import type { Db } from 'mongodb';
import type { Address } from 'viem';
import type { Chain } from './client.ts';
import { getReceiptCostWei } from './gas-costs.ts';
import { chainCall } from './rpc/chain-call.ts';
import { withChainTimeout } from './rpc/time-limit.ts';
import type { JournalRow } from './tx/journal.ts';
import type { WalletRole } from './tx/wallet.ts';

/** Roles whose addresses are public. The facilitator's is not: its transactions would reveal the settled payments. */
export const PUBLIC_ROLES = ['attester', 'reporter', 'provider'] as const satisfies WalletRole[];

export interface RoleWallet<Role extends WalletRole = (typeof PUBLIC_ROLES)[number]> {
  role: Role;
  address: Address;
}

export interface WalletFunds<Role extends WalletRole = (typeof PUBLIC_ROLES)[number]> extends RoleWallet<Role> {
  /** Native currency, wei as decimal text. */
  balanceWei: string;
  /** Whole days that the balance lasts at the average cost of the last seven days; null without a full week of costs above zero. */
  daysLeft: number | null;
}

const WEEK_DAYS = 7;
const DAY_MS = 86_400_000;
const READ_TIMEOUT_MS = 3_000;
export const MAX_DAYS_LEFT = 36_500;

/** @throws OracleError CHAIN_UNREACHABLE */
export function readWalletFunds<Role extends WalletRole>(
  { db, chain }: { db: Db; chain: Chain },
  wallets: readonly RoleWallet<Role>[],
  now: Date,
): Promise<WalletFunds<Role>[]> {
  const since = new Date(now.getTime() - WEEK_DAYS * DAY_MS);
  return withChainTimeout(READ_TIMEOUT_MS, 'Reading the balances', () =>
    Promise.all(
      wallets.map(async ({ role, address }) => {
        const balance = await chainCall('Reading a balance', () => chain.client.getBalance({ address }));
        const spent = await readSpentSince(db, { chainId: chain.chainId, address, since });
        return { role, address, balanceWei: String(balance), daysLeft: estimateDaysLeft(balance, spent) };
      }),
    ),
  );
}

/** Wei that a wallet spent on transactions since an instant, by block time; null when its first transaction is later. */
async function readSpentSince(db: Db, { since, ...wallet }: { chainId: number; address: Address; since: Date }): Promise<bigint | null> {
  const newestFirst = db
    .collection<JournalRow>('transactions')
    .find({ ...wallet, receipt: { $ne: null } }, { hint: 'one_row_per_nonce', projection: { 'receipt.logs': 0 } })
    .sort({ nonce: -1 });
  let spent = 0n;
  for await (const { receipt } of newestFirst) {
    if (receipt!.at < since) return spent;
    spent += getReceiptCostWei(receipt!);
  }
  return null;
}

function estimateDaysLeft(balance: bigint, spent: bigint | null): number | null {
  if (spent === null || spent === 0n) return null;
  const days = (balance * BigInt(WEEK_DAYS)) / spent;
  return days > MAX_DAYS_LEFT ? MAX_DAYS_LEFT : Number(days);
}
