import { z } from 'zod';
import { PURCHASE_OFFERINGS } from '../../commerce/purchases/purchase.ts';
import { REF_CODE, REF_CODE_RULE } from '../../commerce/ref-code.ts';
import { ADDRESS, BYTES32, INTEGER_TEXT, SUCCESS, TIME } from '../../fields.ts';
import { signature, spelledWallet } from '../wallet-parameters.ts';
import { ALPHA_BRIEF, ANALYSIS_REPORT, SIGNAL_WITH_PROOF } from './documents/forecasts.ts';
import { CROWD_VS_ORACLE, DAILY_MACRO_REVIEW } from './documents/market.ts';
import { VERIFIED_TRACK_RECORD } from './documents/track-record.ts';

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
  wallet: spelledWallet.describe('Wallet of the buyer, which the transfer came from; in mixed case its checksum (EIP-55) must hold'),
  signature: signature
    .optional()
    .describe(
      'Signature of the wallet over `Buy svc offering: <offering>:<txHash in lower case>` (EIP-191, EIP-1271, ERC-6492). Required where the service says so, and once one was sent for this transaction',
    ),
  ref: z
    .string()
    .regex(REF_CODE, `must have ${REF_CODE_RULE}`)
    .optional()
    .describe(`Code of the partner who sent the buyer: ${REF_CODE_RULE}`),
});

const AMOUNT = INTEGER_TEXT.describe('What arrived, in millionths of a US dollar');
const PAYER = ADDRESS.describe('Wallet that paid');
const PAYEE = ADDRESS.describe('Wallet that was paid');
const ASSET = ADDRESS.describe('The stablecoin');
const TX_HASH = BYTES32.describe('Transaction that brought the money');

const PAYMENT = z.object({
  payer: PAYER,
  payee: PAYEE,
  asset: ASSET,
  chain: z.string().describe('The chain, CAIP-2, e.g. eip155:8453'),
  amount: AMOUNT,
  usd: z.string().describe('The same in US dollars, an exact decimal'),
  txHash: TX_HASH,
  settledAt: TIME.describe('Time of its block'),
  ref: z.string().nullable().describe('Code of the partner, in lower case; null without one'),
});

const TYPE_FIELDS = z.array(z.object({ name: z.string().describe('Name of the field'), type: z.string().describe("Solidity's type") }));

/** EIP-712 typed data that binds payment and document together. */
export const RECEIPT = z.object({
  domain: z
    .object({
      name: z.string().describe('Name of the domain'),
      version: z.string().describe('Version of the domain'),
      chainId: z.int().describe('Id of the chain'),
    })
    .describe('EIP-712 domain'),
  types: z.object({ Receipt: TYPE_FIELDS.describe('Fields of a receipt, in their order') }).describe('EIP-712 types'),
  primaryType: z.literal('Receipt').describe('EIP-712 primary type'),
  message: z
    .object({
      payer: PAYER,
      payee: PAYEE,
      asset: ASSET,
      amount: AMOUNT,
      resource: z.string().describe('What was bought, e.g. `purchase:svc_alpha_brief`'),
      answerHash: BYTES32.describe('keccak256 of the RFC 8785 form of `document`, in UTF-8'),
      forecastId: z.string().describe('Id of the forecast that was sold; empty where none was'),
      attestationUid: BYTES32.describe('Uid of its attestation; zero where there is none'),
      txHash: TX_HASH,
      settledAt: INTEGER_TEXT.describe('Time of the payment, seconds since 1970'),
    })
    .describe('What was signed; whole numbers as decimal text'),
  signature: z
    .string()
    .regex(/^0x[0-9a-f]+$/)
    .describe('Signature of `signer` over the typed data, which `verifyTypedData` of any library checks'),
  signer: ADDRESS.describe("The service's provider wallet"),
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
  payment: PAYMENT.describe('What was paid for it'),
  receipt: RECEIPT.describe('Receipt that binds payment and document together'),
});
