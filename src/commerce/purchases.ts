import { createHash, randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import { type Collection, type Db, Long } from 'mongodb';
import {
  type Address,
  type Hash,
  type Hex,
  hashMessage,
  parseEventLogs,
  type TransactionReceipt,
  type Log as ViemLog,
  zeroAddress,
} from 'viem';
import { toLowerCaseAddress } from '../chain/addresses.ts';
import { type Chain, readBlockDepth } from '../chain/client.ts';
import { isSignedBy } from '../chain/contracts.ts';
import { findReceipt, findTransaction } from '../chain/rpc.ts';
import { stablecoinAbi } from '../chain/stablecoin.ts';
import { toMinedBlock } from '../chain/wallet.ts';
import { OracleError, type OracleErrorOptions } from '../errors.ts';
import type { Log } from '../platform/log.ts';
import { type CollectionIndexes, ignoreDuplicate } from '../platform/mongo.ts';
import { attemptAndKeepTrying, repeatIfUncertain, undoIfUncertain } from '../platform/retry.ts';
import { type Ledger, parseRefCode, type SettledPayment } from './ledger.ts';
import {
  type ComposedDocument,
  findOffering,
  formatAmount,
  getCaip2Network,
  type MerchantConfig,
  type Money,
  type Offering,
  type RequireSalesOpen,
  type SignatureRule,
  usdFromMicros,
} from './offerings.ts';
import type { ReceivedPayment } from './receipt-signer.ts';
import { hashDocument, type SignedReceipt, type SignReceipt } from './receipts.ts';
import { sleepOrShutdown } from './x402/claims.ts';

export interface PurchaseServiceDeps {
  chain: Chain;
  merchant: MerchantConfig;
  signatures: SignatureRule;
  /** Contracts of other payment channels: their transfers have already been paid for. */
  excludedBuyers: readonly string[];
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
  async buy(request: PurchaseRequest, { address }: { address: string }) {
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

/** Identical for every request. @param again true for a repeated delivery */
function toPurchaseDelivery(doc: PurchaseDoc, { name: offering, title }: Offering, again: boolean) {
  const { json, receipt, deliveredAt } = doc.delivery!;
  const document = JSON.parse(json) as Record<string, unknown>;
  return { offering, title, deliveredAt, again, document, payment: toPurchasePayment(doc), receipt };
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
  if (settledAt === null) throw notConfirmedError(confirmations, chain.confirmations, merchant);
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
  throw notConfirmedError(isPending ? 0 : null, confirmations, merchant);
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

/**
 * Hash and sender of a transfer are public on chain and prove nothing. Returns the SHA-256 of the signature; null without one.
 * @throws OracleError PAYMENT_REQUIRED without a signature, UNAUTHENTICATED with a wrong one, INPUT_INVALID, CHAIN_UNREACHABLE
 */
async function checkBuyer(
  { chain, merchant, signatures, excludedBuyers }: PurchaseServiceDeps,
  request: PurchaseRequest,
  { known, address }: { known: PurchaseDoc | null; address: string },
): Promise<string | null> {
  const { wallet, signature } = request;
  if ([zeroAddress, ...excludedBuyers].some((other) => other.toLowerCase() === wallet.toLowerCase())) {
    throw notPaidError('wallet', 'That address cannot be a buyer', merchant);
  }
  if (signature === undefined) {
    if (signatures === 'required') throw signatureRequiredError("A purchase needs the buyer's signature", request);
    if (known === null) return null;
    if (known.signatureHash !== null)
      throw signatureRequiredError('This purchase was claimed with a signature: it is delivered to signed requests only', request);
    if (known.address !== address) throw signatureRequiredError('This purchase was claimed from another address', request);
    return null;
  }
  const digest = createHash('sha256').update(signature.toLowerCase()).digest('hex');
  // Verified before; saves the chain read.
  if (known?.signatureHash === digest) return digest;
  const hash = hashMessage(buildPurchaseMessage(request.offering, request.txHash));
  if (await isSignedBy(chain, { wallet, hash, signature })) return digest;
  throw new OracleError('UNAUTHENTICATED', 'The signature is not from that wallet for this purchase', buildSigningOptions(request));
}

/** Message that the buyer of a purchase signs (EIP-191): hash and sender are public on chain, the key is not. */
export function buildPurchaseMessage(offering: string, txHash: Hash): string {
  return `Buy svc offering: ${offering}:${txHash.toLowerCase()}`;
}

type Payee = Pick<MerchantConfig, 'payee' | 'asset' | 'chainId'>;

function notPaidError(field: 'txHash' | 'wallet', problem: string, { payee, asset, chainId }: Payee): OracleError {
  const suggestedAction = `Transfer the price from your wallet to ${payee} in the stablecoin ${asset} on ${getCaip2Network({ chainId })}, then submit the hash of that transfer.`;
  return new OracleError('INPUT_INVALID', problem, { field, suggestedAction });
}

function alreadyUsedError(field: 'wallet' | 'offering'): OracleError {
  const whose = field === 'wallet' ? 'was used by another wallet' : 'has paid for another offering';
  return new OracleError('INPUT_INVALID', `This transaction ${whose}`, {
    field,
    suggestedAction: 'Name the wallet and offering that it paid for, or pay in a separate transaction.',
  });
}

function underpaidError(paidMicros: bigint, price: Money, merchant: Payee): OracleError {
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

/** @param confirmations depth of the transaction's block, its own included; 0 while pending; null for one that the node has not seen */
function notConfirmedError(confirmations: number | null, required: number, merchant: Payee): OracleError {
  const isSeen = confirmations !== null;
  const problem = isSeen
    ? `The transaction has ${confirmations} of ${required} confirmations`
    : `The node has not seen this transaction on ${getCaip2Network(merchant)} yet`;
  const suggestedAction = isSeen
    ? 'Repeat the request in a moment: the payment is not lost.'
    : 'Repeat the request in a moment. If this persists for minutes, the hash is wrong, or the transaction is on another chain or was dropped.';
  const details = { confirmations: confirmations ?? 0, required };
  return new OracleError('TRANSFER_UNCONFIRMED', problem, { field: 'txHash', suggestedAction, details, retryAfterSeconds: 5 });
}

type UnsignedClaim = Pick<PurchaseRequest, 'offering' | 'txHash'>;

/** @param problem why the signature is required */
function signatureRequiredError(problem: string, request: UnsignedClaim): OracleError {
  return new OracleError('PAYMENT_REQUIRED', problem, buildSigningOptions(request));
}

function buildSigningOptions({ offering, txHash }: UnsignedClaim): OracleErrorOptions {
  const signMessage = buildPurchaseMessage(offering, txHash);
  return {
    field: 'signature',
    suggestedAction: `Do not pay again. Sign exactly "${signMessage}" (EIP-191) with the wallet that paid, and repeat the request with it as "signature".`,
    details: { signMessage, signScheme: 'EIP-191' },
  };
}

export interface PurchaseRequest {
  offering: string;
  txHash: Hash;
  wallet: Address;
  /** Of `buildPurchaseMessage`. */
  signature?: Hex;
  ref?: string;
}

type PurchasePayment = Omit<ReceivedPayment, 'channel' | 'offering' | 'resource'>;

/** A transfer that paid for an offering, with its delivery. Addresses and hashes in lower case. */
export interface PurchaseDoc extends Omit<PurchasePayment, 'payer' | 'amountMicros' | 'txHash'> {
  /** Hash of the transfer, which pays for one purchase only. */
  _id: Hash;
  offering: string;
  wallet: Address;
  amountMicros: Long | number;
  /** Client address of the first claim: unsigned requests from another address get nothing. */
  address: string;
  /** SHA-256 of the last signature, or null. After a signed request every request must be signed. */
  signatureHash: string | null;
  /** Start of the current lease on composing the document. */
  composingAt: Date;
  /** Lease holder; unset before the first lease. */
  holder?: string;
  delivery: PurchaseDeliveryDoc | null;
  isOpen?: true;
  /** Last sweep; initially the time of the claim. */
  sweptAt: Date;
}

interface PurchaseDeliveryDoc {
  /** RFC 8785 JSON of the document. */
  json: string;
  receipt: SignedReceipt;
  deliveredAt: Date;
}

/** Longer than any composition, after which the lease holder is considered crashed. Measured by the database's clock. */
const PURCHASE_LEASE_MS = 30_000;

const NEVER = new Date(0);
const IS_LEASE_EXPIRED = { $expr: { $lte: ['$composingAt', { $subtract: ['$$NOW', PURCHASE_LEASE_MS] }] } };

type NewPurchase = Omit<PurchasePayment, 'payer'> & Pick<PurchaseDoc, 'offering' | 'wallet' | 'address' | 'signatureHash'>;

interface PurchaseLease {
  txHash: Hash;
  holder: string;
}

const SWEEP_KEY = { isOpen: 1, sweptAt: 1 } as const;

export const PURCHASE_INDEXES = [
  { collection: 'purchases', indexes: [{ key: SWEEP_KEY, sparse: true }] },
] as const satisfies CollectionIndexes[];

export class PurchaseStore {
  readonly #purchases: Collection<PurchaseDoc>;

  constructor(db: Db) {
    this.#purchases = db.collection('purchases');
  }

  find(txHash: Hash): Promise<PurchaseDoc | null> {
    return this.#purchases.findOne({ _id: txHash });
  }

  /** Stores a purchase unless the transaction has one, and returns the stored one. */
  async claim({ txHash, amountMicros, ...purchase }: NewPurchase): Promise<PurchaseDoc> {
    const unclaimed = { composingAt: NEVER, delivery: null, isOpen: true as const, sweptAt: new Date() };
    const doc = { ...purchase, ...unclaimed, _id: txHash, amountMicros: Long.fromBigInt(amountMicros) };
    await this.#purchases.insertOne(doc).catch(ignoreDuplicate);
    return (await this.find(txHash)) as PurchaseDoc;
  }

  /** Paid but undelivered purchases, least recently swept first. */
  listUndelivered(): Promise<PurchaseDoc[]> {
    return this.#purchases.find({ isOpen: true }, { hint: SWEEP_KEY }).sort({ sweptAt: 1 }).limit(100).toArray();
  }

  async markSwept(txHash: Hash): Promise<void> {
    await this.#purchases.updateOne({ _id: txHash }, { $currentDate: { sweptAt: true } });
  }

  async markSigned(txHash: Hash, signatureHash: string): Promise<void> {
    await this.#purchases.updateOne({ _id: txHash }, { $set: { signatureHash } });
  }

  /** Acquires the lease; null while another process holds it, or after the delivery. */
  async acquireLease(txHash: Hash): Promise<PurchaseLease | null> {
    const holder = randomUUID();
    const change = { $set: { holder }, $currentDate: { composingAt: true as const } };
    const acquired = this.#purchases.updateOne({ _id: txHash, delivery: null, ...IS_LEASE_EXPIRED }, change);
    const { modifiedCount } = await undoIfUncertain(acquired, () => this.releaseLease({ txHash, holder }));
    return modifiedCount === 1 ? { txHash, holder } : null;
  }

  /** Releases the lease after a failure, unless another process has acquired it since. */
  async releaseLease({ txHash, holder }: PurchaseLease): Promise<void> {
    await repeatIfUncertain(() => this.#purchases.updateOne({ _id: txHash, delivery: null, holder }, { $set: { composingAt: NEVER } }));
  }

  /** Stores the delivery if the lease is still held, and returns the purchase; its delivery is null while another holder composes it. */
  async saveDelivery({ txHash, holder }: PurchaseLease, delivery: PurchaseDeliveryDoc): Promise<PurchaseDoc> {
    await this.#purchases.updateOne({ _id: txHash, delivery: null, holder }, { $set: { delivery }, $unset: { isOpen: true } });
    return (await this.find(txHash)) as PurchaseDoc;
  }
}

function toPurchasePayment(doc: PurchaseDoc): PurchasePayment {
  const { _id: txHash, wallet: payer, payee, asset, chain, amountMicros, settledAt, ref, block } = doc;
  return { payer, payee, asset, chain, amountMicros: BigInt(amountMicros.toString()), txHash, settledAt, ref, block };
}
