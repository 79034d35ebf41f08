import type { Task } from '@a2a-js/sdk';
import { TASK_WINDOW_SECONDS } from '../../../auth/rate-limit/rate-limits.ts';
import { isWalletOwner } from '../agent-user.ts';
import { getReceipts } from '../payments/metadata.ts';

const DAY_MS = 86_400_000;

/**
 * How long tasks are kept: those of wallets after their last change, those of anonymous callers after they were opened, and from
 * their payment on where they were paid for. That of anonymous callers is the window in which their tasks are counted.
 */
export const RETENTION_MS = { wallet: 7 * DAY_MS, paid: DAY_MS, anonymous: TASK_WINDOW_SECONDS * 1_000 } as const;

/** When what is stored now for an owner expires. */
export function getExpiry(owner: string, now: Date): Date {
  return new Date(now.getTime() + (isWalletOwner(owner) ? RETENTION_MS.wallet : RETENTION_MS.anonymous));
}

/** The new expiry of a task that is written again; undefined where it keeps the one it has. */
export function getExtendedExpiry(task: Pick<Task, 'metadata'>, owner: string, now: Date): Date | undefined {
  if (isWalletOwner(owner)) return getExpiry(owner, now);
  const isPaid = getReceipts(task).some((receipt) => 'success' in receipt && receipt.success === true);
  return isPaid ? new Date(now.getTime() + RETENTION_MS.paid) : undefined;
}
