import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client';
import { type Address, createPublicClient, http, type LocalAccount, verifyTypedData } from 'viem';
import { stablecoinAbi } from '../../../src/chain/stablecoin.ts';
import { hashDocument, type SignedReceipt } from '../../../src/commerce/receipts.ts';
import { demoWallets } from '../auth/login.ts';
import type { TestService } from '../service/service.ts';

/** Balances of buyer and payee in millionths of a dollar, and the number of ledger entries. */
export interface Money {
  buyer: bigint;
  payee: bigint;
  payments: number;
}

// biome-ignore lint/suspicious/noExplicitAny: in the version that the terms are in
export type Payload = any;

export interface Buyer {
  account: LocalAccount;
  /** A payment by the official client of x402, for terms of either version. */
  pay(required: unknown): Promise<Payload>;
  money(): Promise<Money>;
}

/** The demonstration buyer of a service. */
export function demoBuyer(service: TestService): Buyer {
  const account = demoWallets(service).buyer;
  const { merchant, ledger } = service.http.commerce;
  // The stablecoin of a local chain is not one that the library knows.
  const payer = new x402Client()
    .register('eip155:*', new ExactEvmScheme(account))
    .registerV1('base-sepolia', new ExactEvmSchemeV1(account))
    .setSpendControls({ allowedAssets: true });
  const chain = createPublicClient({ transport: http(service.infrastructure.rpcUrl) });
  const balance = (wallet: Address) =>
    chain.readContract({ address: merchant.asset, abi: stablecoinAbi, functionName: 'balanceOf', args: [wallet] });
  return {
    account,
    pay: (required) => payer.createPaymentPayload(required as Parameters<typeof payer.createPaymentPayload>[0]),
    async money() {
      const [buyer, payee] = await Promise.all([balance(account.address), balance(merchant.payee)]);
      return { buyer, payee, payments: await ledger.payments.countDocuments() };
    },
  };
}

/** Differences since a snapshot. */
export async function spentSince({ money }: Buyer, before: Money): Promise<Money> {
  const now = await money();
  return { buyer: before.buyer - now.buyer, payee: now.payee - before.payee, payments: now.payments - before.payments };
}

/** Whether a receipt is signed by its signer and matches the document. */
export async function isReceiptOf(receipt: SignedReceipt, document: Record<string, unknown>): Promise<boolean> {
  const { domain, types, primaryType, message, signature, signer } = receipt;
  const typed = { ...message, amount: BigInt(message.amount), settledAt: BigInt(message.settledAt) };
  const isSigned = await verifyTypedData({ address: signer, domain, types, primaryType, message: typed, signature });
  return isSigned && message.answerHash === hashDocument(document);
}
