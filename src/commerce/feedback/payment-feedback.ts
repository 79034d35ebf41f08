import canonicalize from 'canonicalize';
import { getAddress, type Hex, keccak256, stringToBytes } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { buildFeedbackDescription, encodeFeedback } from '../../chain/erc8004/feedback.ts';
import { joinUrl } from '../../platform/service-url.ts';
import { buildJobResource } from '../jobs/job-doc.ts';
import type { PaymentDoc } from '../ledger/ledger.ts';
import { parseCauseKey } from '../ledger/payment.ts';
import { buildPaymentFeedbackPath } from './feedback-path.ts';

/** The client's own judgement. */
export interface FeedbackRating {
  /** Integer of 10^-valueDecimals. */
  value: number;
  valueDecimals: number;
  tag1: string;
  tag2: string;
}

export interface FeedbackSubject {
  chain: Pick<Chain, 'chainId' | 'addresses'>;
  agentId: number;
  payment: PaymentDoc;
}

/**
 * Off-chain feedback file (ERC-8004) of a payment as RFC 8785 JSON, with its keccak256. Equal input gives equal bytes, so that a URL of
 * payment and rating can be hashed on chain. It has public facts of the chain alone: what was bought would show that a forecast was no HOLD.
 */
export function buildPaymentFeedbackFile(
  { chain, agentId, payment }: FeedbackSubject,
  rating: FeedbackRating,
): { json: string; hash: Hex } {
  const { value, valueDecimals, tag1, tag2 } = rating;
  const { payee, txHash, settledAt } = payment;
  const { from, job } = findSource(payment);
  const json = canonicalize({
    ...buildFeedbackDescription(chain, { agentId, client: payment.payer, value, valueDecimals }),
    createdAt: settledAt.toISOString(),
    ...(tag1 !== '' && { tag1 }),
    ...(tag2 !== '' && { tag2 }),
    proofOfPayment: { fromAddress: getAddress(from), toAddress: getAddress(payee), chainId: String(chain.chainId), txHash },
    ...(job !== null && { job }),
  }) as string;
  return { json, hash: keccak256(stringToBytes(json)) };
}

/** Call of `giveFeedback` for the payer to send, with the file at this service. */
export function buildFeedbackCall(subject: FeedbackSubject, rating: FeedbackRating, publicUrl: string) {
  const { hash: feedbackHash } = buildPaymentFeedbackFile(subject, rating);
  const feedbackUri = `${joinUrl(publicUrl, buildPaymentFeedbackPath(subject.payment))}?${formatRating(rating)}`;
  const data = encodeFeedback({ agentId: subject.agentId, ...rating, endpoint: publicUrl, feedbackUri, feedbackHash });
  return { feedbackUri, feedbackHash, data };
}

/** The token transfer of a job comes from the escrow, which the job ties to the client. */
function findSource(payment: PaymentDoc) {
  const cause = parseCauseKey(payment._id);
  if (cause.kind !== 'job') return { from: payment.payer, job: null };
  return { from: cause.contract, job: buildJobResource({ contract: cause.contract, jobId: cause.jobId.toString() }) };
}

function formatRating({ value, valueDecimals, tag1, tag2 }: FeedbackRating): string {
  const tags = { ...(tag1 !== '' && { tag1 }), ...(tag2 !== '' && { tag2 }) };
  return new URLSearchParams({ value: String(value), valueDecimals: String(valueDecimals), ...tags }).toString();
}
