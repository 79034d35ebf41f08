import { type Address, type Hash, TransactionNotFoundError, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc-error.ts';
import { settledBlock } from '../../chain/settled-block.ts';
import type { Offering } from '../offerings.ts';
import { networkOf, type Till } from '../till.ts';
import type { PurchasePayment } from './purchase.ts';
import { notDeepEnough, notPaidBy, notSeenYet, tooLittle } from './refusals.ts';
import { type Transfers, transfersIn } from './transfers.ts';

/** How old a transfer may be when it is first shown. */
const MAX_AGE_HOURS = 24;

export interface PaymentCheck {
  chain: Chain;
  till: Till;
  now(): Date;
}

export interface Shown {
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
export async function checkPayment(check: PaymentCheck, { txHash, wallet, price }: Shown): Promise<Omit<PurchasePayment, 'ref'>> {
  const { chain, till, now } = check;
  const receipt = await receiptOf(check, txHash);
  if (receipt.status !== 'success') throw notPaidBy('txHash', 'This transaction was reverted: it has moved no money', till);
  const { asset, payee } = till;
  const found = transfersIn(receipt.logs, { asset, payer: wallet, payee });
  requirePaid(found, till);
  const { settledAt, confirmations } = await settledBlock(chain, receipt);
  if (settledAt === null) throw notDeepEnough(confirmations, chain.confirmations);
  if (now().getTime() - settledAt.getTime() > MAX_AGE_HOURS * 3_600_000) {
    throw notPaidBy('txHash', `This transaction is older than ${MAX_AGE_HOURS} hours`, till);
  }
  if (found.paidMicros < price.amount) throw tooLittle(found.paidMicros, price, till);
  return { payer: wallet, payee, asset, chain: networkOf(till), amountMicros: found.paidMicros, txHash, settledAt };
}

async function receiptOf({ chain: { client, confirmations }, till }: PaymentCheck, hash: Hash): Promise<TransactionReceipt> {
  const receipt = await chainCall('Reading the receipt of a payment', () => orNull(client.getTransactionReceipt({ hash })));
  // Some nodes answer with a receipt of the pending block.
  if (receipt?.blockHash) return receipt;
  const pending = await chainCall('Looking for a payment', () => orNull(client.getTransaction({ hash })));
  if (pending !== null) throw notDeepEnough(0, confirmations);
  throw notSeenYet(till, confirmations);
}

async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError || error instanceof TransactionNotFoundError) return null;
    throw error;
  }
}

/** @throws OracleError INPUT_INVALID for a transaction that has paid us nothing from that wallet, or in another way */
function requirePaid({ isAuthorized, paidMicros, transfers, reachesPayee }: Transfers, till: Till): void {
  // Such a payment was for a request (x402): it must not pay twice.
  if (isAuthorized) throw notPaidBy('txHash', 'This transaction carries payments that were signed for requests, and is no purchase', till);
  if (transfers === 0) throw notPaidBy('txHash', 'This transaction has moved none of the stablecoin', till);
  if (!reachesPayee) throw notPaidBy('txHash', 'This transaction has paid somebody else', till);
  if (paidMicros === 0n) throw notPaidBy('wallet', 'This transaction was not paid by that wallet', till);
}
