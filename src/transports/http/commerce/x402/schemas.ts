import { z } from 'zod';
import { X402_ERROR_CODES } from '../../../../commerce/x402/protocol/error-codes.ts';
import { ADDRESS, COUNT, INTEGER_TEXT, SUCCESS } from '../../../../platform/validation/fields.ts';
import { CHAIN, DECIMAL, RECEIPT, SOLD } from '../payment-schemas.ts';

/** Terms of version 1 of the protocol. */
export const REQUIREMENTS_V1 = z.object({
  scheme: z.literal('exact').describe('Exactly this amount, by an authorization of EIP-3009 that the payer signs'),
  network: z.string().describe('The chain by its name in version 1, e.g. base'),
  maxAmountRequired: INTEGER_TEXT.describe("What has to be paid, in the asset's smallest unit"),
  asset: ADDRESS.describe('The stablecoin'),
  payTo: ADDRESS.describe('The wallet to pay to'),
  maxTimeoutSeconds: COUNT.describe('For how many seconds the authorization should be good'),
  extra: z
    .object({ name: z.string().describe('Name'), version: z.string().describe('Version') })
    .describe('EIP-712 domain of the stablecoin, beside chain and contract'),
  resource: z.url().describe('What is paid for'),
  description: z.string().describe('What it is'),
  mimeType: z.string().describe('Media type of the answer'),
});

/** Terms of version 2. */
export const REQUIREMENTS_V2 = z.object({
  scheme: REQUIREMENTS_V1.shape.scheme,
  network: CHAIN,
  amount: REQUIREMENTS_V1.shape.maxAmountRequired,
  asset: REQUIREMENTS_V1.shape.asset,
  payTo: REQUIREMENTS_V1.shape.payTo,
  maxTimeoutSeconds: REQUIREMENTS_V1.shape.maxTimeoutSeconds,
  extra: REQUIREMENTS_V1.shape.extra,
});

const TO_PAY = z.object({
  offering: z.string().describe('What is paid for, as in the list of offerings'),
  resource: z.url().describe('The URL that is paid for, with its query'),
  scheme: REQUIREMENTS_V1.shape.scheme,
  amount: REQUIREMENTS_V1.shape.maxAmountRequired,
  usd: DECIMAL.describe('The same in US dollars, an exact decimal'),
  asset: REQUIREMENTS_V1.shape.asset,
  assetName: z.string().describe('Name of the stablecoin in its EIP-712 domain'),
  payTo: REQUIREMENTS_V1.shape.payTo,
  chain: CHAIN,
  network: z.string().nullable().describe('The chain by its name in version 1 of the protocol; null for one that has none there'),
  validForSeconds: REQUIREMENTS_V1.shape.maxTimeoutSeconds,
  realMoney: z.boolean().describe('False on a local chain, whose stablecoin anybody can make'),
  docs: z.url().describe('How to pay, step by step, as plain text; its section on paying for a single answer'),
  reference: z.url().describe('The reference of this interface, for browsers'),
  terms: z.url().describe('Everything that is paid for this way, with its terms'),
  otherwise: z.string().describe('Other ways to pay, and to get in'),
});

/** What a 402 of a paid operation has beside the members of every problem. */
export const PAYMENT_MEMBERS = {
  x402Version: z
    .literal(1)
    .describe('With `error` and `accepts` the body is the 402 of x402 version 1; that of version 2 is in PAYMENT-REQUIRED'),
  error: z
    .enum(['payment_required', ...X402_ERROR_CODES])
    .describe('Why nothing is answered: `payment_required` without a payment, else the code of x402 version 2, section 9'),
  reason: z
    .string()
    .optional()
    .describe(
      'The same more precisely, as this service or its facilitator says it, e.g. `expires_too_soon`; absent where `error` says it all',
    ),
  accepts: z.array(REQUIREMENTS_V1).describe('The terms in version 1; empty on a chain that has no name there'),
  payment: TO_PAY.describe('What to pay, to whom, on which chain, for how long the authorization should be good, and where to read more'),
};

/** `POST /api/svc/commerce/answers`: any answer that was sold, whichever door it was sold through. */
export const ANSWER_AGAIN = z
  .looseObject(SOLD)
  .describe('The answer as it was given when it was paid for; the reference of what was bought describes it');

const URL_OF = (what: string) => z.url().describe(what);

const RESOURCE = z.object({
  resource: URL_OF('Where it is asked for, without its query'),
  type: z.literal('http').describe('How it is reached'),
  method: z.literal('GET').describe('Method'),
  offering: z.string().describe('The offering, as in the list of offerings'),
  title: z.string().describe('Its name for people'),
  description: z.string().describe('What it is'),
  delivers: z.array(z.string()).describe('What the buyer gets, piece by piece'),
  evidence: z.string().describe('What the buyer can check it against'),
  mimeType: z.string().describe('Media type of the answer'),
  price: z
    .object({
      usd: DECIMAL.describe('In US dollars, an exact decimal'),
      amount: INTEGER_TEXT.describe("In the asset's smallest unit"),
      display: z.string().describe('As text'),
    })
    .describe('What one answer costs'),
  x402Version: z.literal(2).describe('Version that `accepts` is in'),
  accepts: z.array(REQUIREMENTS_V2).describe('The terms in version 2'),
  v1: z
    .object({ x402Version: z.literal(1).describe('Version that `accepts` is in'), accepts: z.array(REQUIREMENTS_V1).describe('The terms') })
    .describe('The terms in version 1; none on a chain that has no name there'),
  input: z.record(z.string(), z.unknown()).describe('JSON Schema of the query'),
  example: z.string().describe('How it is asked for'),
  freeHold: z.boolean().describe('Whether an abstention (HOLD) is told without a charge: to requests that could have paid'),
  docs: URL_OF('The operation in the reference'),
});

/** `GET /.well-known/x402.json` (interface, section 4.1). */
export const X402_DOCUMENT = z.object({
  success: SUCCESS,
  version: z.literal(1).describe('Version of the form of this document'),
  x402Versions: z.array(z.int()).describe('Versions of the protocol that are served'),
  name: z.string().describe('Name of the service'),
  description: z.string().describe('What it is'),
  chain: CHAIN,
  network: z.string().nullable().describe('The chain by its name in version 1; null for one that has none there'),
  payee: ADDRESS.describe('The wallet that is paid'),
  asset: z
    .object({
      address: ADDRESS.describe('The contract'),
      name: z.string().describe('Name in its EIP-712 domain'),
      version: z.string().describe('Version in its EIP-712 domain'),
      decimals: COUNT.describe('10^decimals smallest units are one US dollar'),
    })
    .describe('The stablecoin that prices are paid in'),
  realMoney: z.boolean().describe('False on a local chain, whose stablecoin anybody can make'),
  facilitator: z
    .object({
      kind: z.enum(['in-process', 'external']).describe('Who verifies and settles payments: this service itself, or somebody else'),
      url: z.url().nullable().describe('Where the other one is; null for this service itself'),
    })
    .describe('Clients need not speak to it'),
  headers: z
    .object({
      proof: z
        .array(z.string())
        .describe('A payment may come in any of them, as base64 of its JSON, in either version; one payment a request'),
      terms: z.string().describe('What has to be paid, in version 2, with a 402; version 1 is in its body'),
      settlement: z.array(z.string()).describe('What was paid, in version 2 and in version 1'),
    })
    .describe('Headers'),
  extensions: z
    .array(z.string())
    .describe(
      'Extensions of the protocol: with `payment-identifier` a client names its payment, and gets the same answer again under that name',
    ),
  resources: z.array(RESOURCE).describe('What is paid for with the request itself'),
  receipt: z
    .object({
      domain: RECEIPT.shape.domain,
      types: RECEIPT.shape.types,
      primaryType: RECEIPT.shape.primaryType,
      signer: RECEIPT.shape.signer,
      answerHash: z.string().describe('What `answerHash` is made of'),
    })
    .describe('How receipts are signed'),
  again: z
    .object({
      url: URL_OF('POST there'),
      message: z.string().describe('What the wallet that paid signs (EIP-191)'),
      days: COUNT.describe('For how many days answers are kept'),
    })
    .describe('How an answer that was paid for is fetched again'),
  mcp: z.object({ url: URL_OF('The MCP server'), how: z.string().describe('How a call is paid for') }).describe('The same over MCP'),
  a2a: z.object({ card: URL_OF('The agent card'), how: z.string().describe('How a task is paid for') }).describe('The same over A2A'),
  docs: URL_OF('The reference of this interface'),
  offerings: URL_OF('Everything that is sold, the other ways to pay included'),
});

/** `GET /.well-known/x402`, as indexes of paid resources read it. */
export const X402_RESOURCES = z.object({
  version: z.literal(1).describe('Version of the form'),
  resources: z.array(z.url()).describe('What answers 402 with its terms until it is paid for'),
  instructions: z.string().describe('What an agent should know first'),
});
