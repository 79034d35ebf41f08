/**
 * A process that sells one answer and is killed on the way: `node x402-process.ts`, with what it works on as JSON in `SALE` and the
 * place of its death, one of `DEATHS`, in `DIES`. It stands for one that is switched off.
 */

import type { Address, Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { ChainAddresses } from '../../../src/chain/addresses.ts';
import { createChain } from '../../../src/chain/client.ts';
import { openJournal } from '../../../src/chain/journal.ts';
import { createWallet } from '../../../src/chain/wallet.ts';
import { Ledger } from '../../../src/commerce/ledger.ts';
import { FORECAST_TERMS, findOffering, getCaip2Network, type MerchantConfig } from '../../../src/commerce/offerings.ts';
import { createOfferSigner, createX402ReceiptSigner } from '../../../src/commerce/receipt-signer.ts';
import { createReceiptSigner } from '../../../src/commerce/receipts.ts';
import { FailedSettlementStore, PaymentClaimStore } from '../../../src/commerce/x402/claims.ts';
import { createLocalFacilitator, DeploymentBudget } from '../../../src/commerce/x402/local-facilitator.ts';
import { SalesService } from '../../../src/commerce/x402/sales.ts';
import { createLog } from '../../../src/platform/log.ts';
import { connectMongo } from '../../../src/platform/mongo.ts';

export interface DyingSale {
  rpcUrl: string;
  addresses: ChainAddresses;
  mongodbUri: string;
  facilitatorKey: Hex;
  providerKey: Hex;
  merchant: MerchantConfig;
  payment: unknown;
  /** Factories that may deploy the payer. */
  factories?: Address[];
}

export const DEATHS = [
  'before settling',
  'between signature and broadcast',
  'between broadcast and confirmation',
  'after settling',
  'after the ledger',
] as const;

const sale = JSON.parse(process.env.SALE as string) as DyingSale;
const die = () => process.kill(process.pid, 'SIGKILL');
const dieAt = (place: (typeof DEATHS)[number]) => process.env.DIES === place && die();

const { db } = await connectMongo(sale.mongodbUri);
const chain = await createChain({ ...sale, chainId: sale.merchant.chainId, confirmations: 1, pollingIntervalMs: 20 });
const account = privateKeyToAccount(sale.facilitatorKey);
/** Called with what was signed and written to the journal. */
const request = async (call: { method: string }, options?: object) => {
  const isBroadcast = call.method === 'eth_sendRawTransaction';
  if (isBroadcast) dieAt('between signature and broadcast');
  const answer = await chain.client.request(call as never, options);
  if (isBroadcast) dieAt('between broadcast and confirmation');
  return answer;
};
const client = { ...chain.client, request } as typeof chain.client;
const journal = await openJournal(db);
const wallet = createWallet({ chain: { ...chain, client }, journal, role: 'facilitator', account });
const facilitator = createLocalFacilitator({
  chain,
  wallet,
  gasBudget: { currencyUsd: null, maxCents: 10 },
  deployments: { factories: sale.factories ?? [], budget: new DeploymentBudget(db, 100) },
  log: createLog({ level: 'silent', secrets: [] }),
});
const ledger = new Ledger(db);
const record = ledger.record.bind(ledger);
ledger.record = async (payment) => {
  const isNew = await record(payment);
  dieAt('after the ledger');
  return isNew;
};
const provider = privateKeyToAccount(sale.providerKey);
const sales = new SalesService({
  chain,
  merchant: sale.merchant,
  ledger,
  requireOpen: () => undefined,
  readForecastTerms: async () => ({ text: FORECAST_TERMS, revealedCalls: [] }),
  facilitator: {
    ...facilitator,
    async settle(...settled) {
      dieAt('before settling');
      const settlement = await facilitator.settle(...settled);
      dieAt('after settling');
      return settlement;
    },
  },
  claims: new PaymentClaimStore(db),
  failures: new FailedSettlementStore(db),
  signReceipt: createReceiptSigner(provider, sale.merchant.chainId),
  signX402Receipt: createX402ReceiptSigner(provider, getCaip2Network(sale.merchant)),
  signOffer: createOfferSigner(provider),
  signal: new AbortController().signal,
  log: createLog({ level: 'silent', secrets: [] }),
  now: () => new Date(),
});
await sales.sell({
  offering: findOffering('x402', 'x402_signal')!,
  resource: { url: 'https://oracle.example.org/oracle?horizon=7d', description: 'Signal', mimeType: 'application/json' },
  payment: sale.payment,
  input: { horizon: '7d' },
  ref: null,
  address: '192.0.2.1',
  requireRejectionAllowance: () => undefined,
  hasRejectionAllowance: () => true,
  countRejection: async () => undefined,
  answer: async () => ({ body: { signal: 'SELL', madeBy: 'the dead' }, forecastId: null, attestationUid: null }),
});
