import type { Hash } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { isOracleError } from '../../errors.ts';
import { pause } from '../pause.ts';
import type { Till } from '../till.ts';
import type { Facilitator } from './facilitator.ts';
import { type Fate, isLanded, type Landed, landed, landedIn } from './landed.ts';
import type { Payment } from './payload.ts';
import type { Requirements } from './terms.ts';
import { unconfirmed } from './wait.ts';

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

/** `isOver`: no block will ever take it. Otherwise whoever has the authorization can still bring it to the chain. */
export interface Refused {
  refused: string;
  isOver: boolean;
}

const SPENT: Refused = { refused: 'authorization_spent', isOver: true };
const LATE: Refused = { refused: 'expired', isOver: true };

const isUnused = (fate: Fate) => fate === null || fate === 'late';

/**
 * Brings a payment to its confirmation depth. The chain is asked before anything is sent again, and has the last word afterwards:
 * what a dead process, a lost answer or a stranger has sent is found, never sent again.
 * @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE, SHUTTING_DOWN: it is not known yet, settle again
 */
export async function settlePayment(parts: SettleParts, { payment, ...rest }: PaymentToSettle): Promise<Landed | Refused> {
  const { requirements, sinceBlock, mayBeSent } = rest;
  const { chain, till, facilitator } = parts;
  const { authorization } = payment;
  const look = () => landed(chain, till, { authorization, sinceBlock });
  if (!mayBeSent) return send();
  const before = await look();
  if (before === 'late') return LATE;
  if (before !== null) return isLanded(before) ? before : waitFor(parts, look);
  return send();

  async function send(): Promise<Landed | Refused> {
    const settlement = await facilitator.settle(payment, requirements);
    // It may be refused because it has landed by another way.
    if ('refused' in settlement) return isUnused(await look()) ? { ...settlement, isOver: false } : waitFor(parts, look);
    const told = await whereTold(parts, payment, settlement.txHash);
    return isLanded(told) ? told : waitFor(parts, look);
  }
}

/** A facilitator may name a transaction that is not there, or not yet. */
async function whereTold({ chain, till }: SettleParts, { authorization }: Payment, txHash: Hash): Promise<Fate> {
  try {
    return await landedIn(chain, till, { authorization, txHash });
  } catch (error) {
    if (isOracleError(error, 'CHAIN_UNREACHABLE')) return null;
    throw error;
  }
}

async function waitFor({ chain, waitMs, signal }: SettleParts, look: () => Promise<Fate>): Promise<Landed | Refused> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const found = await look();
    if (isLanded(found)) return found;
    if (found === 'spent') return SPENT;
    if (found === 'late') return LATE;
    if (Date.now() >= deadline) throw unconfirmed();
    await pause(chain.pollingIntervalMs, signal);
  }
}
