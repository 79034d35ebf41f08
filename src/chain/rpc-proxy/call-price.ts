import { type Address, decodeFunctionData, type Hex, multicall3Abi, toFunctionSelector } from 'viem';
import { MULTICALL3_ADDRESS } from '../addresses.ts';
import type { ReadOnlyCall } from './json-rpc.ts';
import type { CallParameter, ReadMethod } from './methods.ts';

/** Of any `eth_call`: a node's own limit is that of a whole block. */
export const MAX_CALL_GAS = 10_000_000;
/** Where the client names no gas. */
const DEFAULT_GAS = { known: 1_000_000, unknown: 2_000_000 };

/**
 * Prices in units of the rate limit, each at most ten times the work of a signal: 35 ms of CPU, of the service and the node together.
 * In a contract that the client chooses a million of gas may be 12 ms, as hashes and precompiles are underpriced; in those of the
 * record it is 1 ms.
 */
const GAS_PER_UNIT = { known: 20_000_000, unknown: 2_000_000 };
const LOOKUP_UNITS = 0.02;
/** Of a call within a multicall: the node decodes and answers one request for all. */
const INNER_CALL_UNITS = 0.005;

const METHOD_UNITS: Readonly<Record<Exclude<ReadMethod, 'eth_call'>, number>> = {
  eth_chainId: LOOKUP_UNITS,
  eth_blockNumber: LOOKUP_UNITS,
  eth_getBalance: LOOKUP_UNITS,
  eth_getCode: 0.1,
  eth_getBlockByNumber: LOOKUP_UNITS,
  eth_getBlockByHash: LOOKUP_UNITS,
  eth_getLogs: 0.5,
  eth_getTransactionByHash: LOOKUP_UNITS,
  eth_getTransactionReceipt: 0.1,
};
const BLOCK_WITH_TRANSACTIONS_UNITS = 0.1;

export interface PricedCall {
  call: ReadOnlyCall;
  units: number;
}

/** Prices a call, and bounds the gas of an `eth_call` to what its price covers. @param known contracts of the record, in lower case */
export function priceCall(call: ReadOnlyCall, known: ReadonlySet<string>): PricedCall {
  const { method, params } = call;
  if (method !== 'eth_call') {
    const isLong = params[1] === true;
    return { call, units: isLong ? BLOCK_WITH_TRANSACTIONS_UNITS : METHOD_UNITS[method] };
  }
  const [{ gas: named, data, input = data, ...target }, ...block] = params as [CallParameter, ...unknown[]];
  // One of both names, so that the node runs what is priced.
  const transaction = { ...target, ...(input === undefined ? {} : { data: input }) };
  const calls = countKnownCalls(transaction, known);
  const kind = calls > 0 ? 'known' : 'unknown';
  const isMulticall = calls > 0 && !known.has(transaction.to.toLowerCase());
  const gas = Math.min(named === undefined ? (isMulticall ? MAX_CALL_GAS : DEFAULT_GAS[kind]) : Number(named), MAX_CALL_GAS);
  return {
    call: { ...call, params: [{ ...transaction, gas: `0x${gas.toString(16)}` }, ...block] },
    units: Math.max(gas / GAS_PER_UNIT[kind], LOOKUP_UNITS, isMulticall ? calls * INNER_CALL_UNITS : 0),
  };
}

/** Calls of known contracts that a transaction makes; 0 where it calls any other. */
function countKnownCalls({ to, data = '0x' }: Pick<CallParameter, 'to' | 'data'>, known: ReadonlySet<string>): number {
  if (known.has(to.toLowerCase())) return 1;
  if (to.toLowerCase() !== MULTICALL3_ADDRESS.toLowerCase()) return 0;
  const targets = readTargets(data as Hex);
  return targets.every((target) => known.has(target.toLowerCase())) ? targets.length : 0;
}

const AGGREGATE_SELECTOR = toFunctionSelector('aggregate3((address,bool,bytes)[])');

/** None where the data cannot be read: such a call has the price of an unknown one. */
function readTargets(data: Hex): Address[] {
  if (!data.toLowerCase().startsWith(AGGREGATE_SELECTOR)) return [];
  try {
    const { args } = decodeFunctionData({ abi: multicall3Abi, data });
    return args?.[0] === undefined || typeof args[0] === 'string'
      ? []
      : (args[0] as readonly { target: Address }[]).map(({ target }) => target);
  } catch {
    return [];
  }
}
