import { readFileSync } from 'node:fs';
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeErrorResult,
  getContractAddress,
  type Hex,
  type LocalAccount,
  parseAbi,
} from 'viem';
import { callJsonRpc, sendTransactions } from '../../../src/dev/local-chain/contracts.ts';

const CONTRACT = JSON.parse(
  readFileSync(new URL('../../../contracts/compiled/test-only/RevertingContract.json', import.meta.url), 'utf8'),
) as { abi: Abi; bytecode: Hex };

const lookupAbi = parseAbi(['error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callback, bytes extraData)']);

export interface Deployment {
  rpcUrl: string;
  /** Pays for the deployment. */
  payer: LocalAccount;
}

/** Deploys a contract that reverts every call with the data of `revertDataOf(its own address)`. */
async function deployReverting({ rpcUrl, payer }: Deployment, revertDataOf: (self: Address) => Hex): Promise<Address> {
  const nonce = BigInt(await callJsonRpc<Hex>(rpcUrl, 'eth_getTransactionCount', payer.address, 'latest'));
  const address = getContractAddress({ from: payer.address, nonce });
  await sendTransactions(rpcUrl, payer, [{ data: encodeDeployData({ ...CONTRACT, args: [revertDataOf(address)] }) }]);
  return address;
}

/** A contract that answers every call with an EIP-3668 lookup of these URLs. */
export function deployOffchainLookup(deployment: Deployment, urls: readonly string[]): Promise<Address> {
  return deployReverting(deployment, (self) =>
    encodeErrorResult({ abi: lookupAbi, errorName: 'OffchainLookup', args: [self, [...urls], '0x', '0x12345678', '0x'] }),
  );
}

/** A contract that reverts every call with `Error(text)`. */
export function deployRevertingWith(deployment: Deployment, text: string): Promise<Address> {
  return deployReverting(deployment, () => encodeErrorResult({ abi: parseAbi(['error Error(string)']), errorName: 'Error', args: [text] }));
}
