import type { z } from 'zod';
import { PAYER_CALLER } from '../../../../commerce/documents/deps.ts';
import { formatMoney } from '../../../../commerce/money.ts';
import { type Offering, PAID_RESOURCES } from '../../../../commerce/price-list.ts';
import type { PreparedAnswer } from '../../../../commerce/x402/paid-call.ts';
import { buildAnswerMessage } from '../../../../commerce/x402/protocol/answer-message.ts';
import { OracleError } from '../../../../platform/errors.ts';
import type { OracleDeps } from '../../../../record/oracle/deps.ts';
import { FREE_HOLD_NOTE, getOracleSignal, type OracleSignal, toFreeHold } from '../../../../record/oracle/oracle-signal.ts';
import { getPremiumSignal } from '../../../../record/oracle/premium-signal.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { requireWalletSignature } from '../wallet-signature.ts';
import { createPaidRoute, toRedeliveredReply } from './paid-route.ts';
import { ANSWER_BODY, CHARGED_SIGNAL, PAID_PREMIUM_SIGNAL, PAID_SIGNAL } from './paid-schemas.ts';
import { ANSWER_AGAIN } from './schemas.ts';

type PaidDeps = OracleDeps & Pick<HttpDeps, 'access' | 'commerce'>;

const PAYMENT_DESCRIPTION =
  'Without a payment it answers 402 with the terms in both versions of x402, independent of the forecast. `payment` and `receipt` are added to the answer. The same payment from the same address, or with its payment-identifier, gets the same answer and is never charged twice; the paying wallet gets it again from `POST /api/svc/commerce/answers`. Failed requests are not charged.';

/** Interface, section 4.5: paid operations, and redelivery of their answers. */
export function paidRoutes(deps: PaidDeps): Route[] {
  const signal = findPaidResource('x402_signal');
  const premium = findPaidResource('x402_premium_signal');
  return [
    createPaidRoute(deps, {
      name: 'buySignal',
      summary: 'The newest forecast of a horizon with its proof, paid per request',
      description: `${PAYMENT_DESCRIPTION} An abstention is free unless the operator has set otherwise: a valid payment is answered with HOLD and not used, and \`charged\` is false.`,
      offering: signal,
      reply: PAID_SIGNAL,
      charged: CHARGED_SIGNAL,
      answer: async (horizonDays) => {
        const soldSignal = await getOracleSignal(deps, horizonDays, PAYER_CALLER);
        const free = deps.commerce.freeHold ? toFreeHold(soldSignal) : null;
        return { ...prepareAnswer(soldSignal, signal), ...(free === null ? {} : { freeBody: buildFreeHold(free) }) };
      },
    }),
    createPaidRoute(deps, {
      name: 'buyPremiumSignal',
      summary: 'The premium signal with the scorecard, paid per request',
      description: `${PAYMENT_DESCRIPTION} A HOLD is charged too: the rest of the answer is what is sold.`,
      offering: premium,
      reply: PAID_PREMIUM_SIGNAL,
      charged: PAID_PREMIUM_SIGNAL,
      answer: async (horizonDays) => prepareAnswer(await getPremiumSignal(deps, horizonDays, PAYER_CALLER), premium),
    }),
    answersRoute(deps),
  ];
}

function findPaidResource(name: string) {
  return PAID_RESOURCES.find((offering) => offering.name === name)!;
}

function prepareAnswer(soldSignal: OracleSignal, { price }: Offering): PreparedAnswer {
  const access = { tier: PAYER_CALLER.tier, wallet: null, requirement: `${formatMoney(price)} a request` };
  const { predictionId: forecastId, attestationUid } = soldSignal;
  return { body: { success: true, ...soldSignal, access, charged: true }, forecastId, attestationUid };
}

function buildFreeHold(free: object): PreparedAnswer['body'] {
  return { success: true, ...free, charged: false, note: FREE_HOLD_NOTE };
}

const ANSWER_MESSAGE_TEMPLATE = 'Fetch svc answer: <txHash in lower case>:<timestamp>';

function answersRoute(deps: PaidDeps): Route {
  return route('POST /api/svc/commerce/answers', 'getAnswerAgain', {
    tag: 'commerce',
    cost: 'rpc',
    deliversPaid: true,
    summary: 'Redelivers a paid x402 answer to the paying wallet',
    description: `For a payer that lost the answer. The wallet signs \`${ANSWER_MESSAGE_TEMPLATE}\` (EIP-191; contract wallets by EIP-1271 or ERC-6492). Answers of all interfaces are kept for 30 days.`,
    body: ANSWER_BODY,
    reply: ANSWER_AGAIN,
    errors: ['UNAUTHENTICATED', 'NOT_FOUND'],
    async handle({ body: { txHash, wallet, timestamp, signature } }): Promise<Reply<z.input<typeof ANSWER_AGAIN>>> {
      const message = buildAnswerMessage(txHash, timestamp);
      await requireWalletSignature(deps, { message, template: ANSWER_MESSAGE_TEMPLATE, wallet, timestamp, signature });
      const answer = await deps.commerce.sales.findSaleResult(txHash, wallet);
      if (answer !== null) return toRedeliveredReply(answer);
      throw new OracleError('NOT_FOUND', 'No stored answer was paid by this wallet in this transaction', {
        field: 'txHash',
        suggestedAction: 'Take the transaction from PAYMENT-RESPONSE or from the chain; answers are kept for 30 days.',
      });
    },
  });
}
