import type { Db } from 'mongodb';
import { type Address, isAddressEqual, type LocalAccount } from 'viem';
import type { Chain } from '../chain/client.ts';
import { readStablecoin } from '../chain/stablecoin.ts';
import { isSignedBy } from '../chain/verify-signature.ts';
import type { Wallet } from '../chain/wallet.ts';
import type { Commerce } from '../commerce/commerce.ts';
import { Ledger } from '../commerce/ledger.ts';
import { openOnceReplayed } from '../commerce/opening.ts';
import { createReceiptSigner } from '../commerce/receipt.ts';
import type { Till } from '../commerce/till.ts';
import { PaymentClaims } from '../commerce/x402/claims.ts';
import { FailedSettlements } from '../commerce/x402/failed-settlements.ts';
import type { GasBudget } from '../commerce/x402/gas-budget.ts';
import { localFacilitator } from '../commerce/x402/local-facilitator.ts';
import { remoteFacilitator } from '../commerce/x402/remote-facilitator.ts';
import { Sales } from '../commerce/x402/sale.ts';
import type { Config } from '../config.ts';
import { OracleError } from '../errors.ts';
import type { Frame } from './frame.ts';

export interface CommerceComposition {
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
  frame: Frame,
  { db, chain, facilitator, provider, publicUrl, isReplayAhead, now }: CommerceComposition,
): Promise<Commerce> {
  const { config, log, shutdown } = frame;
  const { chainId, addresses } = chain;
  const payee: Address = config.PAYEE_ADDRESS ?? provider.address;
  const asset = addresses.stablecoin;
  requirePayee(payee, Object.values(addresses));
  const till: Till = {
    ...{ chainId, asset, payee, domain: await readStablecoin(chain, asset) },
    realMoney: config.chainMode === 'real',
    publicUrl: publicUrl.replace(/\/+$/, ''),
  };
  const ledger = new Ledger(db);
  const signReceipt = createReceiptSigner(provider, chainId);
  const requireOpen = openOnceReplayed(isReplayAhead);
  const sales = new Sales({
    ...{ chain, till, ledger, signReceipt, requireOpen, log, now },
    facilitator: facilitatorOf(frame, chain, facilitator),
    claims: new PaymentClaims(db),
    failures: new FailedSettlements(db),
    signal: shutdown.signal,
  });
  return {
    ...{ ledger, till, signReceipt, receiptSigner: provider.address, sales },
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

function facilitatorOf({ config, log }: Pick<Frame, 'config' | 'log'>, chain: Chain, wallet: Wallet | null) {
  if (config.X402_FACILITATOR_URL !== undefined) return remoteFacilitator(config.X402_FACILITATOR_URL);
  if (wallet !== null) return localFacilitator({ chain, wallet, gasBudget: gasBudgetOf(config), log });
  throw new OracleError('CONFIG_INVALID', 'Setting FACILITATOR_PRIVATE_KEY: is required unless X402_FACILITATOR_URL is set', {
    field: 'FACILITATOR_PRIVATE_KEY',
  });
}

/** Above the highest price that ether has had: an unset price admits fewer contract wallets, never more. */
const ASSUMED_CURRENCY_USD = 10_000;

function gasBudgetOf({ chainMode, CHAIN_CURRENCY_USD, X402_MAX_GAS_CENTS }: Config): GasBudget {
  const currencyUsd = CHAIN_CURRENCY_USD ?? (chainMode === 'real' ? ASSUMED_CURRENCY_USD : null);
  return { currencyUsd, maxCents: X402_MAX_GAS_CENTS };
}
