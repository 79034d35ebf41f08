import { type Address, getAddress } from 'viem';
import type { MerchantConfig } from '../merchant-config.ts';
import type { SignedReceipt, SignReceipt } from '../receipts/receipt.ts';
import { isDirectJob } from './direct-job-policy.ts';
import { buildJobResource, type JobDocWithoutText } from './job-doc.ts';

/** Message that client or evaluator sign (EIP-191) to fetch the deliverable, with the timestamp exactly as in the request. */
export function buildFetchMessage(contract: Address, jobId: string, timestamp: number): string {
  return `Fetch svc job: ${getAddress(contract)}:${jobId}:${timestamp}`;
}

type JobProgress = Pick<JobDocWithoutText, 'accepted' | 'onChain'>;

export function describeNextStep({ accepted, onChain }: JobProgress, now: Date): string {
  const { state = 'OPEN', expiresAt = now } = onChain ?? {};
  const isExpired = expiresAt <= now;
  if (state === 'COMPLETED') return 'Nothing: the job is paid.';
  if (state === 'REJECTED' || state === 'EXPIRED') return 'Nothing: the job is over, and the escrow was refunded to the client.';
  if (state === 'SUBMITTED' && onChain !== null && isDirectJob(onChain))
    return isExpired ? REFUND_STEP : 'Nothing: the contract should have paid the provider with the submission, and has not.';
  if (state === 'SUBMITTED')
    return isExpired ? REFUND_STEP : 'The evaluator fetches the deliverable, compares its hash, and calls complete.';
  if (state === 'FUNDED') {
    if (accepted === false)
      return isExpired ? REFUND_STEP : 'The evaluator rejects the job, or the client calls claimRefund after its expiry.';
    return 'The provider composes the deliverable and submits its hash.';
  }
  if (isExpired) return 'Nothing: the job has expired before it was funded. Create a new one.';
  if (accepted === false) return 'The client rejects the job and creates another one without the fault.';
  if (accepted === null) return 'The provider reviews the job.';
  return 'The client approves the price for the contract, then calls fund once the provider has set the budget.';
}

const REFUND_STEP = 'Any account may call claimRefund, which refunds the client.';

/** Why the deliverable is withheld for good; null while it is or will be available. */
export function getWithheldReason({ accepted, reason, onChain }: JobProgress & Pick<JobDocWithoutText, 'reason'>): string | null {
  if (onChain?.state === 'REJECTED') return 'The job was rejected: its deliverable is no longer available';
  if (onChain?.state === 'EXPIRED') return 'The job has expired: its deliverable is no longer available';
  return accepted === false ? `The job was declined: ${reason}` : null;
}

/** The receipt of a paid job; null before payment. */
export async function signJobReceipt(
  { contract, jobId, delivery, payment, onChain }: Pick<JobDocWithoutText, 'contract' | 'jobId' | 'payment' | 'onChain' | 'delivery'>,
  { merchant, signReceipt, provider }: { merchant: Pick<MerchantConfig, 'asset'>; signReceipt: SignReceipt; provider: Address },
): Promise<SignedReceipt | null> {
  if (payment === null || delivery === null || onChain === null) return null;
  return signReceipt({
    payer: onChain.client,
    payee: provider,
    asset: merchant.asset,
    amountMicros: BigInt(payment.amountMicros),
    resource: buildJobResource({ contract, jobId }),
    answerHash: delivery.hash,
    forecastId: delivery.forecastId,
    attestationUid: delivery.attestationUid,
    txHash: payment.txHash,
    settledAt: payment.settledAt,
  });
}
