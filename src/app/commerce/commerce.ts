import { type Address, isAddressEqual } from 'viem';
import { readStablecoin } from '../../chain/stablecoin/stablecoin.ts';
import type { Wallet } from '../../chain/tx/wallet.ts';
import { isSignedBy } from '../../chain/verify-signature.ts';
import type { Commerce } from '../../commerce/commerce.ts';
import { composeDocument } from '../../commerce/documents/compose.ts';
import type { DocumentDeps } from '../../commerce/documents/deps.ts';
import { Ledger } from '../../commerce/ledger/ledger.ts';
import type { MerchantConfig } from '../../commerce/merchant-config.ts';
import { checkPayments, type PaymentCheck } from '../../commerce/payment-health.ts';
import { PurchaseService } from '../../commerce/purchases/purchase-service.ts';
import { PurchaseStore } from '../../commerce/purchases/purchase-store.ts';
import { createReceiptSigner } from '../../commerce/receipts/receipt.ts';
import { createSalesGate } from '../../commerce/sales-gate.ts';
import { PaymentClaimStore } from '../../commerce/x402/claim-store.ts';
import { FailedSettlementStore } from '../../commerce/x402/failed-settlements.ts';
import { type SalesDeps, SalesService } from '../../commerce/x402/sales-service.ts';
import { DeploymentBudget } from '../../commerce/x402/settlement/deployments/deployment-budget.ts';
import { requireDeploymentContracts } from '../../commerce/x402/settlement/deployments/deployment-contracts.ts';
import { forwardSupportedDeployments } from '../../commerce/x402/settlement/deployments/forwarded-deployments.ts';
import { readDeploymentSupport } from '../../commerce/x402/settlement/facilitator-support.ts';
import type { GasBudget } from '../../commerce/x402/settlement/gas-budget.ts';
import { createLocalFacilitator } from '../../commerce/x402/settlement/local-facilitator.ts';
import { createRemoteFacilitator } from '../../commerce/x402/settlement/remote-facilitator.ts';
import { getLocalWalletFactory } from '../../dev/local-chain/contracts/deploy.ts';
import { createCache } from '../../platform/cache.ts';
import type { Config } from '../../platform/config/settings.ts';
import { OracleError } from '../../platform/errors.ts';
import type { ServiceCore } from '../core.ts';
import type { ProcessContext } from '../process-context.ts';

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
  };
  const ledger = new Ledger(db);
  const signReceipt = createReceiptSigner(provider, chainId);
  const requireOpen = createSalesGate(isReplayAhead);
  const sales = new SalesService({
    chain,
    merchant,
    ledger,
    signReceipt,
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
export function composePaymentHealth(deps: Pick<ServiceCore, 'chain' | 'now'> & { commerce: Commerce; facilitator: Wallet | null }) {
  const { chain, commerce, facilitator, now } = deps;
  const { facilitatorUrl, merchant } = commerce;
  const settledBy = facilitatorUrl === null ? { address: facilitator!.address } : { url: facilitatorUrl };
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

interface FacilitatorDeps extends Pick<ServiceCore, 'db' | 'chain' | 'now'> {
  wallet: Wallet | null;
}

async function createFacilitator({ config, log }: Pick<ProcessContext, 'config' | 'log'>, { db, chain, wallet, now }: FacilitatorDeps) {
  const { X402_FACILITATOR_URL: url } = config;
  if (url !== undefined) return createForwardingFacilitator(url, { chain, log, now });
  await requireDeploymentContracts(chain, config.X402_WALLET_FACTORIES ?? []);
  const deployments = {
    factories: config.X402_WALLET_FACTORIES ?? (config.chainMode === 'real' ? [] : [getLocalWalletFactory()]),
    budget: new DeploymentBudget(db, config.X402_DEPLOYMENTS_PER_DAY),
  };
  if (wallet !== null) return createLocalFacilitator({ chain, wallet, gasBudget: buildGasBudget(config), deployments, log, now });
  throw new OracleError(
    'CONFIG_INVALID',
    'Setting FACILITATOR_PRIVATE_KEY: is required unless FACILITATOR_SIGNER or X402_FACILITATOR_URL is set',
    {
      field: 'FACILITATOR_PRIVATE_KEY',
    },
  );
}

const SUPPORT_MS = 600_000;

/** Asked for its support of deployments at most once in ten minutes, after the first payment that needs it. */
function createForwardingFacilitator(url: string, { chain, log, now }: Pick<ServiceCore, 'chain' | 'now'> & Pick<ProcessContext, 'log'>) {
  const cache = createCache<boolean>('facilitator-support', 1);
  async function isSupported(): Promise<boolean> {
    try {
      return await cache.get(Math.floor(now().getTime() / SUPPORT_MS), () => readDeploymentSupport(url, chain.chainId));
    } catch (error) {
      log.warn({ err: error }, 'the facilitator did not say whether it deploys wallets');
      return false;
    }
  }
  return forwardSupportedDeployments(createRemoteFacilitator(url), { chain, isSupported });
}

/** Above ether's highest price so far: with an unset price fewer contract wallets are admitted, never more. */
const ASSUMED_CURRENCY_USD = 10_000;

function buildGasBudget({ chainMode, CHAIN_CURRENCY_USD, X402_MAX_GAS_CENTS }: Config): GasBudget {
  const currencyUsd = CHAIN_CURRENCY_USD ?? (chainMode === 'real' ? ASSUMED_CURRENCY_USD : null);
  return { currencyUsd, maxCents: X402_MAX_GAS_CENTS };
}
