import type { Address } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc-error.ts';
import { stablecoinAbi } from '../../chain/stablecoin.ts';
import type { Rejection } from '../../chain/tx/simulate.ts';
import type { BoundedRequest, Wallet } from '../../chain/wallet.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { isWrapped, settlementData } from './authorization-signature.ts';
import type { Facilitator, Settlement } from './facilitator.ts';
import { type GasBudget, settlementBounds } from './gas-budget.ts';
import type { Authorization, Payment } from './payload.ts';
import type { Requirements } from './terms.ts';
import { unconfirmed } from './wait.ts';

export interface LocalFacilitatorDeps {
  chain: Chain;
  /** Of the role `facilitator`: pays the gas. */
  wallet: Wallet;
  gasBudget: GasBudget;
  log: Log;
}

/** The transaction that settles an authorization; see `Wallet.send`. */
export function settlementKey({ from, nonce }: Pick<Authorization, 'from' | 'nonce'>): string {
  return `x402:${from}:${nonce}`;
}

/** A payment with the transaction that settles it. */
interface PreparedSettlement {
  payment: Payment;
  requirements: Requirements;
  /** A contract decides whether the payer signed: EIP-1271, also of an account delegated by EIP-7702. */
  isContract: boolean;
  request: BoundedRequest;
}

/**
 * The x402 facilitator of this process. A payment is good when the very transaction that settles it succeeds in a simulation with the
 * sender, fees and gas limit that it is sent with; a contract of the payer's choice runs nowhere else.
 */
export function localFacilitator({ chain, wallet, gasBudget, log }: LocalFacilitatorDeps): Facilitator {
  async function prepare(payment: Payment, requirements: Requirements): Promise<PreparedSettlement> {
    const { authorization } = payment;
    const code = await chainCall('Reading the code of a payer', () => chain.client.getCode({ address: authorization.from }));
    const isContract = code !== undefined && code !== '0x';
    const bounds = settlementBounds(gasBudget, { amountMicros: authorization.value, isContract });
    const to = requirements.asset as Address;
    const request = { key: settlementKey(authorization), to, data: settlementData(payment), bounds };
    return { payment, requirements, isContract, request };
  }

  return {
    simulatesSettlement: true,
    verify: (payment, requirements, { isProven }) =>
      withoutNodeText(log, async () => {
        const settlement = await prepare(payment, requirements);
        if (!settlement.isContract && !isProven) return isWrapped(payment) ? 'eip6492_factory_not_allowed' : BAD_SIGNATURE;
        const rejection = await wallet.findRejection(settlement.request);
        return rejection === null ? null : explain(chain, settlement, rejection);
      }),
    settle: (payment, requirements) =>
      withoutNodeText(log, async () => {
        const settlement = await prepare(payment, requirements);
        try {
          return { txHash: (await wallet.send(settlement.request)).hash };
        } catch (error) {
          if (!isOracleError(error, 'CHAIN_REVERTED')) throw error;
          return refuse(error, settlement);
        }
      }),
  };

  async function refuse(error: OracleError, settlement: PreparedSettlement): Promise<Settlement> {
    // A process that has died since may have signed it: the simulation then fails as a second use.
    if (await wallet.isUnderWay(settlement.request.key)) throw unconfirmed();
    const rejection = (error.details?.rejection ?? 'reverts') as Rejection;
    return { refused: await explain(chain, settlement, rejection) };
  }
}

const MAX_LOGGED_CHARS = 500;

const BAD_SIGNATURE = 'invalid_exact_evm_signature';

/** Says why a settlement is rejected by what the chain holds, never by what a contract returned. @throws OracleError STEP_WAITING */
async function explain(
  { client }: Chain,
  { payment, requirements, isContract }: PreparedSettlement,
  rejection: Rejection,
): Promise<string> {
  if (rejection !== 'reverts') {
    if (isContract) return 'settlement_too_costly';
    throw tooCostlyForAll();
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

/** No payer is at fault: the fees of the chain are. */
function tooCostlyForAll(): OracleError {
  return new OracleError('STEP_WAITING', 'Settling a payment costs more gas at present than it may', {
    suggestedAction: 'Send the same request again later. Nothing was charged.',
    retryAfterSeconds: 60,
  });
}

/** What a node says is for the log: it may quote a contract that the payer chose, or the endpoint. */
async function withoutNodeText<T>(log: Log, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!isOracleError(cause, 'CHAIN_UNREACHABLE') && !isOracleError(cause, 'CHAIN_REVERTED')) throw cause;
    log.warn({ reason: cause.message.slice(0, MAX_LOGGED_CHARS) }, 'a payment could not be checked or sent');
    throw new OracleError('CHAIN_UNREACHABLE', 'The chain does not answer: nothing is known about the payment', {
      suggestedAction: 'Send the same request with the same payment again: it is never charged twice.',
      retryAfterSeconds: 5,
      cause,
    });
  }
}
