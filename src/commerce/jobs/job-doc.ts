import type { Address, Hash } from 'viem';
import type { JobState } from '../../chain/erc8183/abi.ts';
import type { ErrorCode } from '../../platform/errors.ts';

/** What a job delivers: the exact text whose hash is on chain. */
export interface JobDelivery {
  /** Canonical JSON, with a salt: its hash is public. */
  text: string;
  /** keccak256 of its bytes in UTF-8. */
  hash: Hash;
  composedAt: Date;
  forecastId: string | null;
  attestationUid: Hash | null;
}

/** A job for this service's provider wallet, as it is kept. Addresses and hashes in lower case. */
export interface JobDoc {
  /** `<contract>:<job id>`. */
  _id: string;
  contract: Address;
  /** Decimal text: it may have 256 bits. */
  jobId: string;
  /** Block in which it became a job for us. */
  seenBlock: number;
  /** Block of its newest event. */
  lastEventBlock: number;
  /** When to look at it next; null where only an event can change anything. */
  due: Date | null;
  /** Whether its price ever went into escrow: such a job comes before the offers. */
  funded: boolean;
  /** Looks in a row that failed, and how the last of them did. */
  failures: number;
  failure: ErrorCode | null;
  /** As it stood on chain at a block; null before the first look. */
  onChain: {
    block: number;
    state: JobState;
    client: Address;
    evaluator: Address;
    /** Smallest units of the stablecoin as decimal text. */
    budget: string;
    expiresAt: Date;
  } | null;
  /** Null until it is decided. */
  accepted: boolean | null;
  /** Why it is refused. */
  reason: string | null;
  offering: string | null;
  ref: string | null;
  /** The transaction that set our price; null where the client had set it. */
  budgetTx: Hash | null;
  delivery: JobDelivery | null;
  submission: { txHash: Hash; at: Date } | null;
  /** Units as decimal text. */
  payment: { amountMicros: string; txHash: Hash; settledAt: Date } | null;
  /** Client and evaluator of a delivery that was rejected or expired. */
  unpaidBy?: Address[];
  notedAt: Date;
}

/** A job without the text that is sold. */
export type JobDocWithoutText = Omit<JobDoc, 'delivery'> & { delivery: Omit<JobDelivery, 'text'> | null };

export function buildJobKey(contract: Address, jobId: bigint): string {
  return `${contract.toLowerCase()}:${jobId}`;
}

/** A job as receipts and the ledger name it. */
export function buildJobResource({ contract, jobId }: Pick<JobDoc, 'contract' | 'jobId'>): string {
  return `job:${contract}:${jobId}`;
}
