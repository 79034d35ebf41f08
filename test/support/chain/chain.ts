import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Hex, LocalAccount } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type Chain, type ChainOptions, createChain } from '../../../src/chain/client.ts';
import type { WalletRole } from '../../../src/chain/wallet.ts';
import { startAnvil } from '../../../src/dev/local-chain/anvil.ts';
import { callJsonRpc, deployContracts, fundGas, type LocalAddresses } from '../../../src/dev/local-chain/contracts.ts';
import { LOCAL_CHAIN_ID } from '../../../src/settings.ts';

export type TestRole = WalletRole | 'stranger';

export interface TestChain {
  rpcUrl: string;
  /** Of anvil. */
  pid: number;
  chainId: number;
  addresses: LocalAddresses;
  /** Deployed the contracts and holds the gate tokens. */
  deployer: LocalAccount;
  /** Random keys with gas money. `keys` is for processes under test. */
  accounts: Record<TestRole, LocalAccount>;
  keys: Record<TestRole, Hex>;
  rpc<T = unknown>(method: string, ...params: unknown[]): Promise<T>;
  mine(blocks?: number): Promise<void>;
  /** Whether each transaction gets a block at once; on by default. */
  automine(on: boolean): Promise<void>;
  /** Resolves to a function that takes the chain back, once. */
  snapshot(): Promise<() => Promise<void>>;
  /** A connection with 1 confirmation and a quick poll. */
  connect(options?: Partial<ChainOptions>): Promise<Chain>;
  stop(): Promise<void>;
}

const ROLES: TestRole[] = ['attester', 'reporter', 'facilitator', 'provider', 'stranger'];

/** A chain of its own with all contracts deployed, for one suite; it ends with the test process at the latest. */
export async function testChain({ genesisTimestamp }: { genesisTimestamp?: number } = {}): Promise<TestChain> {
  const anvil = await startAnvil({ chainId: LOCAL_CHAIN_ID, ...(genesisTimestamp !== undefined && { genesisTimestamp }) });
  const { rpcUrl } = anvil;
  const release = killWithThisProcess(anvil.pid);
  const rpc = <T>(method: string, ...params: unknown[]) => callJsonRpc<T>(rpcUrl, method, ...params);
  const deployer = privateKeyToAccount(generatePrivateKey());
  const addresses = await deployContracts(rpcUrl, deployer);
  const keys = forRoles(() => generatePrivateKey());
  const accounts = forRoles((role) => privateKeyToAccount(keys[role]));
  await fundGas(
    rpcUrl,
    ROLES.map((role) => accounts[role].address),
  );
  return {
    ...{ rpcUrl, pid: anvil.pid, chainId: LOCAL_CHAIN_ID, addresses, deployer, accounts, keys, rpc },
    mine: async (blocks = 1) => {
      for (let block = 0; block < blocks; block += 1) await rpc('evm_mine');
    },
    automine: async (on) => {
      await rpc('evm_setAutomine', on);
    },
    snapshot: async () => {
      const id = await rpc('evm_snapshot');
      return async () => {
        await rpc('evm_revert', id);
      };
    },
    connect: (options) => createChain({ rpcUrl, chainId: LOCAL_CHAIN_ID, confirmations: 1, pollingIntervalMs: 20, addresses, ...options }),
    stop: () => {
      release();
      return anvil.kill();
    },
  };
}

/** A shell that waits for the end of its input, which comes with ours, however we end. */
function killWithThisProcess(pid: number): () => void {
  const shell = spawn('/bin/sh', ['-c', `read -r _; kill -9 ${pid}`], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  shell.unref();
  (shell.stdin as Socket).unref();
  return () => void shell.kill();
}

function forRoles<T>(make: (role: TestRole) => T): Record<TestRole, T> {
  return Object.fromEntries(ROLES.map((role) => [role, make(role)])) as Record<TestRole, T>;
}
