import { z } from 'zod';
import { X402_ERROR_CODES } from '../../commerce/x402/terms.ts';
import { ADDRESS, BYTES32, COUNT, DECIMAL, HEX, INTEGER_TEXT, namedObject, objectOf, SUCCESS, TIME } from '../../platform/validation.ts';
import { HORIZON_CALLS } from '../../record/schemas/track-record.ts';

const CHAIN = z.string().describe('Chain, CAIP-2, e.g. eip155:8453');

const AMOUNT = INTEGER_TEXT.describe('Amount received, in the smallest unit of the asset: millionths of a USD');
const PAYER = ADDRESS.describe('Paying wallet');
const PAYEE = ADDRESS.describe('Paid wallet');
const ASSET = ADDRESS.describe('Stablecoin');
const TX_HASH = BYTES32.describe('Payment transaction');
const BOUGHT = z
  .string()
  .describe('Bought resource: a URL with its query, `purchase:<offering>`, or `job:<contract>:<job id>` with the contract in lower case');

export const PAYMENT = namedObject('Payment', {
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
export const RECEIPT = namedObject('Receipt', {
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

const REQUIREMENTS_V1 = namedObject('RequirementsV1', {
  scheme: z.literal('exact').describe('Exact amount, by an EIP-3009 authorization that the payer signs'),
  network: z.string().describe('Chain name in x402 version 1, e.g. base'),
  maxAmountRequired: INTEGER_TEXT.describe('Amount to pay, in the smallest unit of the asset'),
  asset: ADDRESS.describe('Stablecoin'),
  payTo: ADDRESS.describe('Recipient wallet'),
  maxTimeoutSeconds: COUNT.describe('Required validity of the authorization, seconds'),
  extra: objectOf('EIP-712 domain of the stablecoin, besides chain and contract', {
    name: z.string().describe('Name'),
    version: z.string().describe('Version'),
  }),
  resource: z.url().describe('Paid resource'),
  description: z.string().describe('What it is'),
  mimeType: z.string().describe('Media type of the answer'),
});

const { scheme, maxAmountRequired: amount, asset, payTo, maxTimeoutSeconds, extra } = REQUIREMENTS_V1.shape;

export const REQUIREMENTS_V2 = namedObject('RequirementsV2', { scheme, network: CHAIN, amount, asset, payTo, maxTimeoutSeconds, extra });

const TO_PAY = z.object({
  offering: z.string().describe('Offering id'),
  resource: z.url().describe('Paid URL with its query'),
  scheme,
  amount,
  usd: DECIMAL.describe('The same in USD, an exact decimal'),
  asset,
  assetName: z.string().describe('Name of the stablecoin in its EIP-712 domain'),
  payTo,
  chain: CHAIN,
  network: z.string().nullable().describe('Chain name in x402 version 1; null where it has none'),
  validForSeconds: maxTimeoutSeconds,
  realMoney: z.boolean().describe('False on a local chain, where anyone can mint the stablecoin'),
  docs: z.url().describe('Payment instructions, plain text'),
  reference: z.url().describe('API reference, for browsers'),
  terms: z.url().describe('All x402 resources with their terms'),
  otherwise: z.string().describe('Other ways to pay and to get access'),
});

/** Extension members of a 402 problem document. */
export const PAYMENT_MEMBERS = {
  x402Version: z.literal(1).describe('With `error` and `accepts` the body is the 402 of x402 version 1; version 2 is in PAYMENT-REQUIRED'),
  error: z
    .enum(['payment_required', ...X402_ERROR_CODES])
    .describe('`payment_required` without a payment, else an error code of x402 version 2, section 9'),
  reason: z
    .string()
    .optional()
    .describe('More specific reason of the service or its facilitator, e.g. `expires_too_soon`; absent where equal to `error`'),
  accepts: z.array(REQUIREMENTS_V1).describe('Requirements in version 1; empty on a chain without a name there'),
  payment: TO_PAY.describe('Summary of the payment: amount, recipient, chain, validity, and where to read more'),
  revealedCalls: HORIZON_CALLS.optional().describe('Calls of the revealed days by horizon'),
};

const URL_OF = (what: string) => z.url().describe(what);

const RESOURCE = z.object({
  resource: URL_OF('URL without its query'),
  type: z.literal('http').describe('Transport'),
  method: z.enum(['GET', 'POST']).describe('Method'),
  offering: z.string().describe('Offering id'),
  title: z.string().describe('Display name'),
  description: z.string().describe('What it is'),
  delivers: z.array(z.string()).describe('What the buyer receives'),
  evidence: z.string().describe('How the buyer can verify it'),
  mimeType: z.string().describe('Media type of the answer'),
  price: objectOf('Price of one answer', {
    usd: DECIMAL.describe('In USD, an exact decimal'),
    amount: INTEGER_TEXT.describe('In the smallest unit of the asset'),
    display: z.string().describe('As text'),
  }),
  x402Version: z.literal(2).describe('Protocol version of `accepts`'),
  accepts: z.array(REQUIREMENTS_V2).describe('Requirements in version 2'),
  v1: objectOf('Requirements in version 1; none on a chain without a name there', {
    x402Version: z.literal(1).describe('Protocol version of `accepts`'),
    accepts: z.array(REQUIREMENTS_V1).describe('Requirements'),
  }),
  input: z.record(z.string(), z.unknown()).describe('JSON Schema of the query; of the body where the method is POST'),
  example: z.string().describe('Example request'),
  docs: URL_OF('Operation in the API reference'),
});

export const X402_DOCUMENT = namedObject('X402Document', {
  success: SUCCESS,
  version: z.literal(1).describe('Format version of this document'),
  x402Versions: z.array(z.int()).describe('Supported protocol versions'),
  name: z.string().describe('Name of the service'),
  description: z.string().describe('What it is'),
  chain: CHAIN,
  network: z.string().nullable().describe('Chain name in version 1; null where it has none'),
  payee: ADDRESS.describe('Paid wallet'),
  asset: objectOf('Stablecoin', {
    address: ADDRESS.describe('Contract'),
    name: z.string().describe('Name in its EIP-712 domain'),
    version: z.string().describe('Version in its EIP-712 domain'),
    decimals: COUNT.describe('10^decimals smallest units are one USD'),
  }),
  realMoney: z.boolean().describe('False on a local chain, where anyone can mint the stablecoin'),
  facilitator: objectOf('Facilitator; clients need not call it', {
    kind: z.enum(['in-process', 'external']).describe('Whether this service or an external facilitator verifies and settles'),
    url: z.url().nullable().describe('URL of the external facilitator; null for this service'),
  }),
  headers: objectOf('Headers', {
    proof: z.array(z.string()).describe('Each takes a payment as base64 JSON, in either version; one payment per request'),
    terms: z.string().describe('Requirements of a 402 in version 2; version 1 is in the body'),
    settlement: z.array(z.string()).describe('Settlement in version 2 and version 1'),
  }),
  extensions: z
    .array(z.string())
    .describe(
      'Protocol extensions: with `payment-identifier` a client names its payment, and retries get the same answer; `bazaar` describes the resource to directories; with `offer-receipt` terms and payment are signed',
    ),
  resources: z.array(RESOURCE).describe('x402 resources'),
  receipt: objectOf('How receipts are signed', {
    domain: RECEIPT.shape.domain,
    types: RECEIPT.shape.types,
    primaryType: RECEIPT.shape.primaryType,
    signer: RECEIPT.shape.signer,
    answerHash: z.string().describe('What `answerHash` covers'),
  }),
  again: objectOf('Redelivery of a paid answer', {
    url: URL_OF('POST there'),
    message: z.string().describe('Text that the paying wallet signs (EIP-191)'),
    days: COUNT.describe('Days that answers are kept'),
  }),
  mcp: z.object({ url: URL_OF('MCP server'), how: z.string().describe('How to pay a call') }).describe('MCP'),
  a2a: z.object({ card: URL_OF('Agent card'), how: z.string().describe('How to pay a task') }).describe('A2A'),
  docs: URL_OF('API reference'),
  offerings: URL_OF('All offerings, other channels included'),
});
