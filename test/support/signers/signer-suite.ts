import fc from 'fast-check';
import {
  type Address,
  hexToBigInt,
  isAddressEqual,
  keccak256,
  parseSignature,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerializableEIP1559,
  verifyMessage,
  verifyTypedData,
} from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSigner, type RoleSigner } from '../../../src/chain/signers.ts';
import { createReceiptSigner, RECEIPT_TYPES } from '../../../src/commerce/receipts.ts';

export interface OpenedSigner {
  signer: RoleSigner;
  /** Address of the key, known to the test from elsewhere. */
  address: Address;
  close?(): Promise<void>;
}

export const CHAIN_ID = 84_532;
/** Half of the order of secp256k1: nodes accept no higher `s` (EIP-2). */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => `0x${Buffer.from(array).toString('hex')}` as const);
const wei = fc.bigInt({ min: 0n, max: 2n ** 90n });
const TRANSACTION = fc.record({
  type: fc.constant('eip1559' as const),
  chainId: fc.constant(CHAIN_ID),
  nonce: fc.integer({ min: 0, max: 2 ** 40 }),
  to: hex(20),
  data: fc.integer({ min: 0, max: 300 }).chain(hex),
  value: wei,
  gas: fc.bigInt({ min: 21_000n, max: 30_000_000n }),
  maxPriorityFeePerGas: fc.bigInt({ min: 0n, max: 10n ** 9n }),
  maxFeePerGas: fc.bigInt({ min: 10n ** 9n, max: 10n ** 12n }),
});

/** What every signer of a role must do. */
export function testSigner(kind: string, open: () => Promise<OpenedSigner>): void {
  describe(`a signer by ${kind}`, () => {
    let opened: OpenedSigner;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close?.());

    it('has the address of its key', () => {
      expect(isAddressEqual(opened.signer.account.address, opened.address)).toBe(true);
    });

    it('signs any transaction unchanged, with a low s, by its wallet', async () => {
      const property = fc.asyncProperty(TRANSACTION, async (transaction) => {
        const raw = await opened.signer.account.signTransaction(transaction as TransactionSerializableEIP1559);
        const { r, s, v, yParity, to, nonce = 0, data = '0x', value = 0n, maxPriorityFeePerGas = 0n, ...rest } = parseTransaction(raw);
        expect({ ...rest, to, nonce, data, value, maxPriorityFeePerGas }).toEqual(transaction);
        expect(hexToBigInt(s!)).toBeLessThanOrEqual(MAX_S);
        expect(isAddressEqual(await recoverTransactionAddress({ serializedTransaction: raw as never }), opened.address)).toBe(true);
      });
      await fc.assert(property, { numRuns: 25 });
    });

    it('signs receipts that any library verifies', async () => {
      const address = opened.address;
      const sign = createReceiptSigner(opened.signer.account, CHAIN_ID);
      const { domain, message, signature, signer } = await sign({
        ...{
          payer: address,
          payee: address,
          asset: address,
          amountMicros: 10n ** 6n,
          resource: 'https://example.org/ü',
          answerHash: keccak256('0x'),
        },
        ...{ forecastId: null, attestationUid: null, txHash: keccak256('0x01'), settledAt: new Date(0) },
      });
      const typed = { ...message, amount: BigInt(message.amount), settledAt: BigInt(message.settledAt) };
      expect(isAddressEqual(signer, address)).toBe(true);
      expect(await verifyTypedData({ address, domain, types: RECEIPT_TYPES, primaryType: 'Receipt', message: typed, signature })).toBe(
        true,
      );
      const { s, v } = parseSignature(signature);
      expect(hexToBigInt(s)).toBeLessThanOrEqual(MAX_S);
      expect([27n, 28n]).toContain(v);
    });

    it('signs text and bytes by EIP-191', async () => {
      const { address } = opened;
      for (const message of ['0x', 'Grüße', { raw: '0x00ff' } as const]) {
        const signature = await opened.signer.account.signMessage({ message });
        expect(await verifyMessage({ address, message, signature })).toBe(true);
      }
    });

    it('passes the check of a start in every role', async () => {
      for (const role of ['attester', 'reporter', 'facilitator', 'provider'] as const)
        await checkSigner({ ...opened.signer, role }, CHAIN_ID);
      await opened.signer.ping?.();
    });
  });
}
