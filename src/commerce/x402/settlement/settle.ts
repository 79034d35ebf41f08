import type { Hash } from 'viem';
import type { Chain } from '../../../chain/client.ts';
import { isOracleError } from '../../../platform/errors.ts';
import type { MerchantConfig } from '../../merchant-config.ts';
import { sleepOrShutdown } from '../../sleep.ts';
import { paymentUnconfirmedError } from '../claim-wait.ts';
import type { ParsedPayment } from '../protocol/payment-payload.ts';
import type { PaymentRequirements } from '../protocol/payment-quote.ts';
import type { Facilitator } from './facilitator.ts';
import {
  type ConfirmedSettlement,
  isConfirmedSettlement,
  readSettlementStatus,
  readTransactionSettlement,
  type SettlementStatus,
} from './settlement-status.ts';

export interface SettleDeps {
  chain: Chain;
  merchant: MerchantConfig;
  facilitator: Facilitator;
  /** How long a payment is waited for at its confirmation depth. */
  waitMs: number;
  signal: AbortSignal;
}

export interface PaymentToSettle {
  payment: ParsedPayment;
  requirements: PaymentRequirements;
  /** When it came to us: it cannot have been used before. */
  sinceBlock: number;
  /** False for one that has just been verified, and was never sent by us. */
  mayBeSent: boolean;
}

/** `isOver`: no block will ever take it. Otherwise whoever has the authorization can still bring it to the chain. */
export interface RejectedSettlement {
  refused: string;
  isOver: boolean;
}

const AUTHORIZATION_SPENT: RejectedSettlement = { refused: 'authorization_spent', isOver: true };
const AUTHORIZATION_EXPIRED: RejectedSettlement = { refused: 'expired', isOver: true };

const isAuthorizationUnused = (status: SettlementStatus) => status === null || status === 'late';

/**
 * Brings a payment to its confirmation depth. The chain is asked before anything is sent again, and has the last word afterwards:
 * what a dead process, a lost answer or a stranger has sent is found, never sent again.
 * @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE, SHUTTING_DOWN: it is not known yet, settle again
 */
export async function settlePayment(
  deps: SettleDeps,
  { payment, ...rest }: PaymentToSettle,
): Promise<ConfirmedSettlement | RejectedSettlement> {
  const { requirements, sinceBlock, mayBeSent } = rest;
  const { chain, merchant, facilitator } = deps;
  const { authorization } = payment;
  const readStatus = () => readSettlementStatus(chain, merchant, { authorization, sinceBlock });
  if (!mayBeSent) return send();
  const statusBefore = await readStatus();
  if (statusBefore === 'late') return AUTHORIZATION_EXPIRED;
  if (statusBefore !== null) return isConfirmedSettlement(statusBefore) ? statusBefore : waitForSettlement(deps, readStatus);
  return send();

  async function send(): Promise<ConfirmedSettlement | RejectedSettlement> {
    const settlement = await facilitator.settle(payment, requirements);
    // It may be refused because it has landed by another way.
    if ('refused' in settlement)
      return isAuthorizationUnused(await readStatus()) ? { ...settlement, isOver: false } : waitForSettlement(deps, readStatus);
    const reported = await readReportedSettlement(deps, payment, settlement.txHash);
    return isConfirmedSettlement(reported) ? reported : waitForSettlement(deps, readStatus);
  }
}

/** A facilitator may name a transaction that is not there, or not yet. */
async function readReportedSettlement(
  { chain, merchant }: SettleDeps,
  { authorization }: ParsedPayment,
  txHash: Hash,
): Promise<SettlementStatus> {
  try {
    return await readTransactionSettlement(chain, merchant, { authorization, txHash });
  } catch (error) {
    if (isOracleError(error, 'CHAIN_UNREACHABLE')) return null;
    throw error;
  }
}

async function waitForSettlement(
  { chain, waitMs, signal }: SettleDeps,
  readStatus: () => Promise<SettlementStatus>,
): Promise<ConfirmedSettlement | RejectedSettlement> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const found = await readStatus();
    if (isConfirmedSettlement(found)) return found;
    if (found === 'spent') return AUTHORIZATION_SPENT;
    if (found === 'late') return AUTHORIZATION_EXPIRED;
    if (Date.now() >= deadline) throw paymentUnconfirmedError();
    await sleepOrShutdown(chain.pollingIntervalMs, signal);
  }
}
