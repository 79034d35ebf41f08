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
import { encodeSettlement, isErc6492Wrapped } from './authorization-signature.ts';
import type { Facilitator, FacilitatorSettlement } from './facilitator.ts';
import { type GasBudget, getSettlementBounds } from './gas-budget.ts';

export interface LocalFacilitatorDeps {
  chain: Chain;
  wallet: Wallet;
  gasBudget: GasBudget;
  log: Log;
}

/** Idempotency key of the settlement transaction; see `Wallet.send`. */
export function buildSettlementKey({ from, nonce }: Pick<Authorization, 'from' | 'nonce'>): string {
  return `x402:${from}:${nonce}`;
}

interface PreparedSettlement {
  payment: ParsedPayment;
  requirements: PaymentRequirements;
  /** The payer has code, which validates signatures: EIP-1271, or an account delegated by EIP-7702. */
  isContract: boolean;
  request: BoundedSendRequest;
}

/** A payment is valid when its settlement succeeds in a simulation with its real sender, fees and gas limit; foreign code runs nowhere else. */
export function createLocalFacilitator({ chain, wallet, gasBudget, log }: LocalFacilitatorDeps): Facilitator {
  async function prepareSettlement(payment: ParsedPayment, requirements: PaymentRequirements): Promise<PreparedSettlement> {
    const { authorization } = payment;
    const code = await chainCall('Reading the code of a payer', () => chain.client.getCode({ address: authorization.from }));
    const isContract = code !== undefined && code !== '0x';
    const bounds = getSettlementBounds(gasBudget, { amountMicros: authorization.value, isContract });
    const to = requirements.asset as Address;
    const request = { key: buildSettlementKey(authorization), to, data: encodeSettlement(payment), bounds };
    return { payment, requirements, isContract, request };
  }

  return {
    simulatesSettlement: true,
    verify: (payment, requirements, { isProven }) =>
      hideNodeErrors(log, async () => {
        const settlement = await prepareSettlement(payment, requirements);
        if (!settlement.isContract && !isProven) return isErc6492Wrapped(payment) ? 'eip6492_factory_not_allowed' : BAD_SIGNATURE;
        const rejection = await wallet.findRejection(settlement.request);
        return rejection === null ? null : explainRejection(chain, settlement, rejection);
      }),
    settle: (payment, requirements) =>
      hideNodeErrors(log, async () => {
        const settlement = await prepareSettlement(payment, requirements);
        try {
          return { txHash: (await wallet.send(settlement.request)).hash };
        } catch (error) {
          if (!isOracleError(error, 'CHAIN_REVERTED')) throw error;
          return toRejection(error, settlement);
        }
      }),
  };

  async function toRejection(error: OracleError, settlement: PreparedSettlement): Promise<FacilitatorSettlement> {
    // A crashed process may have sent it before; the simulation then reverts as a second use.
    if (await wallet.isPending(settlement.request.key)) throw paymentUnconfirmedError();
    const rejection = (error.details?.rejection ?? 'reverts') as SimulationRejection;
    return { refused: await explainRejection(chain, settlement, rejection) };
  }
}

const MAX_LOGGED_CHARS = 500;
const BAD_SIGNATURE = 'invalid_exact_evm_signature';

/** Reason of a rejection from chain state, never from a contract's return data. @throws OracleError STEP_WAITING */
async function explainRejection({ client }: Chain, settlement: PreparedSettlement, rejection: SimulationRejection): Promise<string> {
  const { payment, requirements, isContract } = settlement;
  if (rejection !== 'reverts') {
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
