import { bytesToHex, type Hex } from 'viem';
import { toTypedFields } from './receipts.ts';

/** Lets a chain whose clock is behind accept the authorization. */
const CLOCK_SKEW_SECONDS = 600;

/** Signs one EIP-3009 transfer: usable once, until `validForSeconds` have passed, and for nothing else. */
export async function signPayment(account: PaymentSigner, requirement: PaymentRequirement, now: Date): Promise<SignedPayment> {
  const { accepted, resource, takesPaymentId, chainId, amountMicros, asset, assetName, assetVersion, payTo, validForSeconds } = requirement;
  const seconds = Math.floor(now.getTime() / 1_000);
  const message = {
    from: account.address,
    to: payTo,
    value: amountMicros,
    validAfter: BigInt(seconds - CLOCK_SKEW_SECONDS),
    validBefore: BigInt(seconds + validForSeconds),
    nonce: createRandomHex(32),
  };
  const domain = { name: assetName, version: assetVersion, chainId, verifyingContract: asset };
  const signature = await account.signTypedData({ domain, types: TRANSFER_TYPES, primaryType: 'TransferWithAuthorization', message });
  // Random: with an id made of what the settlement publishes, an observer of the chain could fetch the answer.
  const id = `svc_${createRandomHex(24).slice(2)}`;
  const { from, to, nonce } = message;
  const [value, validAfter, validBefore] = [message.value, message.validAfter, message.validBefore].map(String);
  return {
    x402Version: 2,
    ...(resource === undefined ? {} : { resource }),
    accepted,
    payload: { signature, authorization: { from, to, value, validAfter, validBefore, nonce } },
    ...(takesPaymentId ? { extensions: { 'payment-identifier': { info: { required: false, id } } } } : {}),
  };
}

function createRandomHex(bytes: number): Hex {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(bytes)));
}

/** An accepted entry of an x402 version 2 `PAYMENT-REQUIRED` header. */
export interface PaymentRequirement {
  /** The unchanged entry, which is sent back with the payment. */
  accepted: Record<string, unknown>;
  resource: unknown;
  takesPaymentId: boolean;
  chainId: number;
  amountMicros: bigint;
  asset: Hex;
  assetName: string;
  assetVersion: string;
  payTo: Hex;
  validForSeconds: number;
}

/** EIP-712 types of an EIP-3009 authorization. */
const TRANSFER_TYPES = {
  TransferWithAuthorization: toTypedFields(
    'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce',
  ),
};

/** EIP-712 data that a payer signs. Integers are in the smallest unit of the coin and in Unix seconds. */
export interface TransferTypedData {
  domain: { name: string; version: string; chainId: number; verifyingContract: Hex };
  types: typeof TRANSFER_TYPES;
  primaryType: 'TransferWithAuthorization';
  message: { from: Hex; to: Hex; value: bigint; validAfter: bigint; validBefore: bigint; nonce: Hex };
}

/** A wallet that signs payments, such as a local account of viem. */
interface PaymentSigner {
  address: Hex;
  signTypedData(data: TransferTypedData): Promise<Hex>;
}

/** The `PAYMENT-SIGNATURE` payload of x402 version 2. */
export interface SignedPayment {
  x402Version: 2;
  resource?: unknown;
  accepted: Record<string, unknown>;
  payload: { signature: Hex; authorization: Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string> };
  extensions?: Record<string, unknown>;
}
