import { OracleError, type OracleErrorOptions } from '../../platform/errors.ts';
import { getCaip2Network, type MerchantConfig } from '../merchant-config.ts';
import { formatAmount, type Money, usdFromMicros } from '../money.ts';
import { buildPurchaseMessage, type PurchaseRequest } from './purchase.ts';

type Payee = Pick<MerchantConfig, 'payee' | 'asset' | 'chainId'>;

function formatTransferInstructions({ payee, asset, chainId }: Payee): string {
  return `Transfer the price from your wallet to ${payee} in the stablecoin ${asset} on ${getCaip2Network({ chainId })}, then submit the hash of that transfer.`;
}

export function notPaidError(field: 'txHash' | 'wallet', problem: string, merchant: Payee): OracleError {
  return new OracleError('INPUT_INVALID', problem, { field, suggestedAction: formatTransferInstructions(merchant) });
}

export function alreadyUsedError(field: 'wallet' | 'offering'): OracleError {
  const whose = field === 'wallet' ? 'was used by another wallet' : 'has paid for another offering';
  return new OracleError('INPUT_INVALID', `This transaction ${whose}`, {
    field,
    suggestedAction: 'Name the wallet and offering that it paid for, or pay in a separate transaction.',
  });
}

export function underpaidError(paidMicros: bigint, price: Money, merchant: Payee): OracleError {
  const missing = price.amount - paidMicros;
  const usd = (micros: bigint) => formatAmount(usdFromMicros(micros));
  return new OracleError('PAYMENT_REQUIRED', `${usd(paidMicros)} USD were paid, and the price is ${formatAmount(price)} USD`, {
    field: 'txHash',
    suggestedAction: `${usd(missing)} USD are missing, and several transactions are not added up: send the full price of ${formatAmount(price)} USD in ONE new transaction. The smaller transfer stays unclaimed; the operator sees it with its sender in the reconciliation.`,
    details: {
      paid: paidMicros.toString(),
      price: price.amount.toString(),
      missing: missing.toString(),
      paidUsd: usd(paidMicros),
      priceUsd: formatAmount(price),
      missingUsd: usd(missing),
      payee: merchant.payee,
      asset: merchant.asset,
      chain: getCaip2Network(merchant),
    },
  });
}

/** @param confirmations depth of the transaction's block, its own included; 0 while pending */
export function notConfirmedError(confirmations: number, required: number): OracleError {
  return new OracleError('TRANSACTION_UNCONFIRMED', `The transaction has ${confirmations} of ${required} confirmations`, {
    field: 'txHash',
    suggestedAction: 'Repeat the request in a moment: the payment is not lost.',
    details: { confirmations, required },
    retryAfterSeconds: 5,
  });
}

type UnsignedClaim = Pick<PurchaseRequest, 'offering' | 'txHash'>;

/** @param problem why the signature is required */
export function signatureRequiredError(problem: string, request: UnsignedClaim): OracleError {
  return new OracleError('PAYMENT_REQUIRED', problem, buildSigningOptions(request));
}

export function wrongSignatureError(request: UnsignedClaim): OracleError {
  return new OracleError('UNAUTHENTICATED', 'The signature is not from that wallet for this purchase', buildSigningOptions(request));
}

function buildSigningOptions({ offering, txHash }: UnsignedClaim): OracleErrorOptions {
  const signMessage = buildPurchaseMessage(offering, txHash);
  return {
    field: 'signature',
    suggestedAction: `Do not pay again. Sign exactly "${signMessage}" (EIP-191) with the wallet that paid, and repeat the request with it as "signature".`,
    details: { signMessage, signScheme: 'EIP-191' },
  };
}

export function transactionNotSeenError(merchant: Payee, required: number): OracleError {
  return new OracleError('TRANSACTION_UNCONFIRMED', `The node has not seen this transaction on ${getCaip2Network(merchant)} yet`, {
    field: 'txHash',
    suggestedAction:
      'Repeat the request in a moment. If this persists for minutes, the hash is wrong, or the transaction is on another chain or was dropped.',
    details: { confirmations: 0, required },
    retryAfterSeconds: 5,
  });
}

/** Another request, perhaps in another process, is composing the document. */
export function deliveryPendingError(): OracleError {
  return new OracleError('STEP_WAITING', 'The document of this transaction is being composed', {
    suggestedAction: 'Repeat the request: the payment is recorded.',
    retryAfterSeconds: 2,
  });
}
