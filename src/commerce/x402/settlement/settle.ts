import type { Chain } from '../../../chain/client.ts';
import { orElse } from '../../../platform/errors.ts';
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

  waitMs: number;
  signal: AbortSignal;
}

export interface PaymentToSettle {
  payment: ParsedPayment;
  requirements: PaymentRequirements;
  /** Of the client that sent it first. */
  address: string;
  /** Block of its arrival, before which it cannot have been used. */
  sinceBlock: number;
  /** False for a payment that was just verified and never sent. */
  mayBeSent: boolean;
}

/** `isOver`: the authorization can never be mined. Otherwise any holder of it can still send it. */
export interface RejectedSettlement {
  refused: string;
  isOver: boolean;
}

export type SettlementOutcome = ConfirmedSettlement | RejectedSettlement;

const AUTHORIZATION_SPENT: RejectedSettlement = { refused: 'authorization_spent', isOver: true };
const AUTHORIZATION_EXPIRED: RejectedSettlement = { refused: 'expired', isOver: true };

const isAuthorizationUnused = (status: SettlementStatus) => status === null || status === 'late';

/** Decided by the chain: a settlement of a crashed process or a third party is found, never sent twice. @throws OracleError: settle again */
export async function settlePayment(deps: SettleDeps, sale: PaymentToSettle): Promise<SettlementOutcome> {
  const { payment, requirements, address, sinceBlock, mayBeSent } = sale;
  const { chain, merchant, facilitator } = deps;
  const readStatus = () => readSettlementStatus(chain, merchant, { authorization: payment.authorization, sinceBlock });
  const statusBefore = mayBeSent ? await readStatus() : null;
  if (statusBefore === 'late') return AUTHORIZATION_EXPIRED;
  if (statusBefore !== null) return isConfirmedSettlement(statusBefore) ? statusBefore : waitForSettlement(deps, readStatus);
  const settlement = await facilitator.settle(payment, requirements, { address });
  if ('refused' in settlement) {
    // The rejection may be due to a settlement that another sender got mined.
    return isAuthorizationUnused(await readStatus()) ? { ...settlement, isOver: false } : waitForSettlement(deps, readStatus);
  }
  const sent = { authorization: payment.authorization, txHash: settlement.txHash };
  // The node may not know a transaction that a facilitator reports yet, or never.
  const reported = await readTransactionSettlement(chain, merchant, sent).catch(orElse('CHAIN_UNREACHABLE', null));
  return isConfirmedSettlement(reported) ? reported : waitForSettlement(deps, readStatus);
}

async function waitForSettlement(deps: SettleDeps, readStatus: () => Promise<SettlementStatus>): Promise<SettlementOutcome> {
  const { chain, waitMs, signal } = deps;
  const deadline = performance.now() + waitMs;
  for (;;) {
    const found = await readStatus();
    if (isConfirmedSettlement(found)) return found;
    if (found === 'spent') return AUTHORIZATION_SPENT;
    if (found === 'late') return AUTHORIZATION_EXPIRED;
    if (performance.now() >= deadline) throw paymentUnconfirmedError();
    await sleepOrShutdown(chain.pollingIntervalMs, signal);
  }
}
