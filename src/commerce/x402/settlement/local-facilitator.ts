import type { Address } from 'viem';
import type { Chain } from '../../../chain/client.ts';
import { chainCall } from '../../../chain/rpc/chain-call.ts';
import { stablecoinAbi } from '../../../chain/stablecoin/stablecoin.ts';
import type { SimulationRejection } from '../../../chain/tx/simulate.ts';
import type { BoundedSendRequest, Wallet } from '../../../chain/tx/wallet.ts';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import { paymentUnconfirmedError } from '../claim-wait.ts';
import type { Authorization, ParsedPayment } from '../protocol/payment-payload.ts';
import type { PaymentRequirements } from '../protocol/payment-quote.ts';
import { encodeContractTransfer, encodeSettlement, isKeySigned } from './authorization-signature.ts';
import type { DeploymentBudget } from './deployments/deployment-budget.ts';
import {
  encodeDeployAndTransfer,
  findDeploymentRejection,
  parseWalletDeployment,
  type WalletDeployment,
} from './deployments/wallet-deployment.ts';
import type { Facilitator, FacilitatorSettlement } from './facilitator.ts';
import { type GasBudget, getSettlementBounds } from './gas-budget.ts';

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

/** Idempotency key of the settlement transaction; see `Wallet.send`. */
export function buildSettlementKey({ from, nonce }: Pick<Authorization, 'from' | 'nonce'>): string {
  return `x402:${from}:${nonce}`;
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

/** A payment is valid when its settlement succeeds in a simulation with its real sender, fees and gas limit; foreign code runs nowhere else. */
export function createLocalFacilitator(deps: LocalFacilitatorDeps): Facilitator {
  const { chain, wallet, deployments, log, now = () => new Date() } = deps;
  const { budget } = deployments;

  return {
    simulatesSettlement: true,
    verify: (payment, requirements, { payer, address }) =>
      hideNodeErrors(log, async () => {
        const settlement = await prepareSettlement(deps, payment, requirements);
        if (!settlement.isContract && !(await payer).isProven) return BAD_SIGNATURE;
        if (settlement.deployment !== null) {
          const refused = findDeploymentRejection(settlement.deployment, deployments.factories);
          if (refused !== null) return refused;
          await budget.requireRoom({ address, now: now() });
        }
        const rejection = await wallet.findRejection(settlement.request);
        return rejection === null ? null : explainRejection(chain, settlement, rejection);
      }),
    settle: (payment, requirements, { address }) =>
      hideNodeErrors(log, async () => {
        const settlement = await prepareSettlement(deps, payment, requirements);
        const { key } = settlement.request;
        if (settlement.deployment !== null && !(await wallet.isPending(key))) {
          const refused = findDeploymentRejection(settlement.deployment, deployments.factories);
          if (refused !== null) return { refused };
          await budget.reserve(key, { address, now: now() });
        }
        try {
          return { txHash: (await wallet.send(settlement.request)).hash };
        } catch (error) {
          if (!isOracleError(error, 'CHAIN_REVERTED')) throw error;
          return toRejection(error, settlement);
        }
      }),
  };

  async function toRejection(error: OracleError, settlement: PreparedSettlement): Promise<FacilitatorSettlement> {
    const { key } = settlement.request;
    // A crashed process may have sent it before; the simulation then reverts as a second use.
    if (await wallet.isPending(key)) throw paymentUnconfirmedError();
    // Nothing was signed, or the transaction failed on chain at the expense of the budget.
    const rejection = error.details?.rejection as SimulationRejection | undefined;
    if (rejection !== undefined && settlement.deployment !== null) await budget.release(key);
    return { refused: await explainRejection(chain, settlement, rejection ?? 'reverts') };
  }
}

async function prepareSettlement(
  { chain, gasBudget }: LocalFacilitatorDeps,
  payment: ParsedPayment,
  requirements: PaymentRequirements,
): Promise<PreparedSettlement> {
  const { authorization } = payment;
  const code = await chainCall('Reading the code of a payer', () => chain.client.getCode({ address: authorization.from }));
  const isDeployed = code !== undefined && code !== '0x';
  const deployment = isDeployed ? null : await findDeployment(payment, requirements);
  const isContract = isDeployed || deployment !== null;
  const bounds = getSettlementBounds(gasBudget, { amountMicros: authorization.value, isContract, isDeployed: deployment === null });
  const asset = requirements.asset as Address;
  const call =
    deployment === null
      ? { to: asset, data: encodeSettlement(payment) }
      : encodeDeployAndTransfer(deployment, { asset, transfer: encodeContractTransfer(authorization, deployment.signature) });
  return { payment, requirements, isContract, deployment, request: { key: buildSettlementKey(authorization), ...call, bounds } };
}

/** Null for the signature of a key in a wrapper: no wallet is to come at its address, and the factory call would deploy another one. */
async function findDeployment(payment: ParsedPayment, requirements: PaymentRequirements): Promise<WalletDeployment | null> {
  const deployment = parseWalletDeployment(payment.signature);
  if (deployment === null) return null;
  return (await isKeySigned({ ...payment, signature: deployment.signature }, requirements)) ? null : deployment;
}

const MAX_LOGGED_CHARS = 500;
const BAD_SIGNATURE = 'invalid_exact_evm_signature';

/** Reason of a rejection from chain state, never from a contract's return data. @throws OracleError STEP_WAITING */
async function explainRejection({ client }: Chain, settlement: PreparedSettlement, rejection: SimulationRejection): Promise<string> {
  const { payment, requirements, isContract, deployment } = settlement;
  if (rejection !== 'reverts') {
    if (deployment !== null) return 'eip6492_deployment_too_costly';
    if (isContract) return 'settlement_too_costly';
    throw gasTooExpensiveError();
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

function gasTooExpensiveError(): OracleError {
  return new OracleError('STEP_WAITING', 'Gas is currently too expensive to settle payments', {
    suggestedAction: 'Repeat the request later. Nothing was charged.',
    retryAfterSeconds: 60,
  });
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
