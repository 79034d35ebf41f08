import { z } from 'zod';
import { PAID_RESOURCES } from '../../../commerce/price-list.ts';
import { DEFAULT_HORIZON, SIGNAL_HORIZONS } from '../../../forecast/horizon-input.ts';
import { objectOf } from '../../../platform/validation/described.ts';
import { ADDRESS, BYTES32, HEX, INTEGER_TEXT, SUCCESS } from '../../../platform/validation/fields.ts';
import { SIGNED_BODY } from '../access/schemas.ts';
import { REQUIREMENTS_V2 } from '../commerce/x402/schemas.ts';
import { DEMO_TIER_ROLES } from './demo-wallets.ts';

export const DEMO_LOGIN_BODY = z.strictObject({
  role: z
    .enum(DEMO_TIER_ROLES, { error: `must be one of ${DEMO_TIER_ROLES.join(', ')}` })
    .describe('Demo wallet: one with gate tokens for this tier'),
});

export const DEMO_SIGNATURE_BODY = z.strictObject({ ...DEMO_LOGIN_BODY.shape, message: SIGNED_BODY.shape.message });

export const DEMO_SIGNATURE_REPLY = z.object({ success: SUCCESS, signature: HEX.describe('Signature by EIP-191') });

const OFFERING_NAMES = PAID_RESOURCES.map(({ name }) => name);

export const DEMO_PAYMENT_BODY = z.strictObject({
  offering: z.enum(OFFERING_NAMES, { error: `must be one of ${OFFERING_NAMES.join(', ')}` }).describe('Name of an x402 offering'),
  horizon: z.enum(SIGNAL_HORIZONS).default(DEFAULT_HORIZON).describe('Horizon of the bought answer'),
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
