import { z } from 'zod';
import { JOB_STATES } from '../../../../chain/erc8183/abi.ts';
import { ADDRESS, BYTES32, INTEGER_TEXT, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { rawWalletInput, signatureInput } from '../../server/parsing/wallet-parameters.ts';
import { CROWD_VS_ORACLE } from '../documents/crowd-schemas.ts';
import { BITCOIN_SIGNAL } from '../documents/forecast-schemas.ts';
import { MARKET_CONTEXT_DOCUMENT } from '../documents/market-schemas.ts';
import { DECIMAL, PAYMENT, RECEIPT } from '../payment-schemas.ts';

/** Id of a job: a number of up to 256 bits. */
export const JOB_PARAMS = z.object({
  jobId: z
    .string()
    .regex(/^(0|[1-9]\d{0,77})$/, 'must be a whole number, as the contract numbers its jobs')
    .describe('Number of the job in the contract'),
});

export const FETCH_BODY = z.strictObject({
  wallet: rawWalletInput,
  timestamp: z
    .int('must be a whole number: Unix time in seconds or milliseconds')
    .min(0, 'must not be negative')
    .describe('Unix time as it stands in the signed message, in seconds or milliseconds; within 5 minutes of the time here'),
  signature: signatureInput,
});

const PRICE = z.object({
  amount: INTEGER_TEXT.describe('Smallest units of the stablecoin, as digits'),
  usd: DECIMAL.describe('The same in US dollars, an exact decimal'),
});

const DELIVERABLE = z.object({
  hash: BYTES32.describe('keccak256 of the bytes that were delivered; `deliverable` of the job on chain'),
  txHash: BYTES32.describe('Transaction that submitted it'),
  submittedAt: TIME.describe('Time of its block'),
  path: z.string().describe('Where client and evaluator fetch the bytes'),
});

/** `GET /api/svc/commerce/jobs/{jobId}`. */
export const JOB_REPLY = z.object({
  success: SUCCESS,
  jobId: INTEGER_TEXT.describe('Number of the job in the contract'),
  contract: ADDRESS.describe('The ERC-8183 contract'),
  chain: z.string().describe('Its chain, as CAIP-2, e.g. eip155:8453'),
  provider: ADDRESS.describe("This service's wallet"),
  state: z.enum(JOB_STATES).describe('State on chain, at the confirmation depth'),
  accepted: z.boolean().nullable().describe('Whether the job is taken on; null until it is decided'),
  reason: z.string().nullable().describe('Why it is refused; null when it is not'),
  next: z.string().describe('What happens next, and who has to do it'),
  waitingFor: z
    .string()
    .nullable()
    .describe(
      'Code of what holds the provider up just now, who tries again, e.g. STEP_WAITING while another job is served first; null when nothing does',
    ),
  offering: z.string().nullable().describe('What is asked for; null where the description does not say'),
  price: PRICE.nullable().describe('What it costs; null without an offering'),
  budget: PRICE.describe('What the job pays, by the contract'),
  ref: z.string().nullable().describe('Code of the partner who sent the client; null without one'),
  client: ADDRESS.describe('Who created the job'),
  evaluator: ADDRESS.describe('Who completes or rejects it'),
  expiresAt: TIME.describe(
    'When it expires, at most the end of the year 9999; the client gets his money back after that unless the job is completed',
  ),
  deliverable: DELIVERABLE.nullable().describe('What was delivered, without its content; null before'),
  payment: PAYMENT.nullable().describe(
    'What it brought: paid by the client through the contract when the evaluator completed the job, fees of the contract deducted; null until then',
  ),
  receipt: RECEIPT.nullable().describe(
    'Signed by the provider once it is paid; its `answerHash` is the keccak256 of the delivered bytes, all of them as they come; null before',
  ),
  updatedAt: TIME.describe('When this was read from the database; the chain is read every few seconds'),
});

/** The bytes are canonical JSON (RFC 8785) in UTF-8; their keccak256 is the job's `deliverable` on chain. */
export const DELIVERY = z.object({
  kind: z.literal('agent-commerce-delivery').describe('What this is'),
  job: z
    .object({
      chain: z.string().describe('Chain of the contract, as CAIP-2'),
      contract: ADDRESS.describe('The ERC-8183 contract'),
      jobId: INTEGER_TEXT.describe('Number of the job in it'),
      client: ADDRESS.describe('Who created the job'),
      evaluator: ADDRESS.describe('Who completes or rejects it'),
      provider: ADDRESS.describe("This service's wallet, which submitted the hash of these bytes"),
    })
    .describe('The job that is served'),
  offering: z.string().describe('What was asked for'),
  title: z.string().describe('Its name for people'),
  price: z.string().describe('What it costs, e.g. 1.00 USD'),
  composedAt: TIME.describe('When it was composed'),
  forecastId: z.string().nullable().describe('The forecast that is sold; null where none is'),
  attestationUid: BYTES32.nullable().describe('Of its attestation; null where there is none'),
  document: z
    .discriminatedUnion('kind', [BITCOIN_SIGNAL, MARKET_CONTEXT_DOCUMENT, CROWD_VS_ORACLE])
    .describe('The document of the offering, told apart by `kind`'),
  salt: BYTES32.describe('Random: everybody knows the hash of these bytes, and cannot find them by trying'),
});
