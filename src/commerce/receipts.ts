import canonicalize from 'canonicalize';
import {
  type Address,
  getAddress,
  type Hash,
  type Hex,
  keccak256,
  type LocalAccount,
  type ParseAbiParameters,
  stringToBytes,
  zeroHash,
} from 'viem';
import { isOracleError, OracleError } from '../errors.ts';

export interface ReceiptData {
  payer: Address;
  payee: Address;
  asset: Address;
  amountMicros: bigint;
  resource: string;
  /** `hashDocument` of the delivered document. */
  answerHash: Hash;
  forecastId: string | null;
  attestationUid: Hash | null;
  txHash: Hash;
  settledAt: Date;
}

/** Receipt as signed EIP-712 typed data, verifiable with `verifyTypedData` of any library. */
export interface SignedReceipt {
  domain: { name: string; version: string; chainId: number };
  types: { Receipt: readonly { name: string; type: string }[] };
  primaryType: 'Receipt';
  /** Integers as decimal text. */
  message: Pick<ReceiptData, 'payer' | 'payee' | 'asset' | 'resource' | 'answerHash' | 'txHash'> & {
    amount: string;
    forecastId: string;
    attestationUid: Hash;
    settledAt: string;
  };
  signature: Hex;
  signer: Address;
}

/** EIP-712 fields of `address payer, uint256 amount`. Without the parser of viem, which is large in a browser. */
export function toTypedFields<const Fields extends string>(fields: Fields): ParseAbiParameters<Fields> {
  const typed = fields.split(', ').map((field) => {
    const [type, name] = field.split(' ');
    return { name, type };
  });
  return typed as unknown as ParseAbiParameters<Fields>;
}

/** EIP-712 types of a receipt; `forecastId` is empty and `attestationUid` zero without a forecast. */
export const RECEIPT_TYPES = {
  Receipt: toTypedFields(
    'address payer, address payee, address asset, uint256 amount, string resource, bytes32 answerHash, string forecastId, bytes32 attestationUid, bytes32 txHash, uint64 settledAt',
  ),
};

/** keccak256 of the RFC 8785 form of a JSON document, in UTF-8. */
export function hashDocument(document: Record<string, unknown>): Hash {
  return keccak256(stringToBytes(canonicalize(document) as string));
}

/** Signs a receipt. Signers may sign differently each time, so that the first stored receipt of a sale counts. @throws OracleError SIGNER_UNAVAILABLE */
export type SignReceipt = (sale: ReceiptData) => Promise<SignedReceipt>;

export function getReceiptDomain(chainId: number): SignedReceipt['domain'] {
  return { name: 'Bitcoin Signal Oracle receipt', version: '1', chainId };
}

export function createReceiptSigner(account: LocalAccount, chainId: number): SignReceipt {
  const domain = getReceiptDomain(chainId);
  return async (sale) => {
    const message = toReceiptMessage(sale);
    const typed = { ...message, amount: sale.amountMicros, settledAt: BigInt(message.settledAt) };
    const signing = account.signTypedData({ domain, types: RECEIPT_TYPES, primaryType: 'Receipt', message: typed });
    const signature = await signing.catch(explainToPayer);
    return { domain, types: RECEIPT_TYPES, primaryType: 'Receipt', message, signature, signer: account.address };
  };
}

/** The payment is recorded before its receipt is signed. */
function explainToPayer(error: unknown): never {
  if (!isOracleError(error, 'SIGNER_UNAVAILABLE')) throw error;
  throw new OracleError('SIGNER_UNAVAILABLE', 'The receipt of a payment cannot be signed now', {
    suggestedAction: 'Repeat the same request later: the payment is recorded, and you are not charged twice.',
    retryAfterSeconds: error.retryAfterSeconds,
    cause: error,
  });
}

function toReceiptMessage(data: ReceiptData): SignedReceipt['message'] {
  const { payer, payee, asset, amountMicros, resource, answerHash, forecastId, attestationUid, txHash, settledAt } = data;
  return {
    payer: getAddress(payer),
    payee: getAddress(payee),
    asset: getAddress(asset),
    amount: amountMicros.toString(),
    resource,
    answerHash,
    forecastId: forecastId ?? '',
    attestationUid: attestationUid ?? zeroHash,
    txHash,
    settledAt: String(Math.floor(settledAt.getTime() / 1_000)),
  };
}

/**
 * Extension of x402: the seller signs the offer of a 402, and a receipt for its payment.
 * https://github.com/x402-foundation/x402/blob/main/specs/extensions/extension-offer-and-receipt.md
 */
export const OFFER_RECEIPT = 'offer-receipt';

export interface OfferPayload {
  version: 1;
  resourceUrl: string;
  scheme: string;
  /** CAIP-2. */
  network: string;
  asset: string;
  payTo: string;
  /** Smallest units of the asset. */
  amount: string;
  /** Unix seconds. */
  validUntil: number;
}

export interface X402ReceiptPayload {
  version: 1;
  /** CAIP-2. */
  network: string;
  resourceUrl: string;
  payer: Address;
  /** Unix seconds. */
  issuedAt: number;
  transaction: Hash;
}

interface SignedPayload<Payload> {
  format: 'eip712';
  payload: Payload;
  signature: Hex;
}

/** `acceptIndex` is not signed: the entry of `accepts` with these terms. */
export type SignedOffer = SignedPayload<OfferPayload> & { acceptIndex: number };

export type X402Receipt = SignedPayload<X402ReceiptPayload>;

const OFFER_RECEIPT_TYPES = {
  Receipt: toTypedFields('uint256 version, string network, string resourceUrl, string payer, uint256 issuedAt, string transaction'),
};

/** EIP-712 data of a receipt, sections 3.2 and 5.3. */
export function toX402ReceiptTypedData({ version, issuedAt, ...payload }: X402ReceiptPayload) {
  const domain = { name: 'x402 receipt', version: '1', chainId: 1 } as const;
  const message = { ...payload, version: BigInt(version), issuedAt: BigInt(issuedAt) };
  return { domain, types: OFFER_RECEIPT_TYPES, primaryType: 'Receipt', message } as const;
}
