import { type Hex, numberToHex } from 'viem';
import { callJsonRpc } from '../../../src/dev/local-chain/contracts.ts';
import { type Interference, type RpcCall, type RpcHooks, type RpcProxy, rpcProxy } from './rpc-proxy.ts';

/** What an endpoint does wrong, in front of an honest node. */
export type Breakage = (rpcUrl: string) => RpcHooks;

/** Opens an endpoint that misbehaves in one way, in single calls and in batches. */
export function openBrokenEndpoint(rpcUrl: string, breakage: Breakage): Promise<RpcProxy> {
  return rpcProxy(rpcUrl, breakage(rpcUrl), { splitsBatches: breakage !== dropsBatches });
}

const reject = (message: string): Interference => ({ error: { code: -32_000, message } });
const is = ({ method }: RpcCall, ...methods: string[]) => methods.includes(method);

type Log = { blockNumber: Hex };
type Filter = { fromBlock: Hex; toBlock: Hex };

const answersAll: Breakage = () => ({});

/** Its index of events lacks blocks, without an error; everything else is there. */
export const logsLack =
  (isLacking: (block: number) => boolean): Breakage =>
  () => ({
    onResponse: (call, result) =>
      is(call, 'eth_getLogs') ? { result: (result as Log[]).filter((log) => !isLacking(Number(log.blockNumber))) } : undefined,
  });

/** It has not got the newest blocks yet. @param hasHead whether another node of its load balancer answers `eth_blockNumber` */
export const behind =
  (blocks: number, hasHead = false): Breakage =>
  (rpcUrl) => {
    const getHead = async () => Number(await callJsonRpc<Hex>(rpcUrl, 'eth_blockNumber')) - blocks;
    const ask = async ({ method }: RpcCall, ...params: unknown[]) => ({ result: await callJsonRpc(rpcUrl, method, ...params) });
    return {
      onRequest: async (call) => {
        const { method, params } = call;
        const head = await getHead();
        if (method === 'eth_blockNumber') return hasHead ? undefined : { result: numberToHex(head) };
        if (method === 'eth_getBlockByNumber') {
          if (params[0] === 'latest' || params[0] === 'pending') return ask(call, numberToHex(head), params[1]);
          return Number(params[0]) > head ? { result: null } : undefined;
        }
        if (method === 'eth_getLogs') {
          const [filter] = params as [Filter];
          if (Number(filter.fromBlock) > head) return { result: [] };
          return ask(call, { ...filter, toBlock: numberToHex(Math.min(head, Number(filter.toBlock))) });
        }
        const at = { eth_call: 1, eth_getTransactionCount: 1, eth_getCode: 1, eth_getBalance: 1 }[method];
        if (at === undefined) return undefined;
        const name = params[at] ?? 'latest';
        if (typeof name === 'string' && name.startsWith('0x')) return Number(name) > head ? reject('header not found') : undefined;
        return ask(call, ...params.slice(0, at), numberToHex(head));
      },
      onResponse: async (call, result) => {
        const mined = result as { blockNumber?: Hex } | null;
        if (!is(call, 'eth_getTransactionReceipt', 'eth_getTransactionByHash') || mined?.blockNumber == null) return undefined;
        return Number(mined.blockNumber) > (await getHead()) ? { result: null } : undefined;
      },
    };
  };

/** It rejects events of more blocks at once. */
export const rangeLimit =
  (blocks: number): Breakage =>
  () => ({
    onRequest: (call) => {
      if (!is(call, 'eth_getLogs')) return undefined;
      const [{ fromBlock, toBlock }] = call.params as [Filter];
      return Number(toBlock) - Number(fromBlock) + 1 > blocks ? reject(`block range exceeds ${blocks}`) : undefined;
    },
  });

const noPriorityFee =
  (answer: Interference): Breakage =>
  () => ({ onRequest: (call) => (is(call, 'eth_maxPriorityFeePerGas') ? answer : undefined) });

const nullReceipts: Breakage = () => ({
  onResponse: (call) => (is(call, 'eth_getTransactionReceipt') ? { result: null } : undefined),
});

/** Its first answer to each method is an error. */
const errsOnce: Breakage = () => {
  const asked = new Set<string>();
  return {
    onRequest: ({ method }) => {
      if (asked.has(method)) return undefined;
      asked.add(method);
      return { error: { code: -32_603, message: 'internal error' } };
    },
  };
};

const dropsBatches: Breakage = () => ({ onRequest: (call) => (Array.isArray(call) ? 'drop' : undefined) });

/** It answers with the block before the one that was asked for. */
const otherBlock: Breakage = (rpcUrl) => ({
  onRequest: async (call) => {
    if (!is(call, 'eth_getBlockByNumber')) return undefined;
    const [name, full] = call.params as [string, boolean];
    if (!(Number(name) > 0)) return undefined;
    return { result: await callJsonRpc(rpcUrl, call.method, numberToHex(Number(name) - 1), full) };
  },
});

const nullLogs: Breakage = () => ({ onResponse: (call) => (is(call, 'eth_getLogs') ? { result: null } : undefined) });

/** By name, for tests of everything that reads or writes a chain: the result is right, or an error says that the chain is unreachable. */
export const BROKEN_ENDPOINTS = {
  'answers all': answersAll,
  'is 3 blocks behind': behind(3),
  'has a node that is 3 blocks behind': behind(3, true),
  'takes ranges of 2,000 blocks': rangeLimit(2_000),
  'takes ranges of 500 blocks': rangeLimit(500),
  'takes ranges of 10 blocks': rangeLimit(10),
  'has null as priority fee': noPriorityFee({ result: null }),
  'has no priority fee': noPriorityFee({ error: { code: -32_601, message: 'the method does not exist' } }),
  'has no receipts': nullReceipts,
  'errs once in each method': errsOnce,
  'drops batches': dropsBatches,
  'answers with another block': otherBlock,
  'has null as events': nullLogs,
} as const satisfies Record<string, Breakage>;

/** Where the words of an attestation's data begin in what `getAttestation` answers: behind its ten fields and two lengths. */
export const DATA_WORD = 12;
/** Of a prediction. */
export const RESOLVES_AT = DATA_WORD + 4;

/** A node that alters one word of each attestation of the node behind it. */
export function lyingNode(rpcUrl: string, word: number) {
  const last = 2 + 64 * (word + 1) - 1;
  const changed = (result: string) => result.slice(0, last) + (result[last] === '0' ? '1' : '0') + result.slice(last + 1);
  const isAttestation = (result: unknown): result is string => typeof result === 'string' && result.length > last;
  return rpcProxy(rpcUrl, {
    // A batch would pass as it is; without one, clients ask for each by itself.
    onRequest: (call) => (Array.isArray(call) ? 'drop' : undefined),
    onResponse: (_, result) => (isAttestation(result) ? { result: changed(result) } : undefined),
  });
}
