import { type Hash, isAddressEqual, type TransactionReceipt } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { readLogs } from '../../chain/logs.ts';
import { chainCall } from '../../chain/rpc-error.ts';
import { settledBlock } from '../../chain/settled-block.ts';
import { signedTransfers } from '../../chain/signed-transfers.ts';
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
 * What the chain says of an authorization. `shallow`: used in a block that is not deep enough yet. `spent`: used for good, and not to
 * pay us, as where its payer has cancelled it. Null: not used.
 */
export type Fate = Landed | 'shallow' | 'spent' | null;

/**
 * Looks for an authorization on chain, whoever sent it there. The truth about every settlement: neither a facilitator nor our own
 * memory is asked.
 * @param sinceBlock when the payment came to us: it cannot have been used before
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function landed(
  chain: Chain,
  till: Pick<Till, 'asset'>,
  { authorization, sinceBlock }: { authorization: Authorization; sinceBlock: number },
): Promise<Fate> {
  const head = await chainCall('Reading the block number', () => chain.client.getBlockNumber());
  if (!(await isUsedAt(chain, till, authorization, head))) return null;
  const { from, nonce } = authorization;
  const range = { fromBlock: BigInt(Math.max(0, sinceBlock)), toBlock: head };
  const [log] = await readLogs(chain, { address: till.asset, event: USED, args: { authorizer: from, nonce }, ...range });
  if (log !== undefined) return landedIn(chain, till, { authorization, txHash: log.transactionHash });
  const deep = head - BigInt(chain.confirmations) + 1n;
  return deep >= 0n && (await isUsedAt(chain, till, authorization, deep)) ? 'spent' : 'shallow';
}

function isUsedAt(
  { client }: Chain,
  { asset }: Pick<Till, 'asset'>,
  { from, nonce }: Authorization,
  blockNumber: bigint,
): Promise<boolean> {
  const call = { address: asset, abi: stablecoinAbi, functionName: 'authorizationState', args: [from, nonce], blockNumber } as const;
  return chainCall('Reading the state of an authorization', () => client.readContract(call));
}

export function isLanded(found: Fate): found is Landed {
  return typeof found === 'object' && found !== null;
}

/** False once no block can take the authorization any more, at the confirmation depth. @throws OracleError CHAIN_UNREACHABLE */
export async function canStillLand(
  { client, confirmations }: Chain,
  { validBefore }: Pick<Authorization, 'validBefore'>,
): Promise<boolean> {
  const head = await chainCall('Reading the block number', () => client.getBlockNumber());
  const deep = head - BigInt(confirmations) + 1n;
  if (deep < 0n) return true;
  const { timestamp } = await chainCall('Reading the time of a block', () => client.getBlock({ blockNumber: deep }));
  return timestamp < validBefore;
}

/** The same for a transaction that is said to have brought it. */
export async function landedIn(
  chain: Chain,
  till: Pick<Till, 'asset'>,
  { authorization, txHash }: { authorization: Authorization; txHash: Hash },
): Promise<Fate> {
  const receipt = await chainCall('Reading a receipt', () => chain.client.getTransactionReceipt({ hash: txHash }));
  const { settledAt } = await settledBlock(chain, receipt);
  if (settledAt === null) return 'shallow';
  // Used for a transfer to somebody else: the payer took it back that way.
  if (!pays(receipt, till, authorization)) return 'spent';
  return { txHash, blockNumber: Number(receipt.blockNumber), at: settledAt };
}

/** Its own transfer: one transaction may use several authorizations, and pay for one of them only. */
function pays({ logs }: TransactionReceipt, { asset }: Pick<Till, 'asset'>, { from, to, value, nonce }: Authorization): boolean {
  const own = signedTransfers(logs, asset).find((transfer) => transfer.nonce === nonce && isAddressEqual(transfer.from, from));
  return own !== undefined && isAddressEqual(own.to, to) && own.value === value;
}
