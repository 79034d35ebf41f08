import {
  type Address,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  type LocalAccount,
  parseAbi,
  parseEventLogs,
  zeroAddress,
  zeroHash,
} from 'viem';
import { agentCommerceAbi } from '../../../src/chain/erc8183.ts';
import { waitForReceipt } from '../chain/mined.ts';

/** Everything that the parties of a job call, and what the local contract's errors are called. */
export const commerceAbi = [
  ...agentCommerceAbi,
  ...parseAbi([
    'function createJob(address provider, address evaluator, uint256 expiredAt, string description, address hook) returns (uint256)',
    'function setProvider(uint256 jobId, address provider)',
    'function fund(uint256 jobId, uint256 expectedBudget, bytes optParams)',
    'function complete(uint256 jobId, bytes32 reason, bytes optParams)',
    'function reject(uint256 jobId, bytes32 reason, bytes optParams)',
    'function claimRefund(uint256 jobId)',
    'function jobCounter() view returns (uint256)',
    'error InvalidJob()',
    'error WrongStatus()',
    'error Unauthorized()',
    'error ZeroAddress()',
    'error ExpiryTooShort()',
    'error ZeroBudget()',
    'error BudgetMismatch()',
    'error ProviderNotSet()',
    'error NotExpired()',
  ]),
] as const;

export const coinAbi = parseAbi([
  'function mint(address to, uint256 value)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

export interface JobWorld {
  rpcUrl: string;
  contract: Address;
  stablecoin: Address;
  provider: Address;
}

export interface NewJob {
  provider: Address;
  evaluator: Address;
  /** From the time of the newest block. */
  expiresInSeconds: number;
  description: string;
  hook: Address;
}

export type JobClient = ReturnType<typeof jobClient>;

/** A party of agent commerce jobs, in plain viem; every call waits until it is mined. */
export function jobClient({ rpcUrl, contract, stablecoin, provider }: JobWorld, account: LocalAccount) {
  const transport = http(rpcUrl);
  const reader = createPublicClient({ transport, cacheTime: 0 });
  const writer = createWalletClient({ account, transport });
  const mined = (hash: Hex) => waitForReceipt(reader, hash);
  type Call = Parameters<typeof writer.writeContract>[0];
  const call = async (functionName: string, args: unknown[], address = contract) => {
    const abi = address === contract ? commerceAbi : coinAbi;
    return mined(await writer.writeContract({ address, abi, functionName, args, chain: null, gas: 1_000_000n } as unknown as Call));
  };

  return {
    address: account.address,
    call,
    async create(job: Partial<NewJob> = {}): Promise<bigint> {
      const { timestamp } = await reader.getBlock();
      const { evaluator = account.address, expiresInSeconds = 3_600, hook = zeroAddress } = job;
      const description = job.description ?? '{"offering":"svc_bitcoin_signal"}';
      const expiredAt = timestamp + BigInt(expiresInSeconds);
      const receipt = await call('createJob', [job.provider ?? provider, evaluator, expiredAt, description, hook]);
      return parseEventLogs({ abi: agentCommerceAbi, eventName: 'JobCreated', logs: receipt.logs })[0].args.jobId;
    },
    async fund(jobId: bigint, amount: bigint) {
      await call('mint', [account.address, amount], stablecoin);
      await call('approve', [contract, amount], stablecoin);
      return call('fund', [jobId, amount, '0x']);
    },
    complete: (jobId: bigint) => call('complete', [jobId, zeroHash, '0x']),
    reject: (jobId: bigint) => call('reject', [jobId, zeroHash, '0x']),
    job: (jobId: bigint) => reader.readContract({ address: contract, abi: commerceAbi, functionName: 'getJob', args: [jobId] }),
    coins: (owner: Address) => reader.readContract({ address: stablecoin, abi: coinAbi, functionName: 'balanceOf', args: [owner] }),
  };
}
