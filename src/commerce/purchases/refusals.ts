import { OracleError } from '../../errors.ts';
import { formatAmount, type Money, usdOf } from '../money.ts';
import { networkOf, type Till } from '../till.ts';
import { purchaseMessage } from './purchase.ts';

type Payee = Pick<Till, 'payee' | 'asset' | 'chainId'>;

/** What to pay, in words. */
function howToPay({ payee, asset, chainId }: Payee): string {
  return `Send the price from your wallet to ${payee} in the stablecoin ${asset} on ${networkOf({ chainId })}, then send the hash of that transfer.`;
}

/** The transaction is no payment for this. */
export function notPaidBy(field: 'txHash' | 'wallet', problem: string, till: Payee): OracleError {
  return new OracleError('INPUT_INVALID', problem, { field, suggestedAction: howToPay(till) });
}

/** The transaction has paid for something else already. */
export function usedBefore(field: 'wallet' | 'offering'): OracleError {
  const whose = field === 'wallet' ? 'was used by another wallet' : 'has paid for another offering';
  return new OracleError('INPUT_INVALID', `This transaction ${whose}`, {
    field,
    suggestedAction: 'Name the wallet and the offering that it has paid for, or pay with a transaction of its own.',
  });
}

export function tooLittle(paidMicros: bigint, price: Money, till: Payee): OracleError {
  const missing = price.amount - paidMicros;
  const usd = (micros: bigint) => formatAmount(usdOf(micros));
  return new OracleError('PAYMENT_REQUIRED', `${usd(paidMicros)} USD were paid, and the price is ${formatAmount(price)} USD`, {
    field: 'txHash',
    suggestedAction: `${usd(missing)} USD are missing, and sums of several transactions are not added up: send the full price of ${formatAmount(price)} USD in ONE new transaction, and its hash. The transfer that was too small stays unclaimed: the operator sees it as such, with its sender, in his reconciliation with the chain.`,
    details: {
      ...{ paid: paidMicros.toString(), price: price.amount.toString(), missing: missing.toString() },
      ...{ paidUsd: usd(paidMicros), priceUsd: formatAmount(price), missingUsd: usd(missing) },
      ...{ payee: till.payee, asset: till.asset, chain: networkOf(till) },
    },
  });
}

/** @param confirmations blocks on top of the transaction, its own included; 0 while it is in none */
export function notDeepEnough(confirmations: number, required: number): OracleError {
  return new OracleError('TRANSACTION_UNCONFIRMED', `The transaction has ${confirmations} of ${required} confirmations`, {
    field: 'txHash',
    suggestedAction: 'Send the same request again in a moment: the payment is not lost.',
    details: { confirmations, required },
    retryAfterSeconds: 5,
  });
}

/** @param problem why a signature is needed, or what is wrong with this one */
export function signatureNeeded(problem: string, { offering, txHash }: { offering: string; txHash: `0x${string}` }): OracleError {
  return new OracleError('UNAUTHENTICATED', problem, {
    field: 'signature',
    suggestedAction: `Sign "${purchaseMessage(offering, txHash)}" (EIP-191) with the wallet that paid, and send it as "signature".`,
  });
}

/** Somebody else is at it, in this process or another. */
export function stillComposing(): OracleError {
  return new OracleError('STEP_WAITING', 'What this transaction has paid for is being put together', {
    suggestedAction: 'Send the same request again: the payment is written down and is not lost.',
    retryAfterSeconds: 2,
  });
}
