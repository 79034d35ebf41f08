import type { x402ResourceServer } from '@x402/core/server';
import type { SettleResponse, VerifyResponse } from '@x402/core/types';
import { authorizationTypes } from '@x402/evm';
import { type Address, getAbiItem, type Hash, type Hex, isAddressEqual, recoverTypedDataAddress, type TransactionReceipt } from 'viem';
import { type Chain, readBlockDepth, readHead } from '../../chain/client.ts';
import { expandSignature } from '../../chain/contracts.ts';
import { chainCall, readBlockNumber, readLogs } from '../../chain/rpc.ts';
import { type ClaimedPayer, parseStablecoinTransfers, stablecoinAbi } from '../../chain/stablecoin.ts';
import { type MinedBlock, toMinedBlock } from '../../chain/wallet.ts';
import { orElse } from '../../errors.ts';
import type { MerchantConfig } from '../offerings.ts';
import { paymentUnconfirmedError, sleepOrShutdown } from './claims.ts';
import type { Authorization, ParsedPayment, PaymentRequirements } from './terms.ts';

/** A payment with the client that sent it first, as the resource server hands it to its facilitator. */
export interface SentPayment extends ParsedPayment {
  /** As the rate limits key it. */
  address: string;
  /** Unset for a settlement. */
  payer?: Promise<ClaimedPayer>;
}

/** A `FacilitatorClient` of the library. */
export interface Facilitator {
  readonly simulatesSettlement: boolean;
  /** @throws OracleError CHAIN_UNREACHABLE when the validity is unknown */
  verify(payment: SentPayment, requirements: PaymentRequirements): Promise<VerifyResponse>;
  /**
   * Idempotent. A success is a sent transaction, whose status only the chain decides; a failure a rejection before anything was sent.
   * @throws OracleError, retryable, when the payment may have been sent now or before
   */
  settle(payment: SentPayment, requirements: PaymentRequirements): Promise<SettleResponse>;
}

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
export async function isKeySigned(
  { authorization, payload: { signature } }: Pick<ParsedPayment, 'authorization'> & { payload: { signature: Hex } },
  { asset, extra, network }: PaymentRequirements,
): Promise<boolean> {
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
  const { payload } = payment;
  const signature = expandSignature(payload.signature);
  if (signature === payload.signature) return payment;
  const expanded = { ...payment, payload: { ...payload, signature } };
  return (await isKeySigned(expanded, requirements)) ? expanded : payment;
}

interface SettleDeps {
  chain: Chain;
  merchant: MerchantConfig;
  server: Promise<x402ResourceServer>;
  waitMs: number;
  signal: AbortSignal;
}

interface PaymentToSettle {
  payment: SentPayment;
  requirements: PaymentRequirements;
  /** Block of its arrival, before which it cannot have been used. */
  sinceBlock: number;
  /** False for a payment that was just verified and never sent. */
  mayBeSent: boolean;
}

/** `isOver`: the authorization can never be mined. Otherwise any holder of it can still send it. */
export type SettlementOutcome = ConfirmedSettlement | { refused: string; isOver: boolean };

const AUTHORIZATION_EXPIRED: SettlementOutcome = { refused: 'expired', isOver: true };

/** Decided by the chain: a settlement of a crashed process or a third party is found, never sent twice. @throws OracleError: settle again */
export async function settlePayment(deps: SettleDeps, sale: PaymentToSettle): Promise<SettlementOutcome> {
  const { payment, requirements, sinceBlock, mayBeSent } = sale;
  const { chain, merchant, server } = deps;
  const readStatus = () => readSettlementStatus(chain, merchant, { authorization: payment.authorization, sinceBlock });
  const statusBefore = mayBeSent ? await readStatus() : null;
  if (statusBefore === 'late') return AUTHORIZATION_EXPIRED;
  if (statusBefore !== null) return isConfirmedSettlement(statusBefore) ? statusBefore : waitForSettlement(deps, readStatus);
  const { success, transaction, errorReason } = await (await server).settlePayment(payment, requirements);
  if (!success) {
    // The rejection may be due to a settlement that another sender got mined.
    const statusAfter = await readStatus();
    const isUnused = statusAfter === null || statusAfter === 'late';
    return isUnused ? { refused: errorReason ?? 'settlement_failed', isOver: false } : waitForSettlement(deps, readStatus);
  }
  const sent = { authorization: payment.authorization, txHash: transaction as Hash };
  // The node may not know a transaction that a facilitator reports yet, or never.
  const reported = await readTransactionSettlement(chain, merchant, sent).catch(orElse('CHAIN_UNREACHABLE', null));
  return isConfirmedSettlement(reported) ? reported : waitForSettlement(deps, readStatus);
}

async function waitForSettlement(deps: SettleDeps, readStatus: () => Promise<SettlementStatus>): Promise<SettlementOutcome> {
  const { chain, waitMs, signal } = deps;
  const deadline = performance.now() + waitMs;
  for (;;) {
    const found = await readStatus();
    if (isConfirmedSettlement(found)) return found;
    if (found === 'spent') return { refused: 'authorization_spent', isOver: true };
    if (found === 'late') return AUTHORIZATION_EXPIRED;
    if (performance.now() >= deadline) throw paymentUnconfirmedError();
    await sleepOrShutdown(chain.pollingIntervalMs, signal);
  }
}
