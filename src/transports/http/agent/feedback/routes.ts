import { getAddress } from 'viem';
import type { z } from 'zod';
import {
  buildFeedbackCall,
  buildPaymentFeedbackFile,
  type FeedbackRating,
  type FeedbackSubject,
} from '../../../../commerce/feedback/payment-feedback.ts';
import { OracleError } from '../../../../platform/errors.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Route, route } from '../../server/route.ts';
import { FEEDBACK_FILE, FEEDBACK_PARAMS, FEEDBACK_TRANSACTION, RATING_QUERY } from './schemas.ts';

type FeedbackDeps = Pick<HttpDeps, 'addresses' | 'chainId' | 'commerce' | 'identity' | 'publicUrl'>;

const PATH = '/api/svc/agent/feedback/payments/{txHash}/{payer}';

/** ERC-8004 feedback that proves a payment. The rating is the client's: none is asked for or rewarded. */
export function paymentFeedbackRoutes(deps: FeedbackDeps): Route[] {
  const declared = { tag: 'agent', params: FEEDBACK_PARAMS, query: RATING_QUERY, errors: ['NOT_FOUND', 'STEP_WAITING'] } as const;
  return [
    route(`GET ${PATH}`, 'getPaymentFeedbackFile', {
      ...declared,
      reply: FEEDBACK_FILE,
      summary: 'ERC-8004 feedback file of a paid call, purchase or job, with a rating that the payer chooses',
      description:
        'Equal input gives equal bytes, so that this URL can be the `feedbackURI` and the keccak256 of its bytes the `feedbackHash`. The same file may be served elsewhere. No rating is asked for, and none is rewarded.',
      handle: async ({ params, query }) => ({
        headers: { 'Content-Type': 'application/json' },
        raw: buildPaymentFeedbackFile(await requireSubject(deps, params), toRating(query)).json,
      }),
    }),
    route(`GET ${PATH}/transaction`, 'getPaymentFeedbackCall', {
      ...declared,
      reply: FEEDBACK_TRANSACTION,
      summary: 'Call of `giveFeedback` that submits the feedback file of a payment, for the payer to send',
      handle: async ({ params, query }) => ({ body: await buildCallReply(deps, params, toRating(query)) }),
    }),
  ];
}

type PaymentRef = z.output<typeof FEEDBACK_PARAMS>;

async function requireSubject({ addresses, chainId, commerce, identity }: FeedbackDeps, ref: PaymentRef): Promise<FeedbackSubject> {
  const agent = identity();
  if (agent === null) throw new OracleError('STEP_WAITING', 'The agent is not registered yet');
  const payment = await commerce.ledger.findByTransaction(ref.txHash, ref.payer);
  if (payment === null) {
    const suggestedAction = 'Take the path from `payment.feedbackPath` of the paid answer.';
    throw new OracleError('NOT_FOUND', 'The ledger has no payment of this wallet in this transaction', {
      field: 'txHash',
      suggestedAction,
    });
  }
  return { chain: { chainId, addresses }, agentId: agent.agentId, payment };
}

async function buildCallReply(deps: FeedbackDeps, ref: PaymentRef, rating: FeedbackRating): Promise<z.input<typeof FEEDBACK_TRANSACTION>> {
  const subject = await requireSubject(deps, ref);
  const { feedbackUri, feedbackHash, data } = buildFeedbackCall(subject, rating, deps.publicUrl);
  return {
    success: true,
    feedbackUri,
    feedbackHash,
    from: getAddress(subject.payment.payer),
    transaction: { chainId: deps.chainId, to: getAddress(deps.addresses.reputationRegistry), data },
  };
}

function toRating({ tag2 = '', ...rating }: z.output<typeof RATING_QUERY>): FeedbackRating {
  return { ...rating, tag2 };
}
