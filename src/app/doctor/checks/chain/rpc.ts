import type { Chain } from '../../../../chain/client.ts';
import { readBlockNumber } from '../../../../chain/rpc/blocks.ts';
import { chainCall } from '../../../../chain/rpc/chain-call.ts';
import { describeNewestBlock } from '../../../../pipeline/readiness.ts';
import { createEvmReader } from '../../../../platform/outbound/evm-client.ts';
import type { Check, DoctorDeps } from '../../check.ts';
import { type Finding, fail, ok, orFinding, warn } from '../../finding.ts';

/** As the service asks for them. */
const LOG_BLOCKS = 5_000n;
/** States of the last hours are read to find a nonce that another program has used: two hours of Base. */
const STATE_BLOCKS = 3_600n;
const OTHER_ENDPOINT = 'Set CHAIN_RPC_URL to another endpoint of the chain.';

/** Chain id, age of the newest block, and everything that the service asks an endpoint for. */
export const rpcCheck: Check = {
  id: 'rpc',
  title: 'Chain endpoint',
  needs: ['CHAIN_RPC_URL', 'CHAIN_ID'],
  needsTarget: true,
  async run(deps) {
    const chain = await deps.chain().catch((error: unknown) => error);
    if (!isChain(chain)) return orFinding(() => Promise.reject(chain), { isPermanent: true });
    const isLocal = deps.config.chainMode !== 'real';
    const checks = [
      orFinding(async () => ok(`chain ${chain.chainId}, ${await describeNewestBlock({ chain, localChain: isLocal, now: deps.now })}`), {
        action: OTHER_ENDPOINT,
        isPermanent: true,
      }),
      orFinding(() => checkFees(chain)),
      ...(isLocal ? [] : [orFinding(() => checkFinality(chain)), orFinding(() => checkLogs(chain)), orFinding(() => checkStates(chain))]),
      orFinding(() => checkPublicEndpoint(deps, chain)),
    ];
    return (await Promise.all(checks)).flat();
  },
};

const isChain = (value: unknown): value is Chain => typeof value === 'object' && value !== null && 'client' in value;

async function checkFees({ client }: Chain): Promise<Finding> {
  const { maxFeePerGas } = await chainCall('Reading the fees', () => client.estimateFeesPerGas());
  return ok(`fee data: at most ${Number(maxFeePerGas) / 1e9} gwei now`);
}

async function checkFinality(chain: Chain): Promise<Finding> {
  const [head, final] = await Promise.all([
    readBlockNumber(chain),
    chainCall('Reading the finalized block', () => chain.client.getBlock({ blockTag: 'finalized' })),
  ]);
  return ok(`finalized up to ${head - final.number!} blocks before the newest; ${chain.confirmations} confirmations count`);
}

async function checkLogs(chain: Chain): Promise<Finding> {
  const head = await readBlockNumber(chain);
  const range = { fromBlock: head > LOG_BLOCKS ? head - LOG_BLOCKS + 1n : 0n, toBlock: head };
  await chainCall('Reading events', () => chain.client.getLogs({ address: chain.addresses.eas, ...range, topics: [null] } as never));
  return ok(`eth_getLogs answers over ${range.toBlock - range.fromBlock + 1n} blocks`);
}

async function checkStates(chain: Chain): Promise<Finding> {
  const head = await readBlockNumber(chain);
  const blockNumber = head > STATE_BLOCKS ? head - STATE_BLOCKS : 0n;
  try {
    await chain.client.getBalance({ address: chain.addresses.eas, blockNumber });
    return ok(`states of ${head - blockNumber} blocks ago are there; no archive is needed`);
  } catch {
    return warn(
      `states of ${head - blockNumber} blocks ago are gone: a nonce that another program has used cannot be found`,
      OTHER_ENDPOINT,
    );
  }
}

/** The endpoint that verifiers are given. */
async function checkPublicEndpoint({ config }: DoctorDeps, { chainId }: Chain): Promise<Finding[]> {
  const rpcUrl = config.PUBLIC_RPC_URL;
  if (config.chainMode !== 'real' || rpcUrl === undefined) return [];
  const reader = createEvmReader({ rpcUrl, timeoutMs: 5_000, retryCount: 0, retryDelayMs: 0 });
  const found = await chainCall('Asking PUBLIC_RPC_URL for its chain id', () => reader.getChainId());
  if (found === chainId) return [ok(`PUBLIC_RPC_URL serves chain ${found} too`)];
  return [
    fail(`PUBLIC_RPC_URL serves chain ${found}, the record is on ${chainId}`, {
      action: 'Set PUBLIC_RPC_URL to an endpoint of the chain.',
    }),
  ];
}
