import { type Hash, isAddressEqual, parseEventLogs, type TransactionReceipt } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { readLogs } from '../../chain/logs.ts';
import { chainCall } from '../../chain/rpc-error.ts';
import { stablecoinAbi } from '../../chain/stablecoin.ts';
import type { Till } from '../till.ts';
import type { Authorization } from './payload.ts';

/** Money that has arrived, at its confirmation depth. */
export interface Landed {
  txHash: Hash;
  blockNumber: number;
  /** Block time. */
  at: Date;
}

const USED = stablecoinAbi.find((item) => item.type === 'event' && item.name === 'AuthorizationUsed')!;

/**
 * What the chain says of an authorization, whoever sent it there: where it paid us, `shallow` before that block is deep enough, null
 * where it is not used. The truth about every settlement: neither a facilitator nor our own memory is asked.
 * @param sinceBlock when the payment came to us: it cannot have been used before
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function landed(
  chain: Chain,
  till: Pick<Till, 'asset'>,
  { authorization, sinceBlock }: { authorization: Authorization; sinceBlock: number },
): Promise<Landed | 'shallow' | null> {
  const { client } = chain;
  const { from, nonce } = authorization;
  const head = await chainCall('Reading the block number', () => client.getBlockNumber());
  const call = {
    address: till.asset,
    abi: stablecoinAbi,
    functionName: 'authorizationState',
    args: [from, nonce],
    blockNumber: head,
  } as const;
  const isUsed = await chainCall('Reading the state of an authorization', () => client.readContract(call));
  if (!isUsed) return null;
  const range = { fromBlock: BigInt(Math.max(0, sinceBlock)), toBlock: head };
  const [log] = await readLogs(chain, { address: till.asset, event: USED, args: { authorizer: from, nonce }, ...range });
  // The payer has cancelled it.
  if (log === undefined) return null;
  return paymentIn(chain, till, { authorization, txHash: log.transactionHash, head });
}

export function isLanded(found: Landed | 'shallow' | null): found is Landed {
  return found !== null && found !== 'shallow';
}

/** False once no block can take the authorization any more, at the confirmation depth. @throws OracleError CHAIN_UNREACHABLE */
export async function canStillLand(
  { client, confirmations }: Chain,
  { validBefore }: Pick<Authorization, 'validBefore'>,
): Promise<boolean> {
  const head = await chainCall('Reading the block number', () => client.getBlockNumber());
  const depth = head - BigInt(confirmations) + 1n;
  if (depth < 0n) return true;
  const { timestamp } = await chainCall('Reading the time of a block', () => client.getBlock({ blockNumber: depth }));
  return timestamp < validBefore;
}

/** The same for a transaction that is said to have brought it. */
export async function landedIn(chain: Chain, till: Pick<Till, 'asset'>, mined: Omit<Mined, 'head'>): Promise<Landed | 'shallow' | null> {
  const head = await chainCall('Reading the block number', () => chain.client.getBlockNumber());
  return paymentIn(chain, till, { ...mined, head });
}

interface Mined {
  authorization: Authorization;
  txHash: Hash;
  /** Read before the receipt: a block that is canonical afterwards is as deep as that. */
  head: bigint;
}

async function paymentIn(
  chain: Chain,
  till: Pick<Till, 'asset'>,
  { authorization, txHash, head }: Mined,
): Promise<Landed | 'shallow' | null> {
  const { client, confirmations } = chain;
  const receipt = await chainCall('Reading a receipt', () => client.getTransactionReceipt({ hash: txHash }));
  if (head - receipt.blockNumber + 1n < confirmations) return 'shallow';
  const block = await chainCall('Reading the block of a payment', () => client.getBlock({ blockNumber: receipt.blockNumber }));
  if (block.hash !== receipt.blockHash) return 'shallow';
  // Used for a transfer to somebody else: the payer took it back that way.
  if (!pays(receipt, till, authorization)) return null;
  return { txHash, blockNumber: Number(receipt.blockNumber), at: new Date(Number(block.timestamp) * 1_000) };
}

function pays({ logs }: TransactionReceipt, { asset }: Pick<Till, 'asset'>, { from, to, value }: Authorization): boolean {
  const ours = logs.filter(({ address }) => isAddressEqual(address, asset));
  return parseEventLogs({ abi: stablecoinAbi, eventName: 'Transfer', logs: ours }).some(
    ({ args }) => isAddressEqual(args.from, from) && isAddressEqual(args.to, to) && args.value === value,
  );
}
