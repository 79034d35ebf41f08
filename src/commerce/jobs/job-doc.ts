import type { Address, Hash } from 'viem';
import type { OnChainJob } from '../../chain/erc8183/jobs.ts';
import type { ErrorCode } from '../../platform/errors.ts';
import type { SignedReceipt } from '../receipts/receipt.ts';

/** Deliverable of a job: the exact text whose hash is on chain. */
export interface JobDelivery {
  /** Canonical JSON, salted because its hash is public. */
  text: string;
  hash: Hash;
  composedAt: Date;
  forecastId: string | null;
  attestationUid: Hash | null;
}

/** A job of the provider wallet. Addresses and hashes in lower case. */
export interface JobDoc {
  _id: string;
  contract: Address;
  /** uint256 as decimal text. */
  jobId: string;
  seenBlock: number;
  lastEventBlock: number;
  /** Next check; null when only an event can change the state. */
  due: Date | null;
  /** The client has funded the escrow at some time; such jobs precede offers. */
  funded: boolean;
  /** Consecutive failed checks, and the code of the last one. */
  failures: number;
  failure: ErrorCode | null;
  /** State on chain at a block, with the budget as decimal text; null before the first check. */
  onChain: (Pick<OnChainJob, 'state' | 'client' | 'evaluator' | 'expiresAt'> & { block: number; budget: string }) | null;
  /** Null until decided. */
  accepted: boolean | null;
  reason: string | null;
  offering: string | null;
  ref: string | null;
  /** Transaction of `setBudget`; null when the client had set the price itself. */
  budgetTx: Hash | null;
  delivery: JobDelivery | null;
  submission: { txHash: Hash; at: Date } | null;
  /** Amount as decimal text. */
  payment: { amountMicros: string; txHash: Hash; settledAt: Date } | null;
  /** The first receipt that was signed for the payment. */
  receipt?: SignedReceipt;
  unpaidBy?: Address[];
  /** Attempts to post the delivery to a marketplace; unset before the first. */
  posting?: { attempts: number; due: Date | null; postedAt: Date | null };
  notedAt: Date;
}

export type JobDocWithoutText = Omit<JobDoc, 'delivery'> & { delivery: Omit<JobDelivery, 'text'> | null };

export function buildJobKey(contract: Address, jobId: bigint): string {
  return `${contract.toLowerCase()}:${jobId}`;
}

export function buildJobResource({ contract, jobId }: Pick<JobDoc, 'contract' | 'jobId'>): string {
  return `job:${contract}:${jobId}`;
}
