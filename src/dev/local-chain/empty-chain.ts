import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { createJsonSplitter } from './rpc/json-splitter.ts';

/**
 * Anvil recomputes the root of the whole state for each block, and forks skip that: the local chain is a fork of a chain without content, so
 * that a block costs the same at any age. Storage slots that anvil has not seen are read from here, one by one.
 */
export interface EmptyChain {
  close(): void;
}

interface RpcRequest {
  id: unknown;
  method: string;
  params?: unknown[];
}

const ZERO_WORD = `0x${'0'.repeat(64)}`;
const EMPTY_TRIE = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';
/** Of no network that anvil knows: with the id of a rollup it would behave as one. */
const CHAIN_ID = '0x7a69';
const GAS_LIMIT = '0x1c9c380';
/** Deterministic deployment proxy, which anvil creates on chains that are no forks. */
const CREATE2_PROXY = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
const CREATE2_PROXY_CODE =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3';

/** @param path of its Unix domain socket @param genesisTimestamp Unix seconds of block 0, the only one */
export async function serveEmptyChain(path: string, genesisTimestamp: number): Promise<EmptyChain> {
  const genesis = buildGenesis(genesisTimestamp);
  const server = createServer((socket) => {
    const split = createJsonSplitter((text) => socket.write(`${JSON.stringify(answerBody(JSON.parse(text), genesis))}\n`));
    socket.setEncoding('utf8').on('data', split);
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((listening, failed) => server.once('error', failed).listen(path, listening));
  return { close: () => void server.close() };
}

type Genesis = ReturnType<typeof buildGenesis>;

function buildGenesis(timestamp: number) {
  const hash = createHash('sha256').update(`local chain from ${timestamp}`).digest('hex');
  return {
    number: '0x0',
    hash: `0x${hash}`,
    parentHash: ZERO_WORD,
    mixHash: ZERO_WORD,
    nonce: '0x0000000000000000',
    sha3Uncles: NO_UNCLES,
    logsBloom: `0x${'0'.repeat(512)}`,
    transactionsRoot: EMPTY_TRIE,
    stateRoot: EMPTY_TRIE,
    receiptsRoot: EMPTY_TRIE,
    withdrawalsRoot: EMPTY_TRIE,
    parentBeaconBlockRoot: ZERO_WORD,
    miner: `0x${'0'.repeat(40)}`,
    difficulty: '0x0',
    totalDifficulty: '0x0',
    extraData: '0x',
    size: '0x21a',
    gasLimit: GAS_LIMIT,
    gasUsed: '0x0',
    blobGasUsed: '0x0',
    excessBlobGas: '0x0',
    baseFeePerGas: '0x989680',
    timestamp: `0x${timestamp.toString(16)}`,
    transactions: [],
    uncles: [],
    withdrawals: [],
  };
}

function answerBody(body: RpcRequest | RpcRequest[], genesis: Genesis): unknown {
  return Array.isArray(body) ? body.map((request) => answerRequest(request, genesis)) : answerRequest(body, genesis);
}

function answerRequest({ id, method, params = [] }: RpcRequest, genesis: Genesis): unknown {
  const answer = ANSWERS[method];
  if (answer === undefined) return { jsonrpc: '2.0', id, error: { code: -32_601, message: `${method} is not answered by an empty chain` } };
  return { jsonrpc: '2.0', id, result: answer(params, genesis) };
}

const ANSWERS: Record<string, (params: unknown[], genesis: Genesis) => unknown> = {
  eth_chainId: () => CHAIN_ID,
  net_version: () => String(Number(CHAIN_ID)),
  eth_blockNumber: () => '0x0',
  eth_gasPrice: (_, { baseFeePerGas }) => baseFeePerGas,
  eth_getBlockByNumber: ([number], genesis) => (Number(number) > 0 ? null : genesis),
  eth_getBlockByHash: ([hash], genesis) => (hash === genesis.hash ? genesis : null),
  eth_getBalance: () => '0x0',
  eth_getTransactionCount: () => '0x0',
  eth_getCode: ([address]) => (String(address).toLowerCase() === CREATE2_PROXY.toLowerCase() ? CREATE2_PROXY_CODE : '0x'),
  eth_getStorageAt: () => ZERO_WORD,
  eth_getLogs: () => [],
  eth_getTransactionByHash: () => null,
  eth_getTransactionReceipt: () => null,
  eth_getBlockReceipts: () => [],
};
