import { authorizationTypes } from '@x402/evm';
import { type Address, getAbiItem, type Hash, isAddressEqual, recoverTypedDataAddress, type TransactionReceipt } from 'viem';
import { type Chain, readBlockDepth, readHead } from '../../chain/client.ts';
import { expandSignature } from '../../chain/contracts.ts';
import { chainCall, readBlockNumber, readLogs } from '../../chain/rpc.ts';
import { parseStablecoinTransfers, stablecoinAbi } from '../../chain/stablecoin.ts';
import { type MinedBlock, toMinedBlock } from '../../chain/wallet.ts';
import type { MerchantConfig } from '../offerings.ts';
import type { Authorization, ParsedPayment } from './payload.ts';
import type { PaymentRequirements } from './terms.ts';

/** A settlement at its confirmation depth. */
export interface ConfirmedSettlement {
  txHash: Hash;
  block: MinedBlock;
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
  const { from, nonce } = authorization;
  const address = merchant.asset;
  const state = { address, abi: stablecoinAbi, functionName: 'authorizationState', args: [from, nonce], blockNumber: head } as const;
  const isUsed = await chainCall('Reading the state of an authorization', () => chain.client.readContract(state));
  if (!isUsed) return (await isExpiredAt(chain, authorization, head)) ? 'late' : null;
  const query = { address, args: { authorizer: from, nonce }, fromBlock: BigInt(Math.max(0, sinceBlock)), toBlock: head };
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
  if (!paysMerchant(receipt, merchant.asset, authorization)) return 'spent';
  return { txHash, block: toMinedBlock(receipt), at: settledAt };
}

/** Checks the authorization's own transfer: a transaction may use several authorizations and pay the merchant by one only. */
function paysMerchant({ logs }: TransactionReceipt, asset: Address, { from, to, value, nonce }: Authorization): boolean {
  const own = parseStablecoinTransfers(logs, asset).find((transfer) => transfer.nonce === nonce && isAddressEqual(transfer.from, from));
  return own !== undefined && isAddressEqual(own.to, to) && own.value === value;
}

/** Whether the payer's own key signed the authorization; recovered locally without a chain read. */
export async function isKeySigned(payment: ParsedPayment, { asset, extra, network }: PaymentRequirements): Promise<boolean> {
  const { authorization, signature } = payment;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const domain = { ...extra, chainId: Number(network.split(':')[1]), verifyingContract: asset as Address };
  const message = { from, to, value, validAfter, validBefore, nonce };
  const data = { domain, types: authorizationTypes, primaryType: 'TransferWithAuthorization', message } as const;
  try {
    return isAddressEqual(await recoverTypedDataAddress({ ...data, signature }), from);
  } catch {
    return false;
  }
}

/** The payment with the signature in the form that the stablecoin recovers, where the payer's own key signed in the compact form (EIP-2098). */
export async function withExpandedSignature(payment: ParsedPayment, requirements: PaymentRequirements): Promise<ParsedPayment> {
  const signature = expandSignature(payment.signature);
  if (signature === payment.signature) return payment;
  const { payload } = payment;
  const expanded = { ...payment, signature, payload: { ...payload, payload: { ...payload.payload, signature } } };
  return (await isKeySigned(expanded, requirements)) ? expanded : payment;
}
