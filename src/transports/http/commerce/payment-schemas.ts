import { z } from 'zod';
import { objectOf } from '../../../platform/validation/described.ts';
import { ADDRESS, BYTES32, DECIMAL, HEX, INTEGER_TEXT, TIME } from '../../../platform/validation/fields.ts';

export const CHAIN = z.string().describe('Chain, CAIP-2, e.g. eip155:8453');

const AMOUNT = INTEGER_TEXT.describe('Amount received, in the smallest unit of the asset: millionths of a USD');
const PAYER = ADDRESS.describe('Paying wallet');
const PAYEE = ADDRESS.describe('Paid wallet');
const ASSET = ADDRESS.describe('Stablecoin');
const TX_HASH = BYTES32.describe('Payment transaction');
const BOUGHT = z
  .string()
  .describe('Bought resource: a URL with its query, `purchase:<offering>`, or `job:<contract>:<job id>` with the contract in lower case');

export const PAYMENT = z.object({
  offering: z.string().describe('Offering id, `<channel>:<name>`, e.g. x402:x402_signal'),
  resource: BOUGHT,
  payer: PAYER,
  payee: PAYEE,
  asset: ASSET,
  chain: CHAIN,
  amount: AMOUNT,
  usd: DECIMAL.describe('The same in USD, an exact decimal'),
  txHash: TX_HASH,
  settledAt: TIME.describe('Block time'),
  ref: z.string().nullable().describe('Ref code of the partner, lower case; null without one'),
  feedbackPath: z
    .string()
    .describe(
      'ERC-8004 feedback file of this payment, with `?value=` of your choice; `/transaction` after it has the call that submits it',
    ),
});

const TYPE_FIELDS = z.array(z.object({ name: z.string().describe('Field name'), type: z.string().describe('Solidity type') }));

/** EIP-712 typed data that binds a payment to its delivery. */
export const RECEIPT = z.object({
  domain: objectOf('EIP-712 domain', {
    name: z.string().describe('Domain name'),
    version: z.string().describe('Domain version'),
    chainId: z.int().describe('Chain id'),
  }),
  types: z.object({ Receipt: TYPE_FIELDS.describe('Receipt fields, in order') }).describe('EIP-712 types'),
  primaryType: z.literal('Receipt').describe('EIP-712 primary type'),
  message: objectOf('Signed message; integers as decimal text', {
    payer: PAYER,
    payee: PAYEE,
    asset: ASSET,
    amount: AMOUNT,
    resource: BOUGHT,
    answerHash: BYTES32.describe(
      "keccak256 of the RFC 8785 form (UTF-8) of the delivery: an answer without `payment` and `receipt`, the `output` of a skill, the `document` of a purchase, or the `hash` of a job's deliverable",
    ),
    forecastId: z.string().describe('Forecast id; empty where none was sold'),
    attestationUid: BYTES32.describe('UID of its attestation; zero where there is none'),
    txHash: TX_HASH,
    settledAt: INTEGER_TEXT.describe('Time of the payment, Unix seconds'),
  }),
  signature: HEX.describe('Signature of `signer` over the typed data, for any `verifyTypedData`'),
  signer: ADDRESS.describe('Provider wallet of the service, as in the signed agent card'),
});

export const SOLD = {
  payment: PAYMENT.describe('Payment'),
  receipt: RECEIPT.describe('Signed receipt: proof of what was sold, and that it matches the commitment'),
};
