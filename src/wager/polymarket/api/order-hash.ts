import { type Address, type Hex, hashTypedData } from 'viem';
import type { SignedOrder } from '../execution/order-store.ts';

const ORDER_TYPE = [
  { name: 'salt', type: 'uint256' },
  { name: 'maker', type: 'address' },
  { name: 'signer', type: 'address' },
  { name: 'tokenId', type: 'uint256' },
  { name: 'makerAmount', type: 'uint256' },
  { name: 'takerAmount', type: 'uint256' },
  { name: 'side', type: 'uint8' },
  { name: 'signatureType', type: 'uint8' },
  { name: 'timestamp', type: 'uint256' },
  { name: 'metadata', type: 'bytes32' },
  { name: 'builder', type: 'bytes32' },
] as const;
const BUY = 0;

export interface ExchangeContract {
  chainId: number;
  version: 2 | 3;
  address: string;
}

/** EIP-712 hash of a buy order, its id at the exchange. */
export function computeOrderHash(order: SignedOrder, { chainId, version, address }: ExchangeContract): Hex {
  return hashTypedData({
    domain: { name: 'Polymarket CTF Exchange', version: String(version), chainId, verifyingContract: address as Address },
    types: { Order: ORDER_TYPE },
    primaryType: 'Order',
    message: {
      salt: BigInt(order.salt),
      maker: order.maker as Address,
      signer: order.signer as Address,
      tokenId: BigInt(order.tokenId),
      makerAmount: BigInt(order.makerAmount),
      takerAmount: BigInt(order.takerAmount),
      side: BUY,
      signatureType: order.signatureType,
      timestamp: BigInt(order.timestamp),
      metadata: order.metadata as Hex,
      builder: order.builder as Hex,
    },
  });
}
