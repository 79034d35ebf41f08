import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { x402Client } from '@x402/fetch';
import { type Address, createWalletClient, erc20Abi, type Hash, type Hex, http, publicActions } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { StepFailed } from './narrate.ts';

/** DATA_DIR/demo.json, which `npm start` writes for trying the service on its local chain. */
interface DemoFile {
  rpcUrl: string;
  chainId: number;
  contracts: { eas: Address; stablecoin: Address; agentCommerce: Address | null };
  wallets: { buyer: { address: Address; privateKey: Hex } };
}

/** No single answer may cost more than this, whatever a service asks for: 0.05 USD. */
const MAX_UNITS_PER_CALL = 50_000n;

export type Chain = ReturnType<typeof chainOf>;

/** An agent with a wallet, and without an account anywhere. */
export interface Agent {
  /** The service that it deals with. */
  service: string;
  account: PrivateKeyAccount;
  /** Of `account`, for clients that take a key. */
  privateKey: Hex;
  chain: Chain;
  chainId: number;
  contracts: DemoFile['contracts'];
  /** Signs payments that come with a request. */
  payer: x402Client;
  /** What it has paid so far, in units of the stablecoin (6 decimals). */
  spent: bigint;
}

export async function createAgent({ service, dataDir }: { service: string; dataDir: string }): Promise<Agent> {
  const { rpcUrl, chainId, contracts, wallets } = await readDemoFile(dataDir);
  const account = privateKeyToAccount(wallets.buyer.privateKey);
  return {
    ...{ service, account, privateKey: wallets.buyer.privateKey, chainId, contracts, spent: 0n },
    chain: chainOf(rpcUrl, account),
    payer: payerOf(account, contracts.stablecoin),
  };
}

async function readDemoFile(dataDir: string): Promise<DemoFile> {
  const path = join(dataDir, 'demo.json');
  try {
    return JSON.parse(await readFile(path, 'utf8')) as DemoFile;
  } catch {
    throw new StepFailed(`${path} cannot be read`, 'Run npm start first, or name its folder with --data-dir.');
  }
}

function chainOf(rpcUrl: string, account: PrivateKeyAccount) {
  return createWalletClient({ account, transport: http(rpcUrl), pollingInterval: 100, cacheTime: 0 }).extend(publicActions);
}

/** The payer rejects unknown coins, and amounts above its limit. */
function payerOf(account: PrivateKeyAccount, asset: Address): x402Client {
  const client = registerExactEvmScheme(new x402Client(), { signer: account });
  const limit = { asset, maxAmountPerPayment: MAX_UNITS_PER_CALL.toString() };
  return client.setSpendControls({
    allowedAssets: [
      { ...limit, network: 'eip155:*' },
      { ...limit, network: 'base-sepolia' as `${string}:${string}` },
    ],
  });
}

/** Units of the stablecoin that the agent holds. */
export function balanceOf({ chain, account, contracts }: Agent): Promise<bigint> {
  return chain.readContract({ address: contracts.stablecoin, abi: erc20Abi, functionName: 'balanceOf', args: [account.address] });
}

/** Sends a transaction and waits until it is in a block. */
export async function send({ chain }: Agent, what: string, { to, data }: { to: Address; data: Hex }): Promise<Hash> {
  const hash = await chain.sendTransaction({ to, data, chain: null });
  const { status } = await chain.waitForTransactionReceipt({ hash });
  if (status !== 'success')
    throw new StepFailed(`${what} failed on chain (${hash})`, 'Look at the transaction; is there enough ETH and USDC?');
  return hash;
}
