import { type Address, type Hex, type PublicClient, parseAbi } from 'viem';
import { isOracleError, OracleError, orElse } from '../../platform/errors.ts';
import { chainCall, getNodeMessage, toChainError } from '../rpc/chain-call.ts';
import { withChainTimeout } from '../rpc/time-limit.ts';
import type { WalletContext } from './context.ts';
import { capFees, type FeeQuote, type Fees } from './fees.ts';

/** Cost limits of a transaction whose code or data a client chose. */
export interface GasBounds {
  maxGas: bigint;
  /** Maximum cost in wei at the current fees, a rollup's data fee included; null: unlimited. */
  maxCostWei: bigint | null;
  /** The client chose the code: the simulation also runs with exactly the gas limit that is sent. */
  runsForeignCode: boolean;
}

export type SimulationRejection = 'reverts' | 'needs too much gas' | 'costs too much';

export interface SimulatedCall {
  to: Address;
  data: Hex;
  /** Wei. */
  value: bigint;
}

type Simulation = { gas: bigint; quote: FeeQuote } | { rejected: SimulationRejection };

const SIMULATION_TIMEOUT_MS = 5_000;
/** Messages of nodes that do not report a failure of the called code as a revert. */
const OUT_OF_GAS_MESSAGE = /out of ?gas|exceeds allowance|intrinsic gas too low|gas floor/;
const CODE_FAILURE_MESSAGE = /invalid ?(fe)?opcode|invalid jump|opcode not found|stack ?(under|over)flow|evm ?error|execution reverted/;

/** On the pending block, with a quarter more gas for later changes. @throws CHAIN_UNREACHABLE after 5 s, or without funds for `maxGas` */
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

async function runSimulation<T extends object | bigint>(
  context: WalletContext,
  { offered, gas }: { offered: Fees; gas: bigint },
  request: (options: Fees & { account: Address; gas: bigint; blockTag: 'pending' }) => Promise<T>,
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

/** Nodes lower the gas of a simulation to what its sender can pay: out of gas is then the wallet's fault, not the call's. */
async function requireGasFunds({ chain, account }: WalletContext, wei: bigint): Promise<void> {
  const balance = await chainCall('Reading a balance', () => chain.client.getBalance({ address: account.address }));
  if (balance >= wei) return;
  throw new OracleError('CHAIN_UNREACHABLE', `The wallet ${account.address} has too little for gas`);
}

/** Wei per gas after one rise of the base fee, at most an eighth, before the transaction is mined. */
function estimateGasPrice({ baseFeePerGas, maxPriorityFeePerGas }: FeeQuote): bigint {
  return baseFeePerGas + baseFeePerGas / 8n + maxPriorityFeePerGas;
}

/** Predeploy of OP Stack rollups such as Base. */
const GAS_PRICE_ORACLE: Address = '0x420000000000000000000000000000000000000F';
const gasPriceOracleAbi = parseAbi(['function getL1Fee(bytes data) view returns (uint256)']);

/** Data fee of a rollup in wei; 0 on a chain without one. */
async function readL1DataFee(client: PublicClient, data: Hex): Promise<bigint> {
  const call = { address: GAS_PRICE_ORACLE, abi: gasPriceOracleAbi, functionName: 'getL1Fee', args: [data] } as const;
  return chainCall('Reading the data fee', () => client.readContract(call)).catch(orElse('CHAIN_REVERTED', 0n));
}
