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

export const PURCHASE_BODY = z.strictObject({
  offering: z
    .enum(PURCHASE_OFFERINGS, { error: `must be one of ${PURCHASE_OFFERINGS.join(', ')}` })
    .describe('Offering to buy; `GET /api/svc/commerce/offerings?channel=purchase` lists them'),
  txHash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex characters')
    .transform((text) => text as `0x${string}`)
    .meta({
      description: 'Hash of the payment: a stablecoin transfer from `wallet` to the payee, at most 24 hours old',
      override: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
    }),
  wallet: rawWalletInput.describe("Buyer's wallet, sender of the transfer; in mixed case its EIP-55 checksum must be valid"),
  signature: signatureInput
    .optional()
    .describe(
      'Signature of the wallet over `Buy svc offering: <offering>:<txHash in lower case>` (EIP-191, EIP-1271, ERC-6492). Required on a real chain (`howToPay.signature.required` of the offering), and after a first signed claim of this transaction: without it the response is 402 with the text as `signMessage`',
    ),
  ref: z.string().regex(REF_CODE_PATTERN, `must have ${REF_CODE_RULE}`).optional().describe(`Ref code of the partner: ${REF_CODE_RULE}`),
});

const DOCUMENT = z.discriminatedUnion('kind', [
  SIGNAL_WITH_PROOF,
  VERIFIED_TRACK_RECORD,
  ANALYSIS_REPORT,
  CROWD_VS_ORACLE,
  DAILY_MACRO_REVIEW,
  ALPHA_BRIEF,
]);

export const PURCHASE_REPLY = z.object({
  success: SUCCESS,
  offering: z.enum(PURCHASE_OFFERINGS).describe('Side bought'),
  title: z.string().describe('Title'),
  deliveredAt: TIME.describe('Time of the first delivery'),
  again: z.boolean().describe('True for a redelivery: each transaction buys one document, once'),
  document: DOCUMENT.describe('The document; `kind` is the offering name without `svc_`'),
  ...SOLD,
});
