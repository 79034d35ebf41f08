import type { Hash } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { isOracleError } from '../../errors.ts';
import type { Till } from '../till.ts';
import type { Facilitator } from './facilitator.ts';
import { isLanded, type Landed, landed, landedIn } from './landed.ts';
import type { Payment } from './payload.ts';
import type { Requirements } from './terms.ts';
import { pause, unconfirmed } from './wait.ts';

export interface SettleParts {
  chain: Chain;
  till: Till;
  facilitator: Facilitator;
  /** How long a payment is waited for at its confirmation depth. */
  waitMs: number;
  signal: AbortSignal;
}

export interface PaymentToSettle {
  payment: Payment;
  requirements: Requirements;
  /** When it came to us: it cannot have been used before. */
  sinceBlock: number;
  /** False for one that has just been verified, and was never sent by us. */
  mayBeSent: boolean;
}

/**
 * Brings a payment to its confirmation depth. The chain is asked before anything is sent again, and has the last word afterwards:
 * what a dead process, a lost answer or a stranger has sent is found, never sent again.
 * @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE, SHUTTING_DOWN: it is not known yet, settle again
 */
export async function settlePayment(parts: SettleParts, { payment, ...rest }: PaymentToSettle): Promise<Landed | { refused: string }> {
  const { requirements, sinceBlock, mayBeSent } = rest;
  const { chain, till, facilitator } = parts;
  const { authorization } = payment;
  const look = () => landed(chain, till, { authorization, sinceBlock });
  const before = mayBeSent ? await look() : null;
  if (isLanded(before)) return before;
  if (before === null) {
    const settlement = await facilitator.settle(payment, requirements);
    // It may be refused because it has landed by another way.
    if ('refused' in settlement && (await look()) === null) return settlement;
    const told = 'refused' in settlement ? null : await whereTold(parts, payment, settlement.txHash);
    if (isLanded(told)) return told;
  }
  return waitFor(parts, look);
}

/** A facilitator may name a transaction that is not there, or not yet. */
async function whereTold({ chain, till }: SettleParts, { authorization }: Payment, txHash: Hash): Promise<Landed | 'shallow' | null> {
  try {
    return await landedIn(chain, till, { authorization, txHash });
  } catch (error) {
    if (isOracleError(error, 'CHAIN_UNREACHABLE')) return null;
    throw error;
  }
}

async function waitFor({ chain, waitMs, signal }: SettleParts, look: () => Promise<Landed | 'shallow' | null>): Promise<Landed> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const found = await look();
    if (isLanded(found)) return found;
    if (Date.now() >= deadline) throw unconfirmed();
    await pause(chain.pollingIntervalMs, signal);
  }
}
