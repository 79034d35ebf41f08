import { z } from 'zod';
import { PAID_RESOURCES } from '../../commerce/offerings.ts';
import { DEFAULT_HORIZON, HORIZON_SCHEMA, parseHorizonDays, recordHorizonInput } from '../../forecast/horizon-input.ts';
import { ADDRESS, BYTES32, HEX, INTEGER_TEXT, objectOf, SUCCESS, withInputRules } from '../../platform/validation.ts';
import { type Route, route } from '../route.ts';
import { DEMO_PATHS, DEMO_TIER_ROLES } from '../schemas/info.ts';
import { REQUIREMENTS_V2 } from '../schemas/payment.ts';
import type { Services } from '../services.ts';
import { SIGNED_BODY } from './access.ts';
import { SESSION_REPLY, toSessionReply } from './auth.ts';
import { buildPaidResource } from './paid.ts';

const LOCAL_CHAIN_ONLY = 'Exists with a local chain only, whose tokens and money have no value. Answers no page of another origin.';

/** Operations of the demo wallets. A service on a real chain has none of them. */
export function demoRoutes({ commerce, demo, publicUrl }: Services): Route[] {
  if (demo === null) return [];
  return [
    route(`POST ${DEMO_PATHS.login}`, 'logInDemoWallet', {
      tag: 'access',
      cost: 'rpc',
      ownPagesOnly: true,
      summary: 'Access token of a demo wallet, which signs the login message in this process',
      description: LOCAL_CHAIN_ONLY,
      body: DEMO_LOGIN_BODY,
      reply: SESSION_REPLY,
      errors: ['UNAUTHENTICATED', 'CHAIN_UNREACHABLE'],
      handle: async ({ body }) => ({ body: toSessionReply(await demo.logIn(body.role)) }),
    }),
    route(`POST ${DEMO_PATHS.signature}`, 'signAsDemoWallet', {
      tag: 'access',
      ownPagesOnly: true,
      summary: 'Signature of a demo wallet over a text that this service has composed for it, made in this process',
      description: LOCAL_CHAIN_ONLY,
      body: z.strictObject({ ...DEMO_LOGIN_BODY.shape, message: SIGNED_BODY.shape.message }),
      reply: z.object({ success: SUCCESS, signature: HEX.describe('Signature by EIP-191') }),
      errors: ['UNAUTHENTICATED'],
      handle: async ({ body: { role, message } }) => ({ body: { success: true as const, signature: await demo.sign(role, message) } }),
    }),
    route(`POST ${DEMO_PATHS.payment}`, 'signDemoPayment', {
      tag: 'commerce',
      ownPagesOnly: true,
      summary: 'Signed x402 payment of the demo buyer for one answer of this service',
      description: `${LOCAL_CHAIN_ONLY} The buyer has a budget; the payment is charged when the paid request is answered.`,
      body: DEMO_PAYMENT_BODY,
      reply: DEMO_PAYMENT_REPLY,
      errors: ['UNAUTHENTICATED', 'STEP_WAITING'],
      async handle({ body: { offering: name, horizon } }) {
        const offering = PAID_RESOURCES.find((one) => one.name === name)!;
        const resource = buildPaidResource(offering, publicUrl, parseHorizonDays(horizon));
        const payment = await demo.authorize(await commerce.sales.getQuote({ offering, resource }));
        return { body: { success: true as const, payment } };
      },
    }),
  ];
}

const DEMO_LOGIN_BODY = z.strictObject({
  role: z
    .enum(DEMO_TIER_ROLES, { error: `must be one of ${DEMO_TIER_ROLES.join(', ')}` })
    .describe('Demo wallet: one with gate tokens for this tier'),
});

const OFFERING_NAMES = PAID_RESOURCES.map(({ name }) => name);

const DEMO_PAYMENT_BODY = z.strictObject({
  offering: z.enum(OFFERING_NAMES, { error: `must be one of ${OFFERING_NAMES.join(', ')}` }).describe('Name of an x402 offering'),
  horizon: withInputRules(recordHorizonInput.prefault(DEFAULT_HORIZON), HORIZON_SCHEMA).describe('Horizon of the bought answer'),
});

export const DEMO_PAYMENT_REPLY = z.object({
  success: SUCCESS,
  payment: objectOf('Payment of x402 version 2, usable once: its JSON in base64 is the PAYMENT-SIGNATURE of the paid request', {
    x402Version: z.literal(2).describe('Protocol version'),
    resource: objectOf('Paid resource', {
      url: z.url().describe('URL with its query'),
      description: z.string().describe('What it is'),
      mimeType: z.string().describe('Media type of the answer'),
      serviceName: z.string().optional().describe('Name of the service, for directories'),
      tags: z.array(z.string()).optional().describe('Its topics'),
      iconUrl: z.url().optional().describe('Its icon'),
    }),
    accepted: REQUIREMENTS_V2.describe('Terms that are accepted, as in PAYMENT-REQUIRED'),
    payload: objectOf('Signed authorization', {
      signature: HEX.describe('EIP-712 signature of the buyer'),
      authorization: objectOf('EIP-3009 transfer', {
        from: ADDRESS.describe('Demo buyer'),
        to: ADDRESS.describe('Recipient wallet'),
        value: INTEGER_TEXT.describe('Amount, in the smallest unit of the asset'),
        validAfter: INTEGER_TEXT.describe('Start of validity, Unix seconds'),
        validBefore: INTEGER_TEXT.describe('End of validity, Unix seconds'),
        nonce: BYTES32.describe('Random nonce'),
      }),
    }),
    extensions: objectOf('Protocol extensions', {
      'payment-identifier': objectOf('Names the payment, so that retries get the same answer', {
        info: objectOf('The identifier', {
          required: z.boolean().describe('False: optional'),
          id: z.string().describe('Id of the payment'),
        }),
      }),
    }),
  }),
});
