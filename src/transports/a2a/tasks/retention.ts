import type { Task } from '@a2a-js/sdk';
import { TASK_WINDOW_SECONDS } from '../../../auth/rate-limit/rate-limits.ts';
import { isWalletOwner } from '../agent-user.ts';
import { getReceipts } from '../payments/metadata.ts';

const DAY_MS = 86_400_000;

/** Wallet tasks after their last change, paid ones after payment, anonymous ones after opening: the window in which they are metered. */
export const RETENTION_MS = { wallet: 7 * DAY_MS, paid: DAY_MS, anonymous: TASK_WINDOW_SECONDS * 1_000 } as const;

export function getExpiry(owner: string, now: Date): Date {
  return new Date(now.getTime() + (isWalletOwner(owner) ? RETENTION_MS.wallet : RETENTION_MS.anonymous));
}

/** Undefined if the task keeps its expiry. */
export function getExtendedExpiry(task: Pick<Task, 'metadata'>, owner: string, now: Date): Date | undefined {
  if (isWalletOwner(owner)) return getExpiry(owner, now);
  const isPaid = getReceipts(task).some((receipt) => 'success' in receipt && receipt.success === true);
  return isPaid ? new Date(now.getTime() + RETENTION_MS.paid) : undefined;
}
