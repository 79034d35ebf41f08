import canonicalize from 'canonicalize';
import { type Address, getAddress, type Hash, type Hex, keccak256, type LocalAccount, stringToBytes, zeroHash } from 'viem';

/** What was sold for which money: everything that a receipt binds together. */
export interface ReceiptData {
  payer: Address;
  payee: Address;
  /** The stablecoin. */
  asset: Address;
  /** Millionths of a US dollar that arrived. */
  amountMicros: bigint;
  /** What was asked for, e.g. the URL with its query. */
  resource: string;
  /** `documentHash` of what was delivered. */
  answerHash: Hash;
  /** The forecast that was sold; null where none was. */
  forecastId: string | null;
  /** Of the forecast's attestation; null where there is none. */
  attestationUid: Hash | null;
  /** The transaction that brought the money. */
  txHash: Hash;
  settledAt: Date;
}

/** A receipt as buyers get it: EIP-712 typed data with its signature, which `verifyTypedData` of any library checks. */
export interface SignedReceipt {
  domain: { name: string; version: string; chainId: number };
  types: { Receipt: readonly { name: string; type: string }[] };
  primaryType: 'Receipt';
  /** Whole numbers as decimal text. */
  message: {
    payer: Address;
    payee: Address;
    asset: Address;
    amount: string;
    resource: string;
    answerHash: Hash;
    forecastId: string;
    attestationUid: Hash;
    txHash: Hash;
    settledAt: string;
  };
  signature: Hex;
  /** The provider wallet. */
  signer: Address;
}

/** EIP-712 types of a receipt; `forecastId` is empty and `attestationUid` zero where no forecast was sold. */
export const RECEIPT_TYPES = {
  Receipt: [
    { name: 'payer', type: 'address' },
    { name: 'payee', type: 'address' },
    { name: 'asset', type: 'address' },
    { name: 'amount', type: 'uint256' },
    { name: 'resource', type: 'string' },
    { name: 'answerHash', type: 'bytes32' },
    { name: 'forecastId', type: 'string' },
    { name: 'attestationUid', type: 'bytes32' },
    { name: 'txHash', type: 'bytes32' },
    { name: 'settledAt', type: 'uint64' },
  ],
} as const;

/** keccak256 of the RFC 8785 form of a JSON document, in UTF-8. */
export function hashDocument(document: Record<string, unknown>): Hash {
  return keccak256(stringToBytes(canonicalize(document) as string));
}

/** Signs receipts. The same sale gives the same receipt, whichever process signs it. */
export type SignReceipt = (sale: ReceiptData) => Promise<SignedReceipt>;

/** EIP-712 domain of receipts for payments on a chain. */
export function getReceiptDomain(chainId: number): SignedReceipt['domain'] {
  return { name: 'Bitcoin Signal Oracle receipt', version: '1', chainId };
}

export function createReceiptSigner(account: LocalAccount, chainId: number): SignReceipt {
  const domain = getReceiptDomain(chainId);
  return async (sale) => {
    const message = toReceiptMessage(sale);
    const typed = { ...message, amount: sale.amountMicros, settledAt: BigInt(message.settledAt) };
    const signature = await account.signTypedData({ domain, types: RECEIPT_TYPES, primaryType: 'Receipt', message: typed });
    return { domain, types: RECEIPT_TYPES, primaryType: 'Receipt', message, signature, signer: account.address };
  };
}

function toReceiptMessage({
  payer,
  payee,
  asset,
  amountMicros,
  forecastId,
  attestationUid,
  settledAt,
  ...sale
}: ReceiptData): SignedReceipt['message'] {
  const { resource, answerHash, txHash } = sale;
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
