import type { Db } from 'mongodb';
import { type Address, isAddressEqual, type LocalAccount } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { readStablecoin } from '../../chain/stablecoin/stablecoin.ts';
import type { Wallet } from '../../chain/tx/wallet.ts';
import { isSignedBy } from '../../chain/verify-signature.ts';
import type { Commerce } from '../../commerce/commerce.ts';
import { Ledger } from '../../commerce/ledger/ledger.ts';
import type { MerchantConfig } from '../../commerce/merchant-config.ts';
import { createReceiptSigner } from '../../commerce/receipts/receipt.ts';
import { createSalesGate } from '../../commerce/sales-gate.ts';
import { PaymentClaimStore } from '../../commerce/x402/claim-store.ts';
import { FailedSettlementStore } from '../../commerce/x402/failed-settlements.ts';
import { SalesService } from '../../commerce/x402/sales-service.ts';
import type { GasBudget } from '../../commerce/x402/settlement/gas-budget.ts';
import { createLocalFacilitator } from '../../commerce/x402/settlement/local-facilitator.ts';
import { createRemoteFacilitator } from '../../commerce/x402/settlement/remote-facilitator.ts';
import type { Config } from '../../platform/config/settings.ts';
import { OracleError } from '../../platform/errors.ts';
import type { ProcessContext } from '../process-context.ts';

export interface ComposeCommerceDeps {
  db: Db;
  chain: Chain;
  /** Null where somebody else settles payments. */
  facilitator: Wallet | null;
  /** Signs receipts. */
  provider: LocalAccount;
  /** Where callers reach the service. */
  publicUrl: string;
  /** Whether history is still to be replayed. */
  isReplayAhead(): boolean;
  now(): Date;
}

/** What is sold, how it is paid for, and what was earned with it. @throws OracleError CONFIG_INVALID for a stablecoin that cannot be used */
export async function composeCommerce(
  context: ProcessContext,
  { db, chain, facilitator, provider, publicUrl, isReplayAhead, now }: ComposeCommerceDeps,
): Promise<Commerce> {
  const { config, log, shutdown } = context;
  const { chainId, addresses } = chain;
  const payee: Address = config.PAYEE_ADDRESS ?? provider.address;
  const asset = addresses.stablecoin;
  requirePayee(payee, Object.values(addresses));
  const merchant: MerchantConfig = {
    ...{ chainId, asset, payee, domain: await readStablecoin(chain, asset) },
    realMoney: config.chainMode === 'real',
    publicUrl: publicUrl.replace(/\/+$/, ''),
  };
  const ledger = new Ledger(db);
  const signReceipt = createReceiptSigner(provider, chainId);
  const requireOpen = createSalesGate(isReplayAhead);
  const sales = new SalesService({
    ...{ chain, merchant, ledger, signReceipt, requireOpen, log, now },
    facilitator: createFacilitator(context, chain, facilitator),
    claims: new PaymentClaimStore(db),
    failures: new FailedSettlementStore(db),
    signal: shutdown.signal,
  });
  return {
    ...{ ledger, merchant, signReceipt, receiptSigner: provider.address, sales },
    facilitatorUrl: config.X402_FACILITATOR_URL ?? null,
    isSignedBy: (signed) => isSignedBy(chain, signed),
    freeHold: config.X402_FREE_HOLD === 'on',
    purchaseSignatures: config.PURCHASE_SIGNATURE ?? (config.chainMode === 'real' ? 'required' : 'optional'),
    closed: {},
    requireOpen,
  };
}

/** Nothing comes back from a contract that does not expect money. @throws OracleError CONFIG_INVALID */
function requirePayee(payee: Address, contracts: readonly (Address | null)[]): void {
  if (!contracts.some((contract) => contract !== null && isAddressEqual(contract, payee))) return;
  throw new OracleError('CONFIG_INVALID', `Setting PAYEE_ADDRESS: ${payee} is a contract of the service, which would keep the money`, {
    field: 'PAYEE_ADDRESS',
    suggestedAction: 'Set PAYEE_ADDRESS to a wallet of yours.',
  });
}

function createFacilitator({ config, log }: Pick<ProcessContext, 'config' | 'log'>, chain: Chain, wallet: Wallet | null) {
  if (config.X402_FACILITATOR_URL !== undefined) return createRemoteFacilitator(config.X402_FACILITATOR_URL);
  if (wallet !== null) return createLocalFacilitator({ chain, wallet, gasBudget: buildGasBudget(config), log });
  throw new OracleError('CONFIG_INVALID', 'Setting FACILITATOR_PRIVATE_KEY: is required unless X402_FACILITATOR_URL is set', {
    field: 'FACILITATOR_PRIVATE_KEY',
  });
}

/** Above the highest price that ether has had: an unset price admits fewer contract wallets, never more. */
const ASSUMED_CURRENCY_USD = 10_000;

function buildGasBudget({ chainMode, CHAIN_CURRENCY_USD, X402_MAX_GAS_CENTS }: Config): GasBudget {
  const currencyUsd = CHAIN_CURRENCY_USD ?? (chainMode === 'real' ? ASSUMED_CURRENCY_USD : null);
  return { currencyUsd, maxCents: X402_MAX_GAS_CENTS };
}
