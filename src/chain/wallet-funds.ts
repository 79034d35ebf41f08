import type { Db } from 'mongodb';
import type { Address } from 'viem';
import type { Chain } from './client.ts';
import { costOf } from './gas-costs.ts';
import type { JournalRow } from './journal.ts';
import { chainCall } from './rpc-error.ts';
import { withinTime } from './time-limit.ts';
import type { WalletRole } from './wallet.ts';

/** Roles whose address anybody is told elsewhere too; what the facilitator sends would tell what was settled. */
export const TOLD_ROLES = ['attester', 'reporter', 'provider'] as const satisfies WalletRole[];

/** The wallet of a role. */
export interface RoleWallet {
  role: (typeof TOLD_ROLES)[number];
  address: Address;
}

export interface WalletFunds extends RoleWallet {
  /** Of the chain's own currency, wei as decimal text. */
  balanceWei: string;
  /** Whole days that this lasts if each costs what the last seven have cost on average; null without a whole week, or one that cost nothing. */
  daysLeft: number | null;
}

const WEEK_DAYS = 7;
const DAY_MS = 86_400_000;
const LIMIT_MS = 3_000;
/** A hundred years: what is told for longer, too. */
export const MOST_DAYS = 36_500;

/**
 * What wallets have for gas, and for how long that lasts.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export function readWalletFunds(
  { db, chain }: { db: Db; chain: Chain },
  wallets: readonly RoleWallet[],
  now: Date,
): Promise<WalletFunds[]> {
  const since = new Date(now.getTime() - WEEK_DAYS * DAY_MS);
  return withinTime(LIMIT_MS, 'Reading the balances', () =>
    Promise.all(
      wallets.map(async ({ role, address }) => {
        const balance = await chainCall('Reading a balance', () => chain.client.getBalance({ address }));
        const spent = await spentSince(db, { chainId: chain.chainId, address, since });
        return { role, address, balanceWei: String(balance), daysLeft: daysLeft(balance, spent) };
      }),
    ),
  );
}

/** Wei that a wallet paid for its transactions since an instant, by block time; null when its first one came later. */
async function spentSince(db: Db, { since, ...wallet }: { chainId: number; address: Address; since: Date }): Promise<bigint | null> {
  const newestFirst = db
    .collection<JournalRow>('transactions')
    .find({ ...wallet, receipt: { $ne: null } }, { hint: 'one_row_per_nonce', projection: { 'receipt.logs': 0 } })
    .sort({ nonce: -1 });
  let spent = 0n;
  for await (const { receipt } of newestFirst) {
    if (receipt!.at < since) return spent;
    spent += costOf(receipt!);
  }
  return null;
}

function daysLeft(balance: bigint, spent: bigint | null): number | null {
  if (spent === null || spent === 0n) return null;
  const days = (balance * BigInt(WEEK_DAYS)) / spent;
  return days > MOST_DAYS ? MOST_DAYS : Number(days);
}
