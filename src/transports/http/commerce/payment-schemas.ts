import { z } from 'zod';
import { ADDRESS, BYTES32, INTEGER_TEXT, TIME } from '../../../platform/validation/fields.ts';

export const DECIMAL = z.string().regex(/^\d+(\.\d+)?$/);
/** A chain by its CAIP-2 name. */
export const CHAIN = z.string().describe('The chain, as CAIP-2, e.g. eip155:8453');

const AMOUNT = INTEGER_TEXT.describe("What arrived, in the asset's smallest unit: millionths of a US dollar");
const PAYER = ADDRESS.describe('The wallet that paid');
const PAYEE = ADDRESS.describe('The wallet that was paid');
const ASSET = ADDRESS.describe('The stablecoin');
const TX_HASH = BYTES32.describe('The transaction that brought the money');
const BOUGHT = z
  .string()
  .describe(
    'What was asked for: a URL with its query, `purchase:<offering>`, or `job:<contract>:<job id>` with the contract in lower case',
  );

/** How something was paid for, whichever way. */
export const PAYMENT = z.object({
  offering: z.string().describe('What was bought, as `id` in the list of offerings: its channel and its name, e.g. x402:x402_signal'),
  resource: BOUGHT,
  payer: PAYER,
  payee: PAYEE,
  asset: ASSET,
  chain: CHAIN,
  amount: AMOUNT,
  usd: DECIMAL.describe('The same in US dollars, an exact decimal'),
  txHash: TX_HASH,
  settledAt: TIME.describe('Time of its block'),
  ref: z.string().nullable().describe('Code of the partner who sent the payer, in lower case; null without one'),
});

const TYPE_FIELDS = z.array(z.object({ name: z.string().describe('Name of the field'), type: z.string().describe("Solidity's type") }));

/** EIP-712 typed data that binds a payment and what was delivered for it together. */
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
      resource: BOUGHT,
      answerHash: BYTES32.describe(
        'keccak256 of the RFC 8785 form, in UTF-8, of what was delivered: an answer without `payment` and `receipt`, the `document` of a purchase; of a job the `hash` of its deliverable',
      ),
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
  signer: ADDRESS.describe("The service's provider wallet, which the signed agent card names"),
});

/** What every sold answer ends with. */
export const SOLD = {
  payment: PAYMENT.describe('How this was paid for'),
  receipt: RECEIPT.describe('The signed receipt: with it the buyer shows that what was sold is what was committed'),
};
