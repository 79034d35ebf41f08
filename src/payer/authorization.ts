import { bytesToHex, type Hex } from 'viem';
import type { PaymentRequirement } from './payment-requirement.ts';
import { type PaymentSigner, type SignedPayment, TRANSFER_TYPES } from './payment-signer.ts';

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
  return `svc_${createRandomHex(24).slice(2)}`;
}

function createRandomHex(bytes: number): Hex {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(bytes)));
}

const MAX_CLOCK_SKEW_MS = 120_000;
const MAX_DATE_MS = 8.64e15;

/** When the authorization can no longer be used, allowing for clock skew. */
export function getPaymentExpiry({ payload }: SignedPayment): Date {
  return new Date(Math.min(MAX_DATE_MS, Number(payload.authorization.validBefore) * 1_000 + MAX_CLOCK_SKEW_MS));
}
