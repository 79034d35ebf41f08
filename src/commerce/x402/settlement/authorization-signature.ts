import { authorizationTypes, eip3009ABI } from '@x402/evm';
import { type Address, encodeFunctionData, type Hex, isAddressEqual, recoverTypedDataAddress, size, slice } from 'viem';
import type { Authorization, ParsedPayment } from '../protocol/payment-payload.ts';
import type { PaymentRequirements } from '../protocol/payment-quote.ts';
import { parseWalletDeployment } from './deployments/wallet-deployment.ts';

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

/** Call data of the settlement; sends only the inner signature of an ERC-6492 wrapper. */
export function encodeSettlement(payment: ParsedPayment): Hex {
  const inner = parseWalletDeployment(payment.signature)?.signature ?? payment.signature;
  if (size(inner) !== KEY_SIGNATURE_BYTES) return encodeContractTransfer(payment.authorization, inner);
  const v = Number.parseInt(inner.slice(-2), 16);
  const vrs = [v < 2 ? MIN_V + v : v, slice(inner, 0, 32), slice(inner, 32, 64)] as const;
  return encodeFunctionData({
    abi: eip3009ABI,
    functionName: 'transferWithAuthorization',
    args: [...toTransfer(payment.authorization), ...vrs],
  });
}

/** By the overload with `bytes signature`, which a wallet gets as it was signed. */
export function encodeContractTransfer(authorization: Authorization, signature: Hex): Hex {
  return encodeFunctionData({
    abi: eip3009ABI,
    functionName: 'transferWithAuthorization',
    args: [...toTransfer(authorization), signature],
  });
}

function toTransfer({ from, to, value, validAfter, validBefore, nonce }: Authorization) {
  return [from, to, value, validAfter, validBefore, nonce] as const;
}
