import type { z } from 'zod';
import { displayMoney } from '../../commerce/money.ts';
import { type Offering, PAID_RESOURCES } from '../../commerce/offerings.ts';
import { answerMessage } from '../../commerce/x402/answer-message.ts';
import type { PreparedAnswer } from '../../commerce/x402/paid-call.ts';
import { OracleError } from '../../errors.ts';
import type { Caller } from '../../record/caller.ts';
import { premiumSignal } from '../../record/oracle/premium.ts';
import { type OracleSignal, oracleSignal } from '../../record/oracle/signal.ts';
import { paidRoute, soldBody } from '../paid-route.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { ANSWER_BODY, PAID_PREMIUM_SIGNAL, PAID_SIGNAL } from '../schemas/paid.ts';
import { ANSWER_AGAIN } from '../schemas/x402.ts';
import { requireSignature } from '../wallet-signature.ts';

/** What is told to whoever has paid for this very answer. */
const PAYER: Caller = { tier: 'public', paid: true };

const HOW =
  'Without a payment it answers 402 with the terms in both versions of x402, the same whatever the forecast says. `payment` and `receipt` are added to what was sold. The same payment sent again from the same address, or with its payment-identifier, gets the same answer, and is never charged twice. What fails here is not charged.';

/** Interface, section 4.5: answers that are paid for with the request, and those that were. */
export function paidRoutes(parts: HttpParts): Route[] {
  const signal = resource('x402_signal');
  const premium = resource('x402_premium_signal');
  return [
    paidRoute(parts, {
      name: 'buySignal',
      summary: 'The newest forecast of a horizon with its proof, paid for with the request',
      description: `${HOW} An abstention costs nothing unless the operator has set otherwise: a good payment is answered with HOLD, not used, and \`charged\` is false.`,
      offering: signal,
      reply: PAID_SIGNAL,
      answer: async (horizonDays) => {
        const told = await oracleSignal(parts, horizonDays, PAYER);
        const isFree = parts.commerce.freeHold && told.signal === 'HOLD';
        return { ...sold(told, signal), ...(isFree ? { freeBody: freeHold(told) } : {}) };
      },
    }),
    paidRoute(parts, {
      name: 'buyPremiumSignal',
      summary: 'The same with everything it rests on, and the scorecard, paid for with the request',
      description: `${HOW} A HOLD is charged for too: here the rest is what is bought.`,
      offering: premium,
      reply: PAID_PREMIUM_SIGNAL,
      answer: async (horizonDays) => sold(await premiumSignal(parts, horizonDays, PAYER), premium),
    }),
    answersRoute(parts),
  ];
}

function resource(name: string) {
  return PAID_RESOURCES.find((offering) => offering.name === name)!;
}

function sold(told: OracleSignal, { price }: Offering): PreparedAnswer {
  const access = { tier: PAYER.tier, wallet: null, requirement: `${displayMoney(price)} a request` };
  const { predictionId: forecastId, attestationUid } = told;
  return { body: { success: true, ...told, access, charged: true }, forecastId, attestationUid };
}

/** That it abstains, and nothing else of what it thinks: it has not been paid for. */
function freeHold({ horizon, date, predictionId, windowOpensAt, resolvesAt, nextSignalAt }: OracleSignal): PreparedAnswer['body'] {
  const facts = { horizon, date, predictionId, windowOpensAt, resolvesAt, nextSignalAt };
  const note = 'The oracle abstains for this horizon. Nothing was charged: the payment was not used, and is good for another request.';
  return { success: true, signal: 'HOLD', direction: null, confidence: null, pUp: null, ...facts, charged: false, note };
}

const ANSWER_FORM = 'Fetch svc answer: <txHash in lower case>:<timestamp>';

function answersRoute(parts: HttpParts): Route {
  return route({
    method: 'post',
    path: '/api/svc/commerce/answers',
    name: 'getAnswerAgain',
    tag: 'commerce',
    cost: 'rpc',
    summary: 'An answer that was paid for by x402, once more, for the wallet that paid',
    description: `For whoever paid and did not get the answer, or lost it. The wallet signs \`${ANSWER_FORM}\` (EIP-191; contract wallets by EIP-1271 or ERC-6492). Answers are kept for 30 days, whichever door they were sold through.`,
    body: ANSWER_BODY,
    reply: ANSWER_AGAIN,
    errors: ['UNAUTHENTICATED', 'NOT_FOUND'],
    async handle({ body: { txHash, wallet, timestamp, signature } }): Promise<{ body: z.input<typeof ANSWER_AGAIN> }> {
      const message = answerMessage(txHash, timestamp);
      await requireSignature(parts, { message, form: ANSWER_FORM, wallet, timestamp, signature });
      const answer = await parts.commerce.sales.soldFor(txHash, wallet);
      if (answer === null) throw notSold();
      return { body: soldBody(answer) };
    },
  });
}

function notSold(): OracleError {
  return new OracleError('NOT_FOUND', 'No answer is kept that this wallet has paid for by this transaction', {
    field: 'txHash',
    suggestedAction: 'Take the transaction from PAYMENT-RESPONSE or from the chain; answers are kept for 30 days.',
  });
}
