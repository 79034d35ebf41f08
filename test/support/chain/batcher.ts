import { readFileSync } from 'node:fs';
import { type Abi, encodeFunctionData, getContractAddress, type Hex, type LocalAccount } from 'viem';
import { callJsonRpc, type LocalTransaction, sendTransactionsForHashes } from '../../../src/dev/local-chain/contracts.ts';

const BATCHER = JSON.parse(readFileSync(new URL('../../../contracts/compiled/test-only/Batcher.json', import.meta.url), 'utf8')) as {
  abi: Abi;
  bytecode: Hex;
};

/** Sends all calls in one transaction; gives its hash. */
export async function sendTogether(rpcUrl: string, from: LocalAccount, calls: Required<LocalTransaction>[]): Promise<Hex> {
  const nonce = BigInt(await callJsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', from.address, 'latest'));
  const to = getContractAddress({ from: from.address, nonce });
  const data = encodeFunctionData({ abi: BATCHER.abi, functionName: 'run', args: [calls] });
  const [, hash] = await sendTransactionsForHashes(rpcUrl, from, [{ data: BATCHER.bytecode }, { to, data }]);
  return hash!;
}
