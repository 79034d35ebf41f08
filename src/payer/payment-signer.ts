type Hex = `0x${string}`;

/** EIP-712 types of an EIP-3009 authorization. */
export const TRANSFER_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** EIP-712 data that a payer signs. Integers are in the smallest unit of the coin and in Unix seconds. */
export interface TransferTypedData {
  domain: { name: string; version: string; chainId: number; verifyingContract: Hex };
  types: typeof TRANSFER_TYPES;
  primaryType: 'TransferWithAuthorization';
  message: { from: Hex; to: Hex; value: bigint; validAfter: bigint; validBefore: bigint; nonce: Hex };
}

/** A wallet that signs payments, such as a local account of viem. */
export interface PaymentSigner {
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
