import {
  type Address,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  isErc6492Signature,
  parseAbi,
  parseErc6492Signature,
  recoverTypedDataAddress,
  slice,
} from 'viem';
import type { ParsedPayment } from '../protocol/payment-payload.ts';
import type { PaymentRequirements } from '../protocol/payment-quote.ts';

const AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** Both overloads of FiatTokenV2_2. */
const transferByKeyAbi = parseAbi([
  'function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, uint8, bytes32, bytes32)',
]);
const transferByContractAbi = parseAbi(['function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes)']);

/** r, s and v. */
const KEY_SIGNATURE_BYTES = 65;
const MIN_V = 27;

/** Whether the key of the payer's address signed the authorization; computed here, the chain is not asked. */
export async function isKeySigned(
  { authorization, signature }: ParsedPayment,
  { asset, extra, network }: PaymentRequirements,
): Promise<boolean> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const domain = { ...extra, chainId: Number(network.split(':')[1]), verifyingContract: asset as Address };
  const message = { from, to, value, validAfter, validBefore, nonce };
  const data = { domain, types: AUTHORIZATION_TYPES, primaryType: 'TransferWithAuthorization', message } as const;
  try {
    return isAddressEqual(await recoverTypedDataAddress({ ...data, signature }), from);
  } catch {
    return false;
  }
}

/** Whether a signature brings along how its wallet is deployed (ERC-6492). */
export function isErc6492Wrapped({ signature }: ParsedPayment): boolean {
  return isErc6492Signature(signature);
}

/** The call of the coin that settles a payment; of a wrapped signature only the inner one is sent. */
export function encodeSettlement({ authorization, signature }: ParsedPayment): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const transfer = [from, to, value, validAfter, validBefore, nonce] as const;
  const inner = unwrapSignature(signature);
  if ((inner.length - 2) / 2 !== KEY_SIGNATURE_BYTES)
    return encodeFunctionData({ abi: transferByContractAbi, functionName: 'transferWithAuthorization', args: [...transfer, inner] });
  const v = Number.parseInt(inner.slice(-2), 16);
  const vrs = [v < 2 ? MIN_V + v : v, slice(inner, 0, 32), slice(inner, 32, 64)] as const;
  return encodeFunctionData({ abi: transferByKeyAbi, functionName: 'transferWithAuthorization', args: [...transfer, ...vrs] });
}

function unwrapSignature(signature: Hex): Hex {
  try {
    return parseErc6492Signature(signature).signature;
  } catch {
    // Ends like a wrapped one and is none: the wallet rejects it.
    return signature;
  }
}
