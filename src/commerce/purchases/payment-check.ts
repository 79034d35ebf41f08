import { type Address, type Hash, TransactionNotFoundError, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { readBlockDepth } from '../../chain/rpc/block-depth.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { getCaip2Network, type MerchantConfig } from '../merchant-config.ts';
import type { Offering } from '../offerings.ts';
import { notConfirmedError, notPaidError, transactionNotSeenError, underpaidError } from './errors.ts';
import type { PurchasePayment } from './purchase.ts';
import { summarizeTransfers, type TransferSummary } from './transfer-summary.ts';

/** How old a transfer may be when it is first shown. */
const MAX_AGE_HOURS = 24;

export interface PaymentCheckDeps {
  chain: Chain;
  merchant: MerchantConfig;
  now(): Date;
}

export interface ClaimedTransfer {
  /** In lower case. */
  txHash: Hash;
  wallet: Address;
  price: Offering['price'];
}

/**
 * Whether a transaction has paid the price, from what stands on chain: sender, recipient and coin by its logs, at its confirmation
 * depth, and not too long ago.
 * @throws OracleError INPUT_INVALID naming `txHash` or `wallet`, PAYMENT_REQUIRED for too little, TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE
 */
export async function checkPayment(
  check: PaymentCheckDeps,
  { txHash, wallet, price }: ClaimedTransfer,
): Promise<Omit<PurchasePayment, 'ref'>> {
  const { chain, merchant, now } = check;
  const receipt = await readTransferReceipt(check, txHash);
  if (receipt.status !== 'success') throw notPaidError('txHash', 'This transaction was reverted: it has moved no money', merchant);
  const { asset, payee } = merchant;
  const found = summarizeTransfers(receipt.logs, { asset, payer: wallet, payee });
  requireTransferToPayee(found, merchant);
  const { settledAt, confirmations } = await readBlockDepth(chain, receipt);
  if (settledAt === null) throw notConfirmedError(confirmations, chain.confirmations);
  if (now().getTime() - settledAt.getTime() > MAX_AGE_HOURS * 3_600_000) {
    throw notPaidError('txHash', `This transaction is older than ${MAX_AGE_HOURS} hours`, merchant);
  }
  if (found.paidMicros < price.amount) throw underpaidError(found.paidMicros, price, merchant);
  return { payer: wallet, payee, asset, chain: getCaip2Network(merchant), amountMicros: found.paidMicros, txHash, settledAt };
}

async function readTransferReceipt(
  { chain: { client, confirmations }, merchant }: PaymentCheckDeps,
  hash: Hash,
): Promise<TransactionReceipt> {
  const receipt = await chainCall('Reading the receipt of a payment', () => nullIfNotFound(client.getTransactionReceipt({ hash })));
  // Some nodes answer with a receipt of the pending block.
  if (receipt?.blockHash) return receipt;
  const pending = await chainCall('Looking for a payment', () => nullIfNotFound(client.getTransaction({ hash })));
  if (pending !== null) throw notConfirmedError(0, confirmations);
  throw transactionNotSeenError(merchant, confirmations);
}

async function nullIfNotFound<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError || error instanceof TransactionNotFoundError) return null;
    throw error;
  }
}

/** @throws OracleError INPUT_INVALID for a transaction that has paid us nothing from that wallet, or in another way */
function requireTransferToPayee({ isAuthorized, paidMicros, transfers, reachesPayee }: TransferSummary, merchant: MerchantConfig): void {
  // Such a payment was for a request (x402): it must not pay twice.
  if (isAuthorized)
    throw notPaidError('txHash', 'This transaction carries payments that were signed for requests, and is no purchase', merchant);
  if (transfers === 0) throw notPaidError('txHash', 'This transaction has moved none of the stablecoin', merchant);
  if (!reachesPayee) throw notPaidError('txHash', 'This transaction has paid somebody else', merchant);
  if (paidMicros === 0n) throw notPaidError('wallet', 'This transaction was not paid by that wallet', merchant);
}
