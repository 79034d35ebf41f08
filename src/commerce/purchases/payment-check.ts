import { type Address, type Hash, TransactionNotFoundError, type TransactionReceipt } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { readBlockDepth } from '../../chain/rpc/block-depth.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { findReceipt } from '../../chain/rpc/receipts.ts';
import { getCaip2Network, type MerchantConfig } from '../merchant-config.ts';
import type { Offering } from '../price-list.ts';
import { notConfirmedError, notPaidError, transactionNotSeenError, underpaidError } from './errors.ts';
import type { PurchasePayment } from './purchase.ts';
import { summarizeTransfers, type TransferSummary } from './transfer-summary.ts';

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

/** Not older than 24 hours. @throws OracleError INPUT_INVALID, PAYMENT_REQUIRED for too little, TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE */
export async function checkPayment(deps: PaymentCheckDeps, transfer: ClaimedTransfer): Promise<Omit<PurchasePayment, 'ref'>> {
  const { txHash, wallet, price } = transfer;
  const { chain, merchant, now } = deps;
  const receipt = await readTransferReceipt(deps, txHash);
  if (receipt.status !== 'success') throw notPaidError('txHash', 'This transaction reverted: it has transferred nothing', merchant);
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

async function readTransferReceipt({ chain, merchant }: PaymentCheckDeps, hash: Hash): Promise<TransactionReceipt> {
  const { client, confirmations } = chain;
  const receipt = await findReceipt(chain, hash, 'Reading the receipt of a payment');
  // Some nodes return a receipt of the pending block.
  if (receipt?.blockHash) return receipt;
  const isPending = await chainCall('Looking for a payment', async () => {
    try {
      await client.getTransaction({ hash });
      return true;
    } catch (error) {
      if (error instanceof TransactionNotFoundError) return false;
      throw error;
    }
  });
  throw isPending ? notConfirmedError(0, confirmations) : transactionNotSeenError(merchant, confirmations);
}

/** @throws OracleError INPUT_INVALID for a transaction that is not a plain transfer from the wallet to the payee */
function requireTransferToPayee({ isAuthorized, paidMicros, transfers, reachesPayee }: TransferSummary, merchant: MerchantConfig): void {
  // An authorization paid for an x402 request and must not pay twice.
  if (isAuthorized)
    throw notPaidError('txHash', 'This transaction carries payments that were signed for requests and cannot pay for a purchase', merchant);
  if (transfers === 0) throw notPaidError('txHash', 'This transaction transfers none of the stablecoin', merchant);
  if (!reachesPayee) throw notPaidError('txHash', 'This transaction pays another wallet', merchant);
  if (paidMicros === 0n) throw notPaidError('wallet', 'This transaction is not from that wallet', merchant);
}
