import { readFileSync } from 'node:fs';
import { type Abi, type Address, encodeDeployData, getContractAddress, type Hex, type LocalAccount } from 'viem';
import { callJsonRpc, sendTransactions } from '../../../src/dev/local-chain/contracts.ts';

const PATH = '../../../contracts/compiled/test-only/EvaluatorlessCommerce.json';
const CONTRACT = JSON.parse(readFileSync(new URL(PATH, import.meta.url), 'utf8')) as { abi: Abi; bytecode: Hex };

export interface EvaluatorlessOptions {
  rpcUrl: string;
  payer: LocalAccount;
  stablecoin: Address;
  payOnSubmit: boolean;
}

/** A job contract that takes jobs without an evaluator, and pays them with the submission or not at all. */
export async function deployEvaluatorless({ rpcUrl, payer, stablecoin, payOnSubmit }: EvaluatorlessOptions): Promise<Address> {
  const nonce = BigInt(await callJsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', payer.address, 'latest'));
  await sendTransactions(rpcUrl, payer, [{ data: encodeDeployData({ ...CONTRACT, args: [stablecoin, payOnSubmit] }) }]);
  return getContractAddress({ from: payer.address, nonce });
}
