import { type Address, type Hex, type PublicClient, parseAbi } from 'viem';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import { getNodeMessage, toChainError } from '../rpc/chain-call.ts';
import { withChainTimeout } from '../rpc/time-limit.ts';
import type { WalletContext } from './context.ts';
import { capFees, type FeeQuote, type Fees } from './fees.ts';

/** What a transaction may cost that runs code, or carries data, chosen by a client. */
export interface GasBounds {
  /** Gas limit above which it is not sent; no simulation runs longer. */
  maxGas: bigint;
  /** Wei that its gas limit may cost at the current fees, including a rollup's data fee; null: any. */
  maxCostWei: bigint | null;
  /** The client chose the code: it is also run with exactly the gas limit that is sent. */
  runsForeignCode: boolean;
}

/** Why a bounded transaction is not sent. */
export type SimulationRejection = 'reverts' | 'needs too much gas' | 'costs too much';

export interface SimulatedCall {
  to: Address;
  data: Hex;
  /** Wei. */
  value: bigint;
}

type Simulation = { gas: bigint; quote: FeeQuote } | { rejected: SimulationRejection };

const SIMULATION_TIMEOUT_MS = 5_000;

/** Messages of nodes that do not mark a failure of the called code as a revert. */
const OUT_OF_GAS_MESSAGE = /out of ?gas|exceeds allowance|intrinsic gas too low|gas floor/;
const CODE_FAILURE_MESSAGE = /invalid ?(fe)?opcode|invalid jump|opcode not found|stack ?(under|over)flow|evm ?error|execution reverted/;

/**
 * Runs a call on the pending block as it would be sent: from the wallet's address and with its fees. The estimate leaves a quarter of
 * spare gas for a state that changes before it is mined.
 * @throws OracleError CHAIN_UNREACHABLE when the node does not answer in 5 s, or the wallet cannot pay for `maxGas`
 */
export async function simulate(context: WalletContext, call: SimulatedCall, bounds: GasBounds): Promise<Simulation> {
  const { chain, fees, feeCap } = context;
  const quote = await fees.quote();
  const offered = capFees(quote, feeCap);
  return withChainTimeout(SIMULATION_TIMEOUT_MS, 'Simulating a transaction', async () => {
    const { maxGas, maxCostWei, runsForeignCode } = bounds;
    const [estimate, dataFee] = await Promise.all([
      runSimulation(context, { offered, gas: maxGas }, (options) => chain.client.estimateGas({ ...call, ...options })),
      maxCostWei === null ? 0n : readL1DataFee(chain.client, call.data),
    ]);
    if (typeof estimate === 'string') return { rejected: estimate };
    const gas = estimate + estimate / 4n;
    if (gas > maxGas) return { rejected: 'needs too much gas' };
    if (maxCostWei !== null && gas * estimateGasPrice(quote) + dataFee > maxCostWei) return { rejected: 'costs too much' };
    if (!runsForeignCode) return { gas, quote };
    const outcome = await runSimulation(context, { offered, gas }, (options) => chain.client.call({ ...call, ...options }));
    return typeof outcome === 'string' ? { rejected: outcome } : { gas, quote };
  });
}

interface RunOptions extends Fees {
  account: Address;
  gas: bigint;
  blockTag: 'pending';
}

async function runSimulation<T extends object | bigint>(
  context: WalletContext,
  { offered, gas }: { offered: Fees; gas: bigint },
  request: (options: RunOptions) => Promise<T>,
): Promise<T | SimulationRejection> {
  try {
    return await request({ account: context.account.address, gas, ...offered, blockTag: 'pending' });
  } catch (error) {
    const wrapped = toChainError('Simulating a transaction', error);
    const message = getNodeMessage(error);
    if (OUT_OF_GAS_MESSAGE.test(message)) {
      await requireGasFunds(context, gas * offered.maxFeePerGas);
      return 'needs too much gas';
    }
    if (isOracleError(wrapped, 'CHAIN_REVERTED') || CODE_FAILURE_MESSAGE.test(message)) return 'reverts';
    throw wrapped;
  }
}

/** Nodes reduce the gas of a simulation to what its sender can pay: then the failure is not the call's. */
async function requireGasFunds({ chain, account }: WalletContext, wei: bigint): Promise<void> {
  const balance = await chain.client.getBalance({ address: account.address }).catch((error: unknown) => {
    throw toChainError('Reading a balance', error);
  });
  if (balance >= wei) return;
  throw new OracleError('CHAIN_UNREACHABLE', `The wallet ${account.address} has too little for gas`);
}

/** Per gas, in wei, with one rise of the base fee (an eighth at most) before it is mined. */
function estimateGasPrice({ baseFeePerGas, maxPriorityFeePerGas }: FeeQuote): bigint {
  return baseFeePerGas + baseFeePerGas / 8n + maxPriorityFeePerGas;
}

/** Predeploy of OP Stack rollups such as Base. */
const GAS_PRICE_ORACLE: Address = '0x420000000000000000000000000000000000000F';
const gasPriceOracleAbi = parseAbi(['function getL1Fee(bytes data) view returns (uint256)']);

/** Wei that a rollup takes for the data of a transaction; 0 on a chain that takes none. */
async function readL1DataFee(client: PublicClient, data: Hex): Promise<bigint> {
  const call = { address: GAS_PRICE_ORACLE, abi: gasPriceOracleAbi, functionName: 'getL1Fee', args: [data] } as const;
  try {
    return await client.readContract(call);
  } catch (error) {
    const wrapped = toChainError('Reading the data fee', error);
    if (isOracleError(wrapped, 'CHAIN_REVERTED')) return 0n;
    throw wrapped;
  }
}
