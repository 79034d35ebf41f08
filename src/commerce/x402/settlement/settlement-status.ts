import { getAbiItem, type Hash, isAddressEqual, type TransactionReceipt } from 'viem';
import type { Chain } from '../../../chain/client.ts';
import { readBlockDepth, readHead } from '../../../chain/rpc/block-depth.ts';
import { readBlockNumber } from '../../../chain/rpc/blocks.ts';
import { chainCall } from '../../../chain/rpc/chain-call.ts';
import { readLogs } from '../../../chain/rpc/logs.ts';
import { stablecoinAbi } from '../../../chain/stablecoin/stablecoin.ts';
import { parseStablecoinTransfers } from '../../../chain/stablecoin/transfers.ts';
import type { MerchantConfig } from '../../merchant-config.ts';
import type { Authorization } from '../protocol/payment-payload.ts';

/** A settlement at its confirmation depth. */
export interface ConfirmedSettlement {
  txHash: Hash;
  blockNumber: number;
  /** Block time. */
  at: Date;
}

const AUTHORIZATION_USED_EVENT = getAbiItem({ abi: stablecoinAbi, name: 'AuthorizationUsed' });
const AUTHORIZATION_CANCELED_EVENT = getAbiItem({ abi: stablecoinAbi, name: 'AuthorizationCanceled' });

/** `shallow`: used above the confirmation depth. `spent`: used without paying the merchant, final. `late`: expired, final. Null: unused. */
export type SettlementStatus = ConfirmedSettlement | 'shallow' | 'spent' | 'late' | null;

/** The chain is the only authority. A node's logs may lag: only found ones count. @param sinceBlock no earlier block can have used it */
export async function readSettlementStatus(
  chain: Chain,
  merchant: Pick<MerchantConfig, 'asset'>,
  { authorization, sinceBlock }: { authorization: Authorization; sinceBlock: number },
): Promise<SettlementStatus> {
  const head = await readBlockNumber(chain);
  if (!(await isAuthorizationUsedAt(chain, merchant, authorization, head)))
    return (await isExpiredAt(chain, authorization, head)) ? 'late' : null;
  const { from, nonce } = authorization;
  const query = { address: merchant.asset, args: { authorizer: from, nonce }, fromBlock: BigInt(Math.max(0, sinceBlock)), toBlock: head };
  const [used] = await readLogs(chain, { ...query, event: AUTHORIZATION_USED_EVENT });
  if (used !== undefined) return readTransactionSettlement(chain, merchant, { authorization, txHash: used.transactionHash });
  const [cancelled] = await readLogs(chain, { ...query, event: AUTHORIZATION_CANCELED_EVENT });
  return cancelled !== undefined && head - cancelled.blockNumber + 1n >= chain.confirmations ? 'spent' : 'shallow';
}

/** Whether the authorization has expired at the confirmation depth, after which no block can include it. */
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

export async function readTransactionSettlement(
  chain: Chain,
  merchant: Pick<MerchantConfig, 'asset'>,
  { authorization, txHash }: { authorization: Authorization; txHash: Hash },
): Promise<SettlementStatus> {
  const [receipt, head] = await Promise.all([
    chainCall('Reading a receipt', () => chain.client.getTransactionReceipt({ hash: txHash })),
    readHead(chain),
  ]);
  const { settledAt } = await readBlockDepth(chain, receipt, head);
  if (settledAt === null) return 'shallow';
  // The payer used the authorization otherwise, e.g. for a transfer to another wallet.
  if (!paysMerchant(receipt, merchant, authorization)) return 'spent';
  return { txHash, blockNumber: Number(receipt.blockNumber), at: settledAt };
}

/** Checks the authorization's own transfer: a transaction may use several authorizations and pay the merchant by one only. */
function paysMerchant({ logs }: TransactionReceipt, { asset }: Pick<MerchantConfig, 'asset'>, authorization: Authorization): boolean {
  const { from, to, value, nonce } = authorization;
  const own = parseStablecoinTransfers(logs, asset).find((transfer) => transfer.nonce === nonce && isAddressEqual(transfer.from, from));
  return own !== undefined && isAddressEqual(own.to, to) && own.value === value;
}
