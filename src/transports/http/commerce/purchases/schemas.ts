import { z } from 'zod';
import { REF_CODE_PATTERN, REF_CODE_RULE } from '../../../../commerce/ledger/ref-code.ts';
import { PURCHASE_OFFERINGS } from '../../../../commerce/purchases/purchase.ts';
import { SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { rawWalletInput, signatureInput } from '../../server/parsing/wallet-parameters.ts';
import { CROWD_VS_ORACLE } from '../documents/crowd-schemas.ts';
import { ALPHA_BRIEF, ANALYSIS_REPORT, SIGNAL_WITH_PROOF } from '../documents/forecast-schemas.ts';
import { DAILY_MACRO_REVIEW } from '../documents/market-schemas.ts';
import { VERIFIED_TRACK_RECORD } from '../documents/track-record-schemas.ts';
import { SOLD } from '../payment-schemas.ts';

/** Body of `POST /api/svc/commerce/purchase` (interface, section 4.5). */
export const PURCHASE_BODY = z.strictObject({
  offering: z
    .enum(PURCHASE_OFFERINGS, { error: `must be one of ${PURCHASE_OFFERINGS.join(', ')}` })
    .describe('What is bought; `GET /api/svc/commerce/offerings?channel=purchase` lists it with prices'),
  txHash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex characters')
    .transform((text) => text as `0x${string}`)
    .meta({
      description:
        'Hash of the transaction that paid for it: a transfer of the stablecoin from `wallet` to the payee, at most 24 hours old',
      override: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
    }),
  wallet: rawWalletInput.describe('Wallet of the buyer, which the transfer came from; in mixed case its checksum (EIP-55) must hold'),
  signature: signatureInput
    .optional()
    .describe(
      'Signature of the wallet over `Buy svc offering: <offering>:<txHash in lower case>` (EIP-191, EIP-1271, ERC-6492). Required on a real chain (`howToPay.signature.required` of the offering), and once one was sent for this transaction: without it the answer is 402 with the text as `signMessage`',
    ),
  ref: z
    .string()
    .regex(REF_CODE_PATTERN, `must have ${REF_CODE_RULE}`)
    .optional()
    .describe(`Code of the partner who sent the buyer: ${REF_CODE_RULE}`),
});

/** Documents by their `kind`. */
const DOCUMENT = z.discriminatedUnion('kind', [
  SIGNAL_WITH_PROOF,
  VERIFIED_TRACK_RECORD,
  ANALYSIS_REPORT,
  CROWD_VS_ORACLE,
  DAILY_MACRO_REVIEW,
  ALPHA_BRIEF,
]);

/** `POST /api/svc/commerce/purchase`. */
export const PURCHASE_REPLY = z.object({
  success: SUCCESS,
  offering: z.enum(PURCHASE_OFFERINGS).describe('What was bought'),
  title: z.string().describe('Its title'),
  deliveredAt: TIME.describe('When it was delivered first'),
  again: z.boolean().describe('True when the same was delivered before: each transaction buys one document, once'),
  document: DOCUMENT.describe('What was bought; `kind` is the name of the offering without `svc_`'),
  ...SOLD,
});
