import { type Address, getAbiItem, type Hash, isAddressEqual, type Log, parseEventLogs, type TransactionReceipt } from 'viem';
import { toLowerCaseAddress } from '../../chain/addresses.ts';
import { agentCommerceAbi } from '../../chain/erc8183/abi.ts';
import type { ChainReader } from '../../chain/rpc/blocks.ts';
import { readLogs } from '../../chain/rpc/logs.ts';
import { findReceipt } from '../../chain/rpc/receipts.ts';
import { stablecoinAbi } from '../../chain/stablecoin/stablecoin.ts';
import { parseStablecoinTransfers } from '../../chain/stablecoin/transfers.ts';
import { buildCauseKey, type PaymentCause, type SettledPayment } from '../ledger/payment.ts';

/** Money received in one transaction by one cause: the counterpart of one ledger entry. */
export interface Movement extends Pick<SettledPayment, 'cause' | 'txHash' | 'asset' | 'amountMicros'> {
  key: string;
  blockNumber: bigint;
  /** For a job, its contract. */
  from: Address;
  to: Address;
}

/** Tokens, receiving wallets and job contracts to read. Addresses case-insensitive. */
export interface MovementQuery {
  assets: readonly Address[];
  recipients: readonly Address[];
  contracts: readonly Address[];
  fromBlock: bigint;
  toBlock: bigint;
}

const RECEIPT_BATCH_SIZE = 8;
const TRANSFER_EVENT = getAbiItem({ abi: stablecoinAbi, name: 'Transfer' });

/** All received money in a block range, in chain order, from logs alone. @throws OracleError CHAIN_UNREACHABLE */
export async function readMovements(chain: ChainReader, query: MovementQuery): Promise<Movement[]> {
  const { assets, recipients, fromBlock, toBlock } = query;
  const movements: Movement[] = [];
  for (const asset of assets) {
    const logs = await readLogs(chain, { address: asset, event: TRANSFER_EVENT, args: { to: recipients }, fromBlock, toBlock });
    for (const receipt of await readReceipts(chain, logs)) movements.push(...parseMovements(receipt, asset, query));
  }
  return movements.sort((one, other) => Number(one.blockNumber - other.blockNumber));
}

/** One receipt per transaction; omits a transaction that was reorganised out since. */
async function readReceipts(chain: ChainReader, logs: readonly { transactionHash: Hash }[]): Promise<TransactionReceipt[]> {
  const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
  const receipts: (TransactionReceipt | null)[] = [];
  for (let at = 0; at < hashes.length; at += RECEIPT_BATCH_SIZE) {
    receipts.push(...(await Promise.all(hashes.slice(at, at + RECEIPT_BATCH_SIZE).map((hash) => findReceipt(chain, hash)))));
  }
  return receipts.filter((receipt) => receipt !== null);
}

export function parseMovements(
  { logs, transactionHash: txHash, blockNumber }: Pick<TransactionReceipt, 'logs' | 'transactionHash' | 'blockNumber'>,
  asset: Address,
  { recipients, contracts }: Pick<MovementQuery, 'recipients' | 'contracts'>,
): Movement[] {
  const transfers = parseIncomingTransfers(logs, asset, recipients);
  const paidByJobs = parseJobPayments(logs, transfers, contracts);
  const jobContracts = new Set(paidByJobs.map(({ from }) => from));
  const others = transfers.filter(({ from }) => !jobContracts.has(from));
  const rows = [...paidByJobs, ...sumBySender(others)].filter(({ amountMicros }) => amountMicros !== 0n);
  return rows.map((row) => ({ ...row, key: buildCauseKey({ cause: row.cause, payer: row.from, txHash }), txHash, blockNumber, asset }));
}

type IncomingTransfer = Pick<Movement, 'from' | 'to' | 'amountMicros' | 'cause'>;

function parseIncomingTransfers(logs: readonly Log[], asset: Address, recipients: readonly Address[]): IncomingTransfer[] {
  const incoming = parseStablecoinTransfers(logs, asset).filter(({ to }) => recipients.some((recipient) => isAddressEqual(recipient, to)));
  return incoming.map(({ from, to, value, nonce }) => {
    const cause: PaymentCause = nonce === null ? { kind: 'transfer' } : { kind: 'authorization', nonce };
    return { from: toLowerCaseAddress(from), to: toLowerCaseAddress(to), amountMicros: value, cause };
  });
}

/** A job's payment is what its contract moved; of several jobs in one transaction, their events' amounts, with the rest for the last. */
function parseJobPayments(logs: readonly Log[], transfers: readonly IncomingTransfer[], contracts: readonly Address[]): IncomingTransfer[] {
  const released = parseEventLogs({ abi: agentCommerceAbi, eventName: 'PaymentReleased', logs: logs as Log[] });
  return contracts.flatMap((contract) => {
    const jobs = released.filter(({ address }) => isAddressEqual(address, contract));
    const moved = transfers.filter(({ from }) => isAddressEqual(from, contract));
    const to = moved[0]?.to;
    const ownJobs = jobs.filter(({ args }) => to !== undefined && isAddressEqual(args.provider, to));
    let rest = moved.reduce((sum, { amountMicros }) => sum + amountMicros, 0n);
    return ownJobs.map(({ args }, index) => {
      const amountMicros = index === ownJobs.length - 1 ? rest : args.amount;
      rest -= amountMicros;
      const cause = { kind: 'job', contract: toLowerCaseAddress(contract), jobId: args.jobId } as const;
      return { from: toLowerCaseAddress(contract), to: to!, amountMicros, cause };
    });
  });
}

/** Plain transfers from one sender to one wallet count as one payment. */
function sumBySender(transfers: readonly IncomingTransfer[]): IncomingTransfer[] {
  const sums = new Map<string, IncomingTransfer>();
  for (const transfer of transfers) {
    const { cause, from, to } = transfer;
    const key = cause.kind === 'authorization' ? cause.nonce + from : `${from} ${to}`;
    const known = sums.get(key);
    sums.set(key, known === undefined ? transfer : { ...known, amountMicros: known.amountMicros + transfer.amountMicros });
  }
  return [...sums.values()];
}
