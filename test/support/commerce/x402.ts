import { randomBytes, randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { type Address, encodeFunctionData, type Hash, type Hex, type LocalAccount, parseAbi, zeroHash } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Chain } from '../../../src/chain/client.ts';
import { openJournal } from '../../../src/chain/journal.ts';
import { createWallet } from '../../../src/chain/wallet.ts';
import { COMMERCE_INDEXES, Ledger } from '../../../src/commerce/ledger.ts';
import {
  FORECAST_TERMS,
  findOffering,
  getCaip2Network,
  type MerchantConfig,
  type RequireSalesOpen,
} from '../../../src/commerce/offerings.ts';
import { createOfferSigner, createX402ReceiptSigner, type SignX402Receipt } from '../../../src/commerce/receipt-signer.ts';
import { createReceiptSigner, type SignReceipt } from '../../../src/commerce/receipts.ts';
import { FAILED_SETTLEMENT_INDEXES, FailedSettlementStore, PaymentClaimStore, X402_INDEXES } from '../../../src/commerce/x402/claims.ts';
import {
  createLocalFacilitator,
  DEPLOYMENT_INDEXES,
  DeploymentBudget,
  type DeploymentPolicy,
  type GasBudget,
} from '../../../src/commerce/x402/local-facilitator.ts';
import { type PaidCall, SalesService } from '../../../src/commerce/x402/sales.ts';
import type { Facilitator } from '../../../src/commerce/x402/settlement.ts';
import type { PaymentRequirements } from '../../../src/commerce/x402/terms.ts';
import { sendTransactions } from '../../../src/dev/local-chain/contracts.ts';
import { createLog, type Log } from '../../../src/platform/log.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import type { TestChain } from '../chain/chain.ts';
import { quoteResource } from './quote.ts';

const tokenAbi = parseAbi(['function mint(address to, uint256 value)', 'function balanceOf(address account) view returns (uint256)']);

/** EIP-712 types of EIP-3009. */
export const AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

export interface Signing {
  account: LocalAccount;
  requirements: PaymentRequirements;
  /** Overrides of the signed values. */
  change?: Partial<Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce' | 'asset' | 'chainId', string>>;
  paymentId?: string;
}

/** A decoded payment of version 2. */
export async function signPayment({ account, requirements, change = {}, paymentId }: Signing) {
  const seconds = Math.floor(Date.now() / 1_000);
  const { asset = requirements.asset, chainId = requirements.network.split(':')[1]!, ...changed } = change;
  const authorization = {
    from: account.address as string,
    to: requirements.payTo,
    value: requirements.amount,
    validAfter: String(seconds - 600),
    validBefore: String(seconds + requirements.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString('hex')}`,
    ...changed,
  };
  const signature = await account.signTypedData({
    domain: { ...requirements.extra, chainId: Number(chainId), verifyingContract: asset as Address },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: authorization.from as Address,
      to: authorization.to as Address,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce as Hex,
    },
  });
  const extensions = paymentId === undefined ? {} : { extensions: { 'payment-identifier': { info: { required: false, id: paymentId } } } };
  return { x402Version: 2, accepted: requirements, payload: { signature, authorization }, ...extensions };
}

export type SignedPayment = Awaited<ReturnType<typeof signPayment>>;

export interface TillBench {
  sales: SalesService;
  claims: PaymentClaimStore;
  ledger: Ledger;
  facilitator: Facilitator;
  log: Log;
  merchant: MerchantConfig;
  /** A wallet with 1,000 of the stablecoin. */
  buyer: LocalAccount;
  requirements: PaymentRequirements;
  /** An x402 call for the basic signal that counts its answers. */
  call(payment: unknown, change?: Partial<PaidCall>): PaidCall;
  deployments: DeploymentPolicy;
  /** Number of composed answers. */
  made(): number;
  /** A second process on the same database and chain. */
  another(change?: {
    facilitator?: Facilitator;
    chain?: Chain;
    waitMs?: number;
    requireOpen?: RequireSalesOpen;
    signReceipt?: SignReceipt;
    signX402Receipt?: SignX402Receipt;
  }): Promise<SalesService>;
  balance(wallet: Address): Promise<bigint>;
  mint(wallet: Address, amount: bigint): Promise<void>;
}

export interface BenchOptions {
  chain: TestChain;
  db: Db;
  connected: Chain;
  waitMs?: number;
  gasBudget?: GasBudget;
  /** Default: no wallet is deployed for a payer. */
  deployments?: { factories: readonly Address[]; maxPerDay: number };
}

const NO_PRICE: GasBudget = { currencyUsd: null, maxCents: 10 };

/** The sales service on a real chain and database, without transports. */
export async function tillBench({
  chain,
  db,
  connected,
  waitMs = 10_000,
  gasBudget = NO_PRICE,
  deployments,
}: BenchOptions): Promise<TillBench> {
  await ensureIndexes(db, [...COMMERCE_INDEXES, ...X402_INDEXES, ...FAILED_SETTLEMENT_INDEXES, ...DEPLOYMENT_INDEXES]);
  const buyer = privateKeyToAccount(generatePrivateKey());
  const merchant = {
    chainId: chain.chainId,
    asset: chain.addresses.stablecoin,
    domain: { name: 'USDC', version: '2' },
    realMoney: false,
    payee: chain.accounts.provider.address,
    publicUrl: 'https://oracle.example.org',
  };
  const log = createLog({ level: 'silent', secrets: [] });
  const policy = { factories: deployments?.factories ?? [], budget: new DeploymentBudget(db, deployments?.maxPerDay ?? 0) };
  const open = async (over: Chain, timeoutMs = waitMs) => {
    const wallet = createWallet({
      chain: over,
      journal: await openJournal(db),
      role: 'facilitator',
      account: chain.accounts.facilitator,
      timeoutMs,
    });
    return createLocalFacilitator({ chain: over, wallet, gasBudget, deployments: policy, log });
  };
  const parts = {
    merchant,
    ledger: new Ledger(db),
    requireOpen: () => undefined,
    readForecastTerms: async () => ({ text: FORECAST_TERMS, revealedCalls: [] }),
    claims: new PaymentClaimStore(db),
    failures: new FailedSettlementStore(db),
    signReceipt: createReceiptSigner(chain.accounts.provider, chain.chainId),
    signX402Receipt: createX402ReceiptSigner(chain.accounts.provider, getCaip2Network(merchant)),
    signOffer: createOfferSigner(chain.accounts.provider),
    signal: new AbortController().signal,
    log,
    now: () => new Date(),
  };
  const facilitator = await open(connected);
  const another: TillBench['another'] = async (change = {}) => {
    const over = change.chain ?? connected;
    return new SalesService({
      ...parts,
      requireOpen: change.requireOpen ?? parts.requireOpen,
      signReceipt: change.signReceipt ?? parts.signReceipt,
      signX402Receipt: change.signX402Receipt ?? parts.signX402Receipt,
      chain: over,
      facilitator: change.facilitator ?? (await open(over, change.waitMs)),
      waitMs: change.waitMs ?? waitMs,
    });
  };
  const send = (data: Hex) => sendTransactions(chain.rpcUrl, chain.deployer, [{ to: merchant.asset, data }]);
  const mint = (to: Address, value: bigint) => send(encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [to, value] }));
  await mint(buyer.address, 1_000_000_000n);
  let made = 0;
  const offering = findOffering('x402', 'x402_signal')!;
  const resource = { url: 'https://oracle.example.org/oracle?horizon=7d', description: 'Signal', mimeType: 'application/json' };
  const call: TillBench['call'] = (payment, change = {}) => ({
    ...{ offering, resource, payment, input: { horizon: '7d' }, ref: null, address: '192.0.2.1' },
    requireRejectionAllowance: () => undefined,
    hasRejectionAllowance: () => true,
    countRejection: async () => undefined,
    async answer() {
      made += 1;
      return { body: { signal: 'BUY', made: randomUUID() }, forecastId: '2026-01-01:7d', attestationUid: zeroHash as Hash };
    },
    ...change,
  });
  return {
    ...parts,
    sales: await another(),
    facilitator,
    deployments: policy,
    buyer,
    requirements: (await quoteResource(merchant, offering, resource)).requirements,
    call,
    made: () => made,
    another,
    balance: (account) =>
      connected.client.readContract({ address: merchant.asset, abi: tokenAbi, functionName: 'balanceOf', args: [account] }),
    mint,
  };
}
