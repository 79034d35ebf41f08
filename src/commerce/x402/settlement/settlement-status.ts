import { getAbiItem, type Hash, isAddressEqual, type TransactionReceipt } from 'viem';
import type { Chain } from '../../../chain/client.ts';
import { readBlockDepth } from '../../../chain/rpc/block-depth.ts';
import { chainCall } from '../../../chain/rpc/chain-call.ts';
import { readLogs } from '../../../chain/rpc/logs.ts';
import { stablecoinAbi } from '../../../chain/stablecoin/stablecoin.ts';
import { parseStablecoinTransfers } from '../../../chain/stablecoin/transfers.ts';
import type { MerchantConfig } from '../../merchant-config.ts';
import type { Authorization } from '../protocol/payment-payload.ts';

/** Money that has arrived, at its confirmation depth. */
export interface ConfirmedSettlement {
  txHash: Hash;
  blockNumber: number;
  /** Block time. */
  at: Date;
}

const AUTHORIZATION_USED_EVENT = getAbiItem({ abi: stablecoinAbi, name: 'AuthorizationUsed' });
const AUTHORIZATION_CANCELED_EVENT = getAbiItem({ abi: stablecoinAbi, name: 'AuthorizationCanceled' });

/**
 * What the chain says of an authorization. `shallow`: used, in a block that is not deep enough or not told of yet. `spent`: used for
 * good, and not to pay us. `late`: not used, and no block takes it any more. Null: not used.
 */
export type SettlementStatus = ConfirmedSettlement | 'shallow' | 'spent' | 'late' | null;

/**
 * Looks for an authorization on chain, whoever sent it there. The truth about every settlement: neither a facilitator nor our own
 * memory is asked. That nothing is found in the logs proves nothing, since those of a node may lag: only what is found counts.
 * @param sinceBlock when the payment came to us: it cannot have been used before
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function readSettlementStatus(
  chain: Chain,
  merchant: Pick<MerchantConfig, 'asset'>,
  { authorization, sinceBlock }: { authorization: Authorization; sinceBlock: number },
): Promise<SettlementStatus> {
  const head = await chainCall('Reading the block number', () => chain.client.getBlockNumber());
  if (!(await isAuthorizationUsedAt(chain, merchant, authorization, head)))
    return (await isExpiredAt(chain, authorization, head)) ? 'late' : null;
  const { from, nonce } = authorization;
  const query = { address: merchant.asset, args: { authorizer: from, nonce }, fromBlock: BigInt(Math.max(0, sinceBlock)), toBlock: head };
  const [used] = await readLogs(chain, { ...query, event: AUTHORIZATION_USED_EVENT });
  if (used !== undefined) return readTransactionSettlement(chain, merchant, { authorization, txHash: used.transactionHash });
  const [cancelled] = await readLogs(chain, { ...query, event: AUTHORIZATION_CANCELED_EVENT });
  return cancelled !== undefined && head - cancelled.blockNumber + 1n >= chain.confirmations ? 'spent' : 'shallow';
}

/** True once no block can take the authorization any more, at the confirmation depth below a head. */
async function isExpiredAt({ client, confirmations }: Chain, { validBefore }: Authorization, head: bigint): Promise<boolean> {
  const deep = head - BigInt(confirmations) + 1n;
  if (deep < 0n) return false;
  const { timestamp } = await chainCall('Reading the time of a block', () => client.getBlock({ blockNumber: deep }));
  return timestamp >= validBefore;
}

function isAuthorizationUsedAt(
  { client }: Chain,
  { asset }: Pick<MerchantConfig, 'asset'>,
  { from, nonce }: Authorization,
  blockNumber: bigint,
): Promise<boolean> {
  const call = { address: asset, abi: stablecoinAbi, functionName: 'authorizationState', args: [from, nonce], blockNumber } as const;
  return chainCall('Reading the state of an authorization', () => client.readContract(call));
}

export function isConfirmedSettlement(found: SettlementStatus): found is ConfirmedSettlement {
  return typeof found === 'object' && found !== null;
}

/** The same for a transaction that is said to have brought it. */
export async function readTransactionSettlement(
  chain: Chain,
  merchant: Pick<MerchantConfig, 'asset'>,
  { authorization, txHash }: { authorization: Authorization; txHash: Hash },
): Promise<SettlementStatus> {
  const receipt = await chainCall('Reading a receipt', () => chain.client.getTransactionReceipt({ hash: txHash }));
  const { settledAt } = await readBlockDepth(chain, receipt);
  if (settledAt === null) return 'shallow';
  // Used for a transfer to somebody else: the payer took it back that way.
  if (!paysMerchant(receipt, merchant, authorization)) return 'spent';
  return { txHash, blockNumber: Number(receipt.blockNumber), at: settledAt };
}

/** Its own transfer: one transaction may use several authorizations, and pay for one of them only. */
function paysMerchant(
  { logs }: TransactionReceipt,
  { asset }: Pick<MerchantConfig, 'asset'>,
  { from, to, value, nonce }: Authorization,
): boolean {
  const own = parseStablecoinTransfers(logs, asset).find((transfer) => transfer.nonce === nonce && isAddressEqual(transfer.from, from));
  return own !== undefined && isAddressEqual(own.to, to) && own.value === value;
}
