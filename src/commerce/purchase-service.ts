import canonicalize from 'canonicalize';
import { type Address, type Hash, type Hex, parseEventLogs, type TransactionReceipt, type Log as ViemLog } from 'viem';
import { toLowerCaseAddress } from '../chain/addresses.ts';
import { type Chain, readBlockDepth } from '../chain/client.ts';
import { findReceipt, findTransaction } from '../chain/rpc.ts';
import { stablecoinAbi } from '../chain/stablecoin.ts';
import { toMinedBlock } from '../chain/wallet.ts';
import { OracleError } from '../errors.ts';
import type { Log } from '../platform/log.ts';
import { attemptAndKeepTrying } from '../platform/retry.ts';
import { type Ledger, parseRefCode, type SettledPayment } from './ledger.ts';
import { type ComposedDocument, findOffering, getCaip2Network, type MerchantConfig, type Offering, type RequireSalesOpen } from './offerings.ts';
import { sleepOrShutdown } from './payment-instructions.ts';
import {
  alreadyUsedError,
  type BuyerCheckDeps,
  checkBuyer,
  notConfirmedError,
  notPaidError,
  PURCHASE_LEASE_MS,
  type PurchaseDelivery,
  type PurchaseDoc,
  type PurchaseLease,
  type PurchasePayment,
  type PurchaseRequest,
  type PurchaseStore,
  toPurchasePayment,
  transactionNotSeenError,
  underpaidError,
} from './purchases.ts';
import { hashDocument, type SignReceipt } from './receipts.ts';

export interface PurchaseServiceDeps extends BuyerCheckDeps {
  chain: Chain;
  store: PurchaseStore;
  ledger: Pick<Ledger, 'record'>;
  requireOpen: RequireSalesOpen;
  signReceipt: SignReceipt;
  compose(offering: string, now: Date): Promise<ComposedDocument>;
  signal: AbortSignal;
  log: Log;
  now(): Date;
}

const POLL_INTERVAL_MS = 50;
const MAX_DELIVERY_POLLS = 200;

/** Interface, section 4.5. Each step is done once whichever process crashes: store the transfer, book the payment, store the document. */
export class PurchaseService {
  readonly #deps: PurchaseServiceDeps;

  constructor(deps: PurchaseServiceDeps) {
    this.#deps = deps;
  }

  /**
   * @throws OracleError INPUT_INVALID, UNAUTHENTICATED for a wrong `signature`, PAYMENT_REQUIRED, TRANSFER_UNCONFIRMED, CHAIN_UNREACHABLE,
   * STEP_WAITING while sales are closed; errors of `compose`, after which the stored payment is kept for a retry
   */
  async buy(request: PurchaseRequest, { address }: { address: string }): Promise<PurchaseDelivery> {
    const offering = requireOffering(request);
    const normalized = { ...request, txHash: request.txHash.toLowerCase() as Hash };
    const known = await this.#deps.store.find(normalized.txHash);
    // Earlier purchases are delivered while sales are closed, too.
    if (known === null) this.#deps.requireOpen();
    else requireSamePurchase(known, normalized);
    const signatureHash = await checkBuyer(this.#deps, normalized, { known, address });
    const again = known !== null && known.delivery !== null;
    const doc = known ?? (await this.#claim(normalized, offering, { address, signatureHash }));
    // A concurrent request may have stored the purchase first: apply the checks of a known purchase.
    requireSamePurchase(doc, normalized);
    if (known === null) await checkBuyer(this.#deps, normalized, { known: doc, address });
    if (signatureHash !== null && doc.signatureHash !== signatureHash) await this.#deps.store.markSigned(normalized.txHash, signatureHash);
    return toPurchaseDelivery(await this.#awaitDelivery(doc), offering, again);
  }

  /** Finishes purchases of crashed processes. */
  async sweep(): Promise<void> {
    const { store, log } = this.#deps;
    for (const doc of await store.listUndelivered()) {
      const lease = await store.acquireLease(doc._id);
      if (lease === null) continue;
      await store.markSwept(doc._id);
      await this.#composeAndDeliver(doc, lease).catch((error: unknown) =>
        log.warn({ err: error, purchase: doc._id }, 'a purchase cannot be delivered yet'),
      );
    }
  }

  async #claim(
    { txHash, wallet, ref }: PurchaseRequest,
    { name, price }: Offering,
    buyer: Pick<PurchaseDoc, 'address' | 'signatureHash'>,
  ): Promise<PurchaseDoc> {
    const refCode = ref === undefined ? null : parseRefCode(ref);
    const { payer, ...payment } = await checkPayment(this.#deps, { txHash, wallet: toLowerCaseAddress(wallet), price });
    return this.#deps.store.claim({ ...payment, offering: name, wallet: payer, ref: refCode, ...buyer });
  }

  /** Returns the purchase with its delivery, composed here or by the lease holder. */
  async #awaitDelivery(doc: PurchaseDoc): Promise<PurchaseDoc> {
    const { store, signal } = this.#deps;
    let found = doc;
    for (let poll = 0; found.delivery === null; poll += 1) {
      if (poll === MAX_DELIVERY_POLLS) {
        // Another request, perhaps in another process, is composing it.
        throw new OracleError('STEP_WAITING', 'The document of this transaction is being composed', {
          suggestedAction: 'Repeat the request: the payment is recorded.',
          retryAfterSeconds: 2,
        });
      }
      const lease = await store.acquireLease(found._id);
      if (lease === null) await sleepOrShutdown(POLL_INTERVAL_MS, signal);
      found = lease === null ? ((await store.find(found._id)) as PurchaseDoc) : await this.#composeAndDeliver(found, lease);
    }
    return found;
  }

  async #composeAndDeliver(doc: PurchaseDoc, lease: PurchaseLease): Promise<PurchaseDoc> {
    const { store, ledger, signReceipt, compose, now } = this.#deps;
    const { offering } = doc;
    try {
      const payment = toPurchasePayment(doc);
      const resource = `purchase:${offering}`;
      await ledger.record({ ...payment, cause: { kind: 'transfer' }, channel: 'purchase', offering, resource });
      const deliveredAt = now();
      const { document, forecastId, attestationUid } = await compose(offering, deliveredAt);
      const sold = { resource, answerHash: hashDocument(document), forecastId, attestationUid };
      const receipt = await signReceipt({ ...payment, ...sold });
      return await store.saveDelivery(lease, { json: canonicalize(document) as string, receipt, deliveredAt });
    } catch (error) {
      await attemptAndKeepTrying(() => store.releaseLease(lease), PURCHASE_LEASE_MS);
      throw error;
    }
  }
}

function requireOffering({ offering }: PurchaseRequest): Offering {
  const found = findOffering('purchase', offering);
  if (found === null) throw new OracleError('INPUT_INVALID', 'There is no such offering', { field: 'offering' });
  return found;
}

function requireSamePurchase(doc: PurchaseDoc, { wallet, offering }: PurchaseRequest): void {
  if (doc.wallet !== wallet.toLowerCase()) throw alreadyUsedError('wallet');
  if (doc.offering !== offering) throw alreadyUsedError('offering');
}

function toPurchaseDelivery(doc: PurchaseDoc, { name: offering, title }: Offering, again: boolean): PurchaseDelivery {
  const { json, receipt, deliveredAt } = doc.delivery!;
  return { offering, title, deliveredAt, again, document: JSON.parse(json), payment: toPurchasePayment(doc), receipt };
}

const MAX_AGE_HOURS = 24;

/** Not older than 24 hours. @throws OracleError INPUT_INVALID, PAYMENT_REQUIRED for too little, TRANSFER_UNCONFIRMED, CHAIN_UNREACHABLE */
async function checkPayment(
  deps: PurchaseServiceDeps,
  { txHash, wallet, price }: Pick<PurchaseRequest, 'txHash' | 'wallet'> & Pick<Offering, 'price'>,
): Promise<Omit<PurchasePayment, 'ref'>> {
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
  const money = { payer: wallet, payee, asset, chain: getCaip2Network(merchant), amountMicros: found.paidMicros };
  return { ...money, txHash, settledAt, block: toMinedBlock(receipt) };
}

async function readTransferReceipt({ chain, merchant }: PurchaseServiceDeps, hash: Hash): Promise<TransactionReceipt> {
  const { confirmations } = chain;
  const receipt = await findReceipt(chain, hash, 'Reading the receipt of a payment');
  // Some nodes return a receipt of the pending block.
  if (receipt?.blockHash) return receipt;
  const isPending = (await findTransaction(chain, hash, 'Looking for a payment')) !== null;
  throw isPending ? notConfirmedError(0, confirmations) : transactionNotSeenError(merchant, confirmations);
}

/** @throws OracleError INPUT_INVALID for a transaction that is not a plain transfer from the wallet to the payee */
function requireTransferToPayee(found: ReturnType<typeof summarizeTransfers>, merchant: MerchantConfig): void {
  const { isAuthorized, paidMicros, transfers, reachesPayee } = found;
  // An authorization paid for an x402 request and must not pay twice.
  if (isAuthorized)
    throw notPaidError('txHash', 'This transaction carries payments that were signed for requests and cannot pay for a purchase', merchant);
  if (transfers === 0) throw notPaidError('txHash', 'This transaction transfers none of the stablecoin', merchant);
  if (!reachesPayee) throw notPaidError('txHash', 'This transaction pays another wallet', merchant);
  if (paidMicros === 0n) throw notPaidError('wallet', 'This transaction is not from that wallet', merchant);
}

export interface RawLog {
  address: Address;
  topics: readonly Hex[];
  data: Hex;
}

type TransferParties = Pick<SettledPayment, 'asset' | 'payer' | 'payee'>;

/** Summarizes the stablecoin's logs. Ignores logs of other contracts, and logs that do not decode. */
export function summarizeTransfers(logs: readonly RawLog[], { asset, payer, payee }: TransferParties) {
  const assetLogs = logs.filter(({ address }) => isSame(address, asset)) as ViemLog[];
  const events = parseEventLogs({ abi: stablecoinAbi, eventName: ['Transfer', 'AuthorizationUsed'], logs: assetLogs });
  const transfers = events.flatMap((event) => (event.eventName === 'Transfer' ? [event.args] : []));
  const received = transfers.filter(({ to }) => isSame(to, payee));
  return {
    /** Sum from the payer to the payee. */
    paidMicros: received.filter(({ from }) => isSame(from, payer)).reduce((sum, { value }) => sum + value, 0n),
    /** Number of transfers between any wallets. */
    transfers: transfers.length,
    reachesPayee: received.length > 0,
    /** The transaction also uses EIP-3009 authorizations, which pay for requests. */
    isAuthorized: events.some(({ eventName }) => eventName === 'AuthorizationUsed'),
  };
}

/** Case-insensitive, unlike viem's `isAddressEqual`, which rejects a wrong checksum. */
function isSame(one: Address, other: Address): boolean {
  return toLowerCaseAddress(one) === toLowerCaseAddress(other);
}
