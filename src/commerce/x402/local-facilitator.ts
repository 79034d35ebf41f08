import { eip3009ABI } from '@x402/evm';
import type { Db } from 'mongodb';
import {
  type Address,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  isErc6492Signature,
  parseAbi,
  parseErc6492Signature,
  size,
  slice,
} from 'viem';
import { MULTICALL3_ADDRESS } from '../../chain/addresses.ts';
import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc.ts';
import { type ClaimedPayer, stablecoinAbi } from '../../chain/stablecoin.ts';
import type { BoundedSendRequest, GasBounds, SimulationRejection, Wallet } from '../../chain/wallet.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import { DAY_MS } from '../../forecast/day.ts';
import { BUDGET_INDEX, type BudgetUnit, RangeBudget, type RangeLimits, type SpentLimit } from '../../platform/budgets.ts';
import type { Log } from '../../platform/log.ts';
import type { CollectionIndexes } from '../../platform/mongo.ts';
import type { MerchantConfig } from '../offerings.ts';
import { type ClaimDoc, type PaymentClaimStore, paymentUnconfirmedError } from './claims.ts';
import { type Facilitator, isKeySigned, type SentPayment } from './settlement.ts';
import type { PaymentQuote, PaymentRequirements } from './terms.ts';
import { type Authorization, createPaymentRejection, MAX_FACTORY_DATA_BYTES, type ParsedPayment } from './terms.ts';

export interface LocalFacilitatorDeps {
  chain: Chain;
  wallet: Wallet;
  gasBudget: GasBudget;
  deployments: DeploymentPolicy;
  log: Log;
  now?(): Date;
}

/** Bounds of the deployments of payers' wallets (ERC-6492). */
export interface DeploymentPolicy {
  /** Factories that are called for a payer; empty: none is. */
  factories: readonly Address[];
  budget: DeploymentBudget;
}

interface PreparedSettlement {
  payment: ParsedPayment;
  requirements: PaymentRequirements;
  /** The payer has code, which validates signatures: EIP-1271, or an account delegated by EIP-7702. Also when it is yet to be deployed. */
  isContract: boolean;
  /** Deploys the payer with the transfer; null for a payer with code, or without one that is to come. */
  deployment: WalletDeployment | null;
  request: BoundedSendRequest;
}

/** The contents of an ERC-6492 signature: a wallet that is yet to be deployed, and how. */
interface WalletDeployment {
  factory: Address;
  /** Call data of the factory. */
  data: Hex;
  /** For the wallet once it is there (EIP-1271). */
  signature: Hex;
}

/** A payment is valid when its settlement succeeds in a simulation with its real sender, fees and gas limit; foreign code runs nowhere else. */
export function createLocalFacilitator(deps: LocalFacilitatorDeps): Facilitator {
  const { chain, wallet, deployments, log, now = () => new Date() } = deps;
  const { budget } = deployments;

  return {
    simulatesSettlement: true,
    verify: (payment, requirements) =>
      hideNodeErrors(log, async () => {
        const invalidReason = await findRejection(payment, requirements);
        return invalidReason === null ? { isValid: true } : { isValid: false, invalidReason };
      }),
    settle: (payment, requirements) =>
      hideNodeErrors(log, async () => {
        const { network } = requirements;
        const settlement = await prepareSettlement(deps, payment, requirements);
        const errorReason = await reserveDeployment(settlement, payment);
        if (errorReason !== null) return { success: false, errorReason, transaction: '', network };
        try {
          return { success: true, transaction: (await wallet.send(settlement.request)).hash, network };
        } catch (error) {
          if (!isOracleError(error, 'CHAIN_REVERTED')) throw error;
          return { success: false, errorReason: await toRejection(error, settlement), transaction: '', network };
        }
      }),
  };

  async function findRejection(payment: SentPayment, requirements: PaymentRequirements): Promise<string | null> {
    const settlement = await prepareSettlement(deps, payment, requirements);
    if (!settlement.isContract && (await payment.payer)?.isProven !== true) return BAD_SIGNATURE;
    if (settlement.deployment !== null) {
      const refused = findDeploymentRejection(settlement.deployment, deployments.factories);
      if (refused !== null) return refused;
      await budget.requireRoom({ address: payment.address, now: now() });
    }
    const rejection = await wallet.findRejection(settlement.request);
    return rejection === null ? null : explainRejection(chain, settlement, rejection);
  }

  async function reserveDeployment({ deployment, request }: PreparedSettlement, { address }: SentPayment): Promise<string | null> {
    if (deployment === null || (await wallet.isPending(request.key))) return null;
    const refused = findDeploymentRejection(deployment, deployments.factories);
    if (refused === null) await budget.reserve(request.key, { address, now: now() });
    return refused;
  }

  async function toRejection(error: OracleError, settlement: PreparedSettlement): Promise<string> {
    const { key } = settlement.request;
    // A crashed process may have sent it before; the simulation then reverts as a second use.
    if (await wallet.isPending(key)) throw paymentUnconfirmedError();
    // Nothing was signed, or the transaction failed on chain at the expense of the budget.
    const rejection = error.details?.rejection as SimulationRejection | undefined;
    if (rejection !== undefined && settlement.deployment !== null) await budget.release(key);
    return explainRejection(chain, settlement, rejection ?? 'reverts');
  }
}

/** Reason of a rejection that needs no chain read; null for a deployment that may be tried. */
function findDeploymentRejection({ factory, data }: WalletDeployment, factories: readonly Address[]): string | null {
  if (!factories.some((allowed) => isAddressEqual(allowed, factory))) return 'eip6492_factory_not_allowed';
  return size(data) > MAX_FACTORY_DATA_BYTES ? 'eip6492_factory_data_too_large' : null;
}

async function prepareSettlement(
  { chain, gasBudget }: LocalFacilitatorDeps,
  payment: ParsedPayment,
  requirements: PaymentRequirements,
): Promise<PreparedSettlement> {
  const { authorization } = payment;
  const isDeployed = await hasCode(chain, 'payer', authorization.from);
  const deployment = isDeployed ? null : await findDeployment(payment, requirements);
  const isContract = isDeployed || deployment !== null;
  const bounds = getSettlementBounds(gasBudget, { amountMicros: authorization.value, isContract, isDeployed: deployment === null });
  const asset = requirements.asset as Address;
  const call =
    deployment === null
      ? { to: asset, data: encodeSettlement(payment) }
      : encodeDeployAndTransfer(deployment, { asset, transfer: encodeContractTransfer(authorization, deployment.signature) });
  // Idempotency key of the settlement transaction; see `Wallet.send`.
  const key = `x402:${authorization.from}:${authorization.nonce}`;
  return { payment, requirements, isContract, deployment, request: { key, ...call, bounds } };
}

/** r, s and v. */
const KEY_SIGNATURE_BYTES = 65;
const MIN_V = 27;

/** Call data of the settlement; sends only the inner signature of an ERC-6492 wrapper. */
export function encodeSettlement({ authorization, payload: { signature } }: ParsedPayment): Hex {
  const inner = parseWalletDeployment(signature)?.signature ?? signature;
  if (size(inner) !== KEY_SIGNATURE_BYTES) return encodeContractTransfer(authorization, inner);
  const v = Number.parseInt(inner.slice(-2), 16);
  const vrs = [v < 2 ? MIN_V + v : v, slice(inner, 0, 32), slice(inner, 32, 64)] as const;
  const args = [...toTransfer(authorization), ...vrs] as const;
  return encodeFunctionData({ abi: eip3009ABI, functionName: 'transferWithAuthorization', args });
}

/** Null for another signature, and for a malformed wrapper, which no wallet accepts. */
function parseWalletDeployment(wrapped: Hex): WalletDeployment | null {
  if (!isErc6492Signature(wrapped)) return null;
  try {
    const { address, data = '0x', signature } = parseErc6492Signature(wrapped);
    return address === undefined ? null : { factory: address, data, signature };
  } catch {
    return null;
  }
}

/** By the overload with `bytes signature`, which a wallet gets as it was signed. */
function encodeContractTransfer(authorization: Authorization, signature: Hex): Hex {
  const args = [...toTransfer(authorization), signature] as const;
  return encodeFunctionData({ abi: eip3009ABI, functionName: 'transferWithAuthorization', args });
}

function toTransfer({ from, to, value, validAfter, validBefore, nonce }: Authorization) {
  return [from, to, value, validAfter, validBefore, nonce] as const;
}

const multicallAbi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] results)',
]);

/**
 * One call for deployment and transfer, so that neither happens without the other. A deployment that fails since another sender was first is
 * no failure; without a wallet the transfer fails, and the whole with it.
 */
function encodeDeployAndTransfer({ factory, data }: WalletDeployment, { asset, transfer }: { asset: Address; transfer: Hex }) {
  const calls = [
    { target: factory, allowFailure: true, callData: data },
    { target: asset, allowFailure: false, callData: transfer },
  ];
  return { to: MULTICALL3_ADDRESS, data: encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args: [calls] }) };
}

/** Null for the signature of a key in a wrapper: no wallet is to come at its address, and the factory call would deploy another one. */
async function findDeployment(payment: ParsedPayment, requirements: PaymentRequirements): Promise<WalletDeployment | null> {
  const deployment = parseWalletDeployment(payment.payload.signature);
  if (deployment === null) return null;
  return (await isKeySigned({ ...payment, payload: deployment }, requirements)) ? null : deployment;
}

const MAX_LOGGED_CHARS = 500;
const BAD_SIGNATURE = 'invalid_exact_evm_signature';

/** Reason of a rejection from chain state, never from a contract's return data. @throws OracleError STEP_WAITING */
async function explainRejection({ client }: Chain, settlement: PreparedSettlement, rejection: SimulationRejection): Promise<string> {
  const { payment, requirements, isContract, deployment } = settlement;
  if (rejection !== 'reverts') {
    if (deployment !== null) return 'eip6492_deployment_too_costly';
    if (isContract) return 'settlement_too_costly';
    throw new OracleError('STEP_WAITING', 'Gas is currently too expensive to settle payments', {
      suggestedAction: 'Repeat the request later. Nothing was charged.',
      retryAfterSeconds: 60,
    });
  }
  const { from, nonce } = payment.authorization;
  const call = { address: requirements.asset as Address, abi: stablecoinAbi } as const;
  const [balance, isUsed] = await chainCall('Reading the state of a payment', () =>
    Promise.all([
      client.readContract({ ...call, functionName: 'balanceOf', args: [from], blockTag: 'pending' }),
      client.readContract({ ...call, functionName: 'authorizationState', args: [from, nonce], blockTag: 'pending' }),
    ]),
  );
  if (isUsed) return 'invalid_exact_evm_nonce_already_used';
  if (balance < payment.authorization.value) return 'invalid_exact_evm_insufficient_balance';
  if (deployment !== null) return 'eip6492_signature_invalid';
  return isContract ? BAD_SIGNATURE : 'invalid_exact_evm_transaction_simulation_failed';
}

/** Logs node errors instead of returning them: they may quote the payer's contract or the endpoint. */
async function hideNodeErrors<T>(log: Log, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const isSigner = isOracleError(cause, 'SIGNER_UNAVAILABLE');
    if (!isSigner && !isOracleError(cause, 'CHAIN_UNREACHABLE') && !isOracleError(cause, 'CHAIN_REVERTED')) throw cause;
    log.warn({ reason: cause.message.slice(0, MAX_LOGGED_CHARS) }, 'a payment could not be checked or sent');
    const [code, message] = isSigner
      ? (['SIGNER_UNAVAILABLE', 'Payments cannot be settled now: their signer does not answer'] as const)
      : (['CHAIN_UNREACHABLE', 'The chain does not answer: the status of the payment is unknown'] as const);
    throw new OracleError(code, message, {
      suggestedAction: 'Repeat the request with the same payment: you are never charged twice.',
      retryAfterSeconds: 5,
      cause,
    });
  }
}

const COLLECTION = 'x402_deployments';

export const DEPLOYMENT_INDEXES = [{ collection: COLLECTION, indexes: [BUDGET_INDEX] }] satisfies CollectionIndexes[];

/**
 * Each deployment costs its payer as much as its gas, which may be a fraction of a cent: what is bounded is the loss by transfers that
 * fail. So an address has a twentieth, a /24, /56 or /48 a tenth, and a quarter is reserved for ranges that have hardly any. Payers and
 * factories have no share: a payer is invented for free and deployed once, and the factories on the operator's list serve many payers.
 */
function toRangeLimits(maxPerDay: number): RangeLimits {
  const share = (fraction: number) => Math.max(1, Math.ceil(maxPerDay * fraction));
  const [address, range] = [share(1 / 20), share(1 / 10)];
  const reserve = Math.floor(maxPerDay / 4);
  return { address, '/24': range, '/56': range, '/48': range, all: maxPerDay, reserve, reservePerRange: share(1 / 100) };
}

/** `address`: of the client, as the rate limits key it. */
type DeploymentClient = { address: string; now: Date };

/** Deployments of payers' wallets within 24 hours, over all processes. A unit is taken before the transaction is signed. */
export class DeploymentBudget {
  readonly #deployments: RangeBudget<BudgetUnit>;

  constructor(db: Db, maxPerDay: number) {
    this.#deployments = new RangeBudget(db.collection<BudgetUnit>(COLLECTION), { limits: toRangeLimits(maxPerDay), windowMs: DAY_MS });
  }

  /** @throws OracleError STEP_WAITING when the budget, or the share of the client, is used up */
  async requireRoom({ address, now }: DeploymentClient): Promise<void> {
    const spent = await this.#deployments.findSpent({ address, at: now });
    if (spent !== null) throw usedUpError(spent, now);
  }

  /** @param key of the settlement: a repetition continues it @throws OracleError STEP_WAITING as `requireRoom` */
  async reserve(key: string, { address, now }: DeploymentClient): Promise<void> {
    const spent = await this.#deployments.take({ id: key, address, at: now, fields: {} });
    if (spent !== null) throw usedUpError(spent, now);
  }

  /** For a deployment that was not signed. */
  release(key: string): Promise<void> {
    return this.#deployments.release(key);
  }
}

function usedUpError({ scope, limit, freeAt }: SpentLimit, now: Date): OracleError {
  const where = scope === 'all' ? 'for payers' : scope === 'address' ? 'for your address' : `for your ${scope}`;
  return new OracleError('STEP_WAITING', `No more contract wallets are deployed ${where} today (${limit} in 24 hours)`, {
    suggestedAction: 'Deploy the wallet first, as its first transaction does, or pay from another wallet. Nothing was charged.',
    retryAfterSeconds: Math.max(60, Math.ceil((freeAt.getTime() - now.getTime()) / 1_000)),
    details: { scope, limit },
  });
}

export interface GasBudget {
  /** US dollars per unit of the native currency; null when gas is free, as on a local chain. */
  currencyUsd: number | null;
  maxCents: number;
}

/** Three times a transfer signed by an EOA, to leave room for the signature check of a contract wallet. */
const MAX_SETTLEMENT_GAS = 250_000n;
/** Besides the transfer, a proxy with its initial owners and the check of a passkey where the chain has no precompile for it. */
const MAX_DEPLOYMENT_GAS = 750_000n;
const WEI_PER_MICRO_UNIT = 10n ** 12n;
const MICROS_PER_CENT = 10_000n;

/** A contract wallet's code may not cost more than the payment; an EOA's transfer has constant gas, bounded by the budget alone. */
function getSettlementBounds(
  { currencyUsd, maxCents }: GasBudget,
  { amountMicros, isContract, isDeployed }: { amountMicros: bigint; isContract: boolean; isDeployed: boolean },
): GasBounds {
  const budgetMicros = BigInt(maxCents) * MICROS_PER_CENT;
  const maxMicros = isContract && amountMicros < budgetMicros ? amountMicros : budgetMicros;
  const maxCostWei = currencyUsd === null ? null : (maxMicros * WEI_PER_MICRO_UNIT) / BigInt(currencyUsd);
  return { maxGas: isDeployed ? MAX_SETTLEMENT_GAS : MAX_DEPLOYMENT_GAS, maxCostWei, runsForeignCode: isContract };
}

/** A call of an address without code succeeds and does nothing. @throws OracleError CONFIG_INVALID naming X402_WALLET_FACTORIES */
export async function requireDeploymentContracts(chain: Pick<Chain, 'client'>, factories: readonly Address[]): Promise<void> {
  if (factories.length === 0) return;
  for (const address of [MULTICALL3_ADDRESS, ...factories]) {
    if (await hasCode(chain, 'wallet factory', address)) continue;
    const problem =
      address === MULTICALL3_ADDRESS ? 'needs Multicall3, which this chain does not have at' : 'names a factory without code:';
    throw new OracleError('CONFIG_INVALID', `Setting X402_WALLET_FACTORIES: ${problem} ${address}`, {
      field: 'X402_WALLET_FACTORIES',
      suggestedAction: 'Name factories that are deployed on this chain, or unset it: wallets that are not deployed are then refused.',
    });
  }
}

async function hasCode({ client }: Pick<Chain, 'client'>, what: string, address: Address): Promise<boolean> {
  const code = await chainCall(`Reading the code of a ${what}`, () => client.getCode({ address }));
  return code !== undefined && code !== '0x';
}

/** Whether the signature carries the deployment of a payer without code. */
export async function isYetToBeDeployed(chain: Pick<Chain, 'client'>, { authorization, payload }: ParsedPayment): Promise<boolean> {
  return parseWalletDeployment(payload.signature) !== null && !(await hasCode(chain, 'payer', authorization.from));
}

/** Requires a balance for all concurrent payments of the payer: each is verified by itself, and the others could fail. */
export async function requirePayerFunds(
  { chain, merchant, claims }: { chain: Pick<Chain, 'client'>; merchant: Pick<MerchantConfig, 'asset'>; claims: PaymentClaimStore },
  claim: ClaimDoc,
  quote: PaymentQuote,
): Promise<void> {
  const inFlight = await claims.sumInFlight(claim);
  if (inFlight === 0n) return;
  const call = { address: merchant.asset, abi: stablecoinAbi, functionName: 'balanceOf', args: [claim.payer] } as const;
  const balance = await chainCall('Reading the balance of a payer', () => chain.client.readContract(call));
  if (balance >= inFlight + BigInt(claim.amountMicros.toString())) return;
  throw createPaymentRejection(quote, 'insufficient_balance', {
    message: 'The wallet balance is below the sum of this payment and its payments in settlement',
    payer: claim.payer,
  });
}

/**
 * Whether the payer's key signed the payment and its settlement succeeds in a simulation on the pending block. False also for an account
 * with code, which may accept a signature in simulations only, and when the node does not answer: neither is a reason to reject.
 */
export async function isPayable(
  { client }: Pick<Chain, 'client'>,
  { payment, requirements, payer }: { payment: ParsedPayment; requirements: PaymentRequirements; payer: Promise<ClaimedPayer> },
): Promise<boolean> {
  const { wallet, isProven } = await payer;
  if (!isProven) return false;
  const call = {
    to: requirements.asset as Address,
    data: encodeSettlement(payment),
    gas: MAX_SETTLEMENT_GAS,
    blockTag: 'pending',
  } as const;
  const simulated = Promise.all([client.getCode({ address: wallet }), client.call(call)]);
  return simulated.then(
    ([code]) => code === undefined || code === '0x',
    () => false,
  );
}
