import { authorizationTypes, eip3009ABI } from '@x402/evm';
import {
  type Address,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  isErc6492Signature,
  parseErc6492Signature,
  recoverTypedDataAddress,
  slice,
} from 'viem';
import type { ParsedPayment } from '../protocol/payment-payload.ts';
import type { PaymentRequirements } from '../protocol/payment-quote.ts';

/** r, s and v. */
const KEY_SIGNATURE_BYTES = 65;
const MIN_V = 27;

/** Whether the payer's own key signed the authorization; recovered locally without a chain read. */
export async function isKeySigned(payment: ParsedPayment, { asset, extra, network }: PaymentRequirements): Promise<boolean> {
  const { authorization, signature } = payment;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const domain = { ...extra, chainId: Number(network.split(':')[1]), verifyingContract: asset as Address };
  const message = { from, to, value, validAfter, validBefore, nonce };
  const data = { domain, types: authorizationTypes, primaryType: 'TransferWithAuthorization', message } as const;
  try {
    return isAddressEqual(await recoverTypedDataAddress({ ...data, signature }), from);
  } catch {
    return false;
  }
}

/** Whether the signature carries the deployment of its wallet (ERC-6492). */
export function isErc6492Wrapped({ signature }: ParsedPayment): boolean {
  return isErc6492Signature(signature);
}

/** Call data of the settlement; sends only the inner signature of an ERC-6492 wrapper. */
export function encodeSettlement({ authorization, signature }: ParsedPayment): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const transfer = [from, to, value, validAfter, validBefore, nonce] as const;
  const inner = unwrapSignature(signature);
  if ((inner.length - 2) / 2 !== KEY_SIGNATURE_BYTES)
    return encodeFunctionData({ abi: eip3009ABI, functionName: 'transferWithAuthorization', args: [...transfer, inner] });
  const v = Number.parseInt(inner.slice(-2), 16);
  const vrs = [v < 2 ? MIN_V + v : v, slice(inner, 0, 32), slice(inner, 32, 64)] as const;
  return encodeFunctionData({ abi: eip3009ABI, functionName: 'transferWithAuthorization', args: [...transfer, ...vrs] });
}

function unwrapSignature(signature: Hex): Hex {
  try {
    return parseErc6492Signature(signature).signature;
  } catch {
    // Malformed wrapper: the wallet rejects it.
    return signature;
  }
}
