import { type Address, isAddressEqual } from 'viem';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { IDENTITY } from '../../../agent-card/identity.ts';
import { readStablecoin } from '../../chain/stablecoin/stablecoin.ts';
import type { Wallet } from '../../chain/tx/wallet.ts';
import { isSignedBy } from '../../chain/verify-signature.ts';
import type { Commerce } from '../../commerce/commerce.ts';
import { composeDocument } from '../../commerce/documents/compose.ts';
import type { DocumentDeps } from '../../commerce/documents/deps.ts';
import { Ledger } from '../../commerce/ledger/ledger.ts';
import { getCaip2Network, type MerchantConfig } from '../../commerce/merchant-config.ts';
import { checkPayments, type PaymentCheck } from '../../commerce/payment-health.ts';
import { PurchaseService } from '../../commerce/purchases/purchase-service.ts';
import { PurchaseStore } from '../../commerce/purchases/purchase-store.ts';
import { createOfferSigner, createX402ReceiptSigner } from '../../commerce/receipts/offer-receipt-signer.ts';
import { createReceiptSigner } from '../../commerce/receipts/receipt.ts';
import { createSalesGate } from '../../commerce/sales-gate.ts';
import { PaymentClaimStore } from '../../commerce/x402/claim-store.ts';
import { FailedSettlementStore } from '../../commerce/x402/failed-settlements.ts';
import { type SalesDeps, SalesService } from '../../commerce/x402/sales-service.ts';
import { createCache } from '../../platform/cache.ts';
import type { Config } from '../../platform/config/settings.ts';
import { OracleError } from '../../platform/errors.ts';
import { joinUrl } from '../../platform/service-url.ts';
import type { ServiceCore } from '../core.ts';
import type { ProcessContext } from '../process-context.ts';
import { createFacilitator, createFacilitatorEndpoint } from './facilitator.ts';

/** @throws OracleError CONFIG_INVALID for an unusable payee, stablecoin or wallet factory */
export async function composeCommerce(
  context: ProcessContext,
  core: ServiceCore,
  { isReplayAhead, observePayment }: { isReplayAhead(): boolean } & Required<Pick<SalesDeps, 'observePayment'>>,
): Promise<Commerce> {
  const { db, chain, signers, wallets, publicUrl, now } = core;
  const { config, log, shutdown } = context;
  const { chainId, addresses } = chain;
  const provider = signers.provider.account;
  const payee: Address = config.PAYEE_ADDRESS ?? provider.address;
  const asset = addresses.stablecoin;
  requirePayee(payee, Object.values(addresses));
  const isRealChain = config.chainMode === 'real';
  const merchant: MerchantConfig = {
    chainId,
    asset,
    payee,
    domain: await readStablecoin(chain, asset),
    realMoney: isRealChain,
    publicUrl: publicUrl.replace(/\/+$/, ''),
    service: { serviceName: IDENTITY.name, tags: [...IDENTITY.topics], iconUrl: joinUrl(publicUrl, ENDPOINTS.icon) },
  };
  const ledger = new Ledger(db);
  const signReceipt = createReceiptSigner(provider, chainId);
  const requireOpen = createSalesGate(isReplayAhead);
  const sales = new SalesService({
    chain,
    merchant,
    ledger,
    signReceipt,
    signX402Receipt: createX402ReceiptSigner(provider, getCaip2Network(merchant)),
    signOffer: createOfferSigner(provider),
    requireOpen,
    facilitator: await createFacilitator(context, { db, chain, wallet: wallets.facilitator, now }),
    claims: new PaymentClaimStore(db),
    failures: new FailedSettlementStore(db),
    signal: shutdown.signal,
    log,
    now,
    observePayment,
  });
  return {
    ledger,
    merchant,
    signReceipt,
    receiptSigner: provider.address,
    sales,
    facilitatorUrl: config.X402_FACILITATOR_URL ?? null,
    isSignedBy: (signed) => isSignedBy(chain, signed),
    freeHold: config.X402_FREE_HOLD === 'on',
    purchaseSignatures: config.PURCHASE_SIGNATURE ?? (isRealChain ? 'required' : 'optional'),
    closed: {},
    requireOpen,
  };
}

/** Asked at most once a minute. */
export function composePaymentHealth(
  config: Config,
  { chain, commerce, facilitator, now }: Pick<ServiceCore, 'chain' | 'now'> & { commerce: Commerce; facilitator: Wallet | null },
) {
  const { merchant } = commerce;
  const settledBy = createFacilitatorEndpoint(config, now) ?? { address: facilitator!.address };
  const cache = createCache<PaymentCheck[]>('payment-health', 1);
  return () =>
    cache.get(Math.floor(now().getTime() / 60_000), () => checkPayments({ chain, payee: merchant.payee, facilitator: settledBy }));
}

export function composePurchases(
  { log, shutdown }: ProcessContext,
  { db, chain, commerce, answers, now }: Pick<ServiceCore, 'db' | 'chain' | 'now'> & { commerce: Commerce; answers: DocumentDeps },
): PurchaseService {
  const { merchant, ledger, signReceipt, requireOpen, purchaseSignatures } = commerce;
  const { agentCommerce } = chain.addresses;
  return new PurchaseService({
    chain,
    merchant,
    ledger,
    signReceipt,
    requireOpen,
    store: new PurchaseStore(db),
    compose: (offering, at) => composeDocument(answers, 'purchase', offering, at),
    signatures: purchaseSignatures,
    excludedBuyers: agentCommerce === null ? [] : [agentCommerce],
    signal: shutdown.signal,
    log,
    now,
  });
}

/** A contract that expects no payment keeps it for good. @throws OracleError CONFIG_INVALID */
function requirePayee(payee: Address, contracts: readonly (Address | null)[]): void {
  if (!contracts.some((contract) => contract !== null && isAddressEqual(contract, payee))) return;
  throw new OracleError('CONFIG_INVALID', `Setting PAYEE_ADDRESS: ${payee} is a contract of the service, which would keep the money`, {
    field: 'PAYEE_ADDRESS',
    suggestedAction: 'Set PAYEE_ADDRESS to a wallet of yours.',
  });
}
