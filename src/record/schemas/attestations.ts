import { z } from 'zod';
import { EAS_SCHEMAS, type SchemaName } from '../../chain/eas/schemas.ts';
import { ADDRESS, BYTES32, COUNT, INTEGER_TEXT, SUCCESS, TIME } from '../../platform/validation/fields.ts';
import { DIRECTION, FORECAST_ID, FORECAST_PRICES, FORECAST_STATE, FORECAST_VALUES, HORIZON, OUTCOME } from './forecast.ts';

const KIND = z.enum(['prediction', 'resolution']);
const SCHEMA_NAMES = Object.keys(EAS_SCHEMAS) as SchemaName[];

/** Interface, section 2.5: the fields of both shapes. */
const ATTESTATION = z.object({
  ...FORECAST_ID,
  uid: BYTES32.describe('Uid of this attestation'),
  type: KIND.describe('`prediction` was made before the outcome window opened, `resolution` once its outcome was known'),
  txHash: BYTES32.describe('Transaction that made it'),
  blockNumber: COUNT.describe('Block that it is in'),
  attestedAt: TIME.describe('Time of that block'),
  ...FORECAST_VALUES,
  ...FORECAST_STATE,
  ...FORECAST_PRICES,
  correct: z.boolean().nullable().describe('Whether the direction came true; null while pending, and for HOLD and VOID'),
  actualDirection: DIRECTION.nullable().describe('Where the price went; null until the outcome is on chain'),
  outcome: OUTCOME.nullable().describe('null while pending, and for HOLD and VOID'),
  resolutionPrice: z.number().nullable().describe('The same as `btcAtResolution`'),
  cid: z.string().describe('CIDv1 of the metadata, served at `/ipfs/{cid}`'),
  commitment: BYTES32.describe('What is on chain of the values; zero when nothing was forecast'),
  inputsDigest: BYTES32.describe('Digest of the inputs that the forecast was made from'),
  salt: BYTES32.nullable().describe('Opens the commitment together with the values; null while they are gated'),
  refUid: BYTES32.nullable().describe(
    'The attestation that this one refers to: a resolution its prediction, a prediction that of the day before; null on the first day',
  ),
  resolutionUid: BYTES32.nullable().describe("Uid of the prediction's resolution; null until it is on chain"),
});

export const LATEST_ATTESTATION = z.object({
  success: SUCCESS,
  data: ATTESTATION.describe('The newest prediction of the horizons asked for'),
});

export type LatestAttestation = z.input<typeof LATEST_ATTESTATION>;

export const ATTESTATION_HISTORY = z.object({
  success: SUCCESS,
  data: z.array(ATTESTATION).describe('Newest first'),
  attestations: z.array(ATTESTATION).optional().describe('The same as `data`; only with `?compat=1`'),
  count: COUNT.describe('How many this page has'),
  total: COUNT.describe('How many the horizons of this answer have in all'),
  horizons: z.array(HORIZON).describe('Horizons that this answer covers'),
  nextCursor: BYTES32.nullable().describe('`before` of the next page; null on the last'),
});

export type AttestationHistory = z.input<typeof ATTESTATION_HISTORY>;

const PLAIN = z.union([z.string(), z.number(), z.boolean()]);

const DECODED = z.object({
  name: z.string().describe('Name of the field in the schema'),
  type: z.string().describe("Solidity's type"),
  value: PLAIN.describe('Numbers beyond 2^53 as decimal text, bytes as hex'),
});

const ON_CHAIN = z.object({
  uid: BYTES32.describe('Uid of the attestation'),
  attester: ADDRESS.describe('Wallet that made it'),
  schema: z.string().describe('Text of its schema as registered, such as `uint64 sequence, uint32 day`: not its uid, which is `schemaUid`'),
  schemaUid: BYTES32.describe('Uid of its schema: the keccak256 that EAS names it by; `schema` has the text'),
  schemaName: z.enum(SCHEMA_NAMES).nullable().describe("Which of this service's schemas it is; null for any other"),
  schemaVersion: z.string().describe("Version of this service's schemas; empty for any other"),
  refUid: BYTES32.describe('The attestation that it refers to; zero without one'),
  at: TIME.describe('Block time'),
  revoked: z.boolean().describe("True when it was revoked, which this service's cannot be"),
  decoded: z.array(DECODED).describe('Its fields; empty when data and schema do not fit each other'),
});

export type OnChainReply = z.input<typeof ON_CHAIN>;

export const CHECK = z.object({
  field: z.string().describe('What was compared'),
  expected: PLAIN.nullable().describe('What the record says; times in ISO 8601'),
  actual: PLAIN.nullable().describe('What stands on chain'),
  ok: z.boolean().describe('Whether the two agree'),
});

/** Only attestations of the record are verified; any other uid returns 404. */
export const VERIFICATION = z.object({
  ...ATTESTATION.shape,
  success: SUCCESS,
  data: ON_CHAIN.describe('The attestation as it stands on chain'),
  onChain: z.literal(true).describe('Always true: a uid that is unknown, or not of this service, is answered with 404'),
  verified: z.boolean().describe('True when it says exactly what the record of this service says'),
  checks: z.array(CHECK).describe('Each comparison'),
  attester: ADDRESS.describe('Wallet that made it'),
  blockTime: TIME.describe('Time of its block'),
  easscanUrl: z.url().nullable().describe('Its page in the EAS explorer; null on a local chain, and where no explorer is known'),
});

export type AttestationVerification = z.input<typeof VERIFICATION>;

export const ATTESTATION_STATS = z.object({
  success: SUCCESS,
  data: z
    .object({
      totalPublished: COUNT.describe('Prediction attestations'),
      totalResolved: COUNT.describe('Resolution attestations'),
      totalGasWei: INTEGER_TEXT.describe(
        'Cost of the transactions that carry them, wei, decimal digits: gas at its price, and the fee that a rollup takes for data beside it. A transaction carries other horizons too, and is counted as a whole',
      ),
    })
    .describe('The figures of one shape of the interface; the rest is that of the other'),
  horizons: z.array(HORIZON).describe('Horizons that are counted'),
  totalAttestations: COUNT.describe('Predictions and resolutions'),
  predictions: COUNT.describe('Prediction attestations'),
  resolutions: COUNT.describe('Resolution attestations'),
  firstAttestation: TIME.nullable().describe('Block time of the first; null before it'),
  latestAttestation: TIME.nullable().describe('Block time of the newest; null before the first'),
  chain: z.string().describe('Chain they are on, CAIP-2, e.g. `eip155:8453`'),
  attester: ADDRESS.describe('Wallet that makes them'),
});

export type AttestationStatsReply = z.input<typeof ATTESTATION_STATS>;
