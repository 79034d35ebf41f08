import { randomBytes } from 'node:crypto';
import { type Hex, type LocalAccount, toHex } from 'viem';
import type { PaymentRequirement } from './payment-requirement.ts';

/** The `PAYMENT-SIGNATURE` payload of x402 version 2. */
export interface SignedPayment {
  x402Version: 2;
  resource?: unknown;
  accepted: Record<string, unknown>;
  payload: { signature: Hex; authorization: Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string> };
  extensions?: Record<string, unknown>;
}

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** Lets a chain whose clock is behind accept the authorization. */
const CLOCK_SKEW_SECONDS = 600;

/** Signs one EIP-3009 transfer: usable once, until `validForSeconds` have passed, and for nothing else. */
export async function signPayment(account: LocalAccount, requirement: PaymentRequirement, now: Date): Promise<SignedPayment> {
  const { accepted, resource, takesPaymentId, chainId, amountMicros, asset, assetName, assetVersion, payTo, validForSeconds } = requirement;
  const seconds = Math.floor(now.getTime() / 1_000);
  const message = {
    from: account.address,
    to: payTo,
    value: amountMicros,
    validAfter: BigInt(seconds - CLOCK_SKEW_SECONDS),
    validBefore: BigInt(seconds + validForSeconds),
    nonce: toHex(randomBytes(32)),
  };
  const domain = { name: assetName, version: assetVersion, chainId, verifyingContract: asset };
  const signature = await account.signTypedData({ domain, types: TYPES, primaryType: 'TransferWithAuthorization', message });
  const { from, to, nonce } = message;
  const [value, validAfter, validBefore] = [message.value, message.validAfter, message.validBefore].map(String);
  return {
    x402Version: 2,
    ...(resource === undefined ? {} : { resource }),
    accepted,
    payload: { signature, authorization: { from, to, value, validAfter, validBefore, nonce } },
    ...(takesPaymentId ? { extensions: { 'payment-identifier': { info: { required: false, id: createPaymentId() } } } } : {}),
  };
}

/** Random: with an id made of what the settlement publishes, an observer of the chain could fetch the answer. */
function createPaymentId(): string {
  return `svc_${randomBytes(24).toString('hex')}`;
}

const MAX_CLOCK_SKEW_MS = 120_000;
const MAX_DATE_MS = 8.64e15;

/** When the authorization can no longer be used, allowing for clock skew. */
export function getPaymentExpiry({ payload }: SignedPayment): Date {
  return new Date(Math.min(MAX_DATE_MS, Number(payload.authorization.validBefore) * 1_000 + MAX_CLOCK_SKEW_MS));
}
