import { z } from 'zod';
import { JOB_STATES } from '../../../../chain/erc8183/abi.ts';
import { objectOf } from '../../../../platform/validation/described.ts';
import { ADDRESS, BYTES32, DECIMAL, INTEGER_TEXT, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { LOGIN_BODY } from '../../auth/schemas.ts';
import { rawWalletInput, signatureInput } from '../../server/parsing/wallet-parameters.ts';
import { CROWD_VS_ORACLE } from '../documents/crowd-schemas.ts';
import { BITCOIN_SIGNAL } from '../documents/forecast-schemas.ts';
import { MARKET_CONTEXT_DOCUMENT } from '../documents/market-schemas.ts';
import { PAYMENT, RECEIPT } from '../payment-schemas.ts';

/** A uint256. */
export const JOB_PARAMS = z.object({
  jobId: z
    .string()
    .regex(/^(0|[1-9]\d{0,77})$/, 'must be a whole number, as the contract numbers its jobs')
    .describe('Job id in the contract'),
});

export const FETCH_BODY = z.strictObject({
  wallet: rawWalletInput,
  timestamp: LOGIN_BODY.shape.timestamp,
  signature: signatureInput,
});

const PRICE = z.object({
  amount: INTEGER_TEXT.describe('Smallest units of the stablecoin, as digits'),
  usd: DECIMAL.describe('The same in USD, an exact decimal'),
});

const DELIVERABLE = z.object({
  hash: BYTES32.describe('keccak256 of the delivered bytes; `deliverable` on chain'),
  txHash: BYTES32.describe('Submission transaction'),
  submittedAt: TIME.describe('Block time'),
  path: z.string().describe('Path of the deliverable, for client and evaluator'),
});

export const JOB_REPLY = z.object({
  success: SUCCESS,
  jobId: INTEGER_TEXT.describe('Job id in the contract'),
  contract: ADDRESS.describe('ERC-8183 contract'),
  chain: z.string().describe('Chain, CAIP-2, e.g. eip155:8453'),
  provider: ADDRESS.describe('Provider wallet of this service'),
  state: z.enum(JOB_STATES).describe('State on chain, at the confirmation depth'),
  accepted: z.boolean().nullable().describe('Whether the job is accepted; null until decided'),
  reason: z.string().nullable().describe('Reason for the rejection; null otherwise'),
  next: z.string().describe('Next step, and the actor of it'),
  waitingFor: z
    .string()
    .nullable()
    .describe('Error code that delays the provider, which retries, e.g. STEP_WAITING while it serves another job; null otherwise'),
  offering: z.string().nullable().describe('Requested offering; null where the description names none'),
  price: PRICE.nullable().describe('Price; null without an offering'),
  budget: PRICE.describe('Budget of the job in the contract'),
  ref: z.string().nullable().describe('Ref code of the partner; null without one'),
  client: ADDRESS.describe('Client, which created the job'),
  evaluator: ADDRESS.describe('Evaluator, which completes or rejects it'),
  expiresAt: TIME.describe('Expiry, at most the end of year 9999; after it the client is refunded unless the job is completed'),
  deliverable: DELIVERABLE.nullable().describe('Deliverable without its content; null before submission'),
  payment: PAYMENT.nullable().describe('Payment by the client through the contract on completion, net of contract fees; null before'),
  receipt: RECEIPT.nullable().describe(
    'Receipt, signed by the provider after payment; `answerHash` is the keccak256 of the delivered bytes; null before',
  ),
  updatedAt: TIME.describe('When the database was read; the chain is polled every few seconds'),
});

/** The bytes are canonical JSON (RFC 8785) in UTF-8; their keccak256 is the job's `deliverable` on chain. */
export const DELIVERY = z.object({
  kind: z.literal('agent-commerce-delivery').describe('Document type'),
  job: objectOf('Job', {
    chain: z.string().describe('Chain of the contract, CAIP-2'),
    contract: ADDRESS.describe('ERC-8183 contract'),
    jobId: INTEGER_TEXT.describe('Job id'),
    client: ADDRESS.describe('Client, which created the job'),
    evaluator: ADDRESS.describe('Evaluator, which completes or rejects it'),
    provider: ADDRESS.describe('Provider wallet of this service, which submitted the hash of these bytes'),
  }),
  offering: z.string().describe('Requested offering'),
  title: z.string().describe('Display name'),
  price: z.string().describe('Price, e.g. 1.00 USD'),
  composedAt: TIME.describe('When it was composed'),
  forecastId: z.string().nullable().describe('Included forecast; null where none is'),
  attestationUid: BYTES32.nullable().describe('UID of its attestation; null where there is none'),
  document: z
    .discriminatedUnion('kind', [BITCOIN_SIGNAL, MARKET_CONTEXT_DOCUMENT, CROWD_VS_ORACLE])
    .describe('Document of the offering, by `kind`'),
  salt: BYTES32.describe('Random salt: the hash of these bytes is public, and must not be guessable'),
});
