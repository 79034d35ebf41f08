import { z } from 'zod';
import { EAS_SCHEMAS, type SchemaName } from '../../chain/eas/schemas.ts';
import { ADDRESS, BYTES32, COUNT, INTEGER_TEXT, listOf, namedObject, objectOf, SUCCESS, TIME } from '../../platform/validation.ts';
import {
  DIRECTION,
  FORECAST_DISTRIBUTIONS,
  FORECAST_ID,
  FORECAST_PRICES,
  FORECAST_STATE,
  FORECAST_VALUES,
  HORIZON,
  OUTCOME,
} from './forecast.ts';
import { ENTRY } from './track-record.ts';

const KIND = z.enum(['prediction', 'resolution']);
const SCHEMA_NAMES = Object.keys(EAS_SCHEMAS) as SchemaName[];

/** Interface, section 2.5: the fields of both shapes. */
const ATTESTATION = namedObject('Attestation', {
  ...FORECAST_ID,
  uid: BYTES32.describe('Uid of this attestation'),
  type: KIND.describe('`prediction` commits before the outcome window opens, `resolution` reveals after it ends'),
  txHash: BYTES32.describe('Transaction hash'),
  blockNumber: COUNT.describe('Block number'),
  attestedAt: TIME.describe('Block time'),
  ...FORECAST_VALUES,
  ...FORECAST_STATE,
  ...FORECAST_PRICES,
  correct: z.boolean().nullable().describe('Whether the direction came true; null while pending, and for HOLD and VOID'),
  actualDirection: DIRECTION.nullable().describe('Realized direction; null until the outcome is on chain'),
  outcome: OUTCOME.nullable().describe('null while pending, and for HOLD and VOID'),
  resolutionPrice: z.number().nullable().describe('The same as `btcAtResolution`'),
  cid: z.string().describe('CIDv1 of the metadata, served at `/ipfs/{cid}`'),
  commitment: BYTES32.describe('Commitment to the values on chain; zero for a missed day'),
  inputsDigest: BYTES32.describe("Digest of the forecast's inputs"),
  salt: BYTES32.nullable().describe('Salt that opens the commitment; null while the values are gated'),
  refUid: BYTES32.nullable().describe(
    'Referenced attestation: a resolution refers to its prediction, a prediction to that of the previous day; null on the first day',
  ),
  resolutionUid: BYTES32.nullable().describe("Uid of the prediction's resolution; null until it is on chain"),
});

export const LATEST_ATTESTATION = namedObject('LatestAttestation', {
  success: SUCCESS,
  data: ATTESTATION.describe('Newest prediction of the requested horizons'),
});

export type LatestAttestation = z.input<typeof LATEST_ATTESTATION>;

export const ATTESTATION_HISTORY = namedObject('AttestationHistory', {
  success: SUCCESS,
  data: z.array(ATTESTATION).describe('Newest first'),
  attestations: z.array(ATTESTATION).describe('The same as `data`, its other name in the interface'),
  count: COUNT.describe('Attestations on this page'),
  total: COUNT.describe('Attestations of these horizons in total'),
  horizons: z.array(HORIZON).describe('Horizons of this response'),
  nextCursor: BYTES32.nullable().describe('`before` of the next page; null on the last'),
});

export type AttestationHistory = z.input<typeof ATTESTATION_HISTORY>;

const PLAIN = z.union([z.string(), z.number(), z.boolean()]);

const MADE_CHECK = namedObject('MadeCheck', {
  check: z.string().describe('Id of the check'),
  what: z.string().describe('What holds, as a sentence'),
  ok: z.boolean().describe('Whether it holds'),
  open: z.string().nullable().describe('What of it could not be checked, and why; null when nothing is left'),
  differences: listOf('The comparisons that fail', {
    attestation: KIND.describe('The attestation it is about'),
    field: z.string().describe('Compared field'),
    expected: PLAIN.nullable().describe('Value that the record, or the rule of the check, requires; times in ISO 8601'),
    actual: PLAIN.nullable().describe('Value on chain'),
  }),
});

/** The checks of one forecast, the same over every interface. */
const CHECK_LIST = {
  verdict: z.string().describe('Verdict as a sentence'),
  agreeing: COUNT.describe('Number of `checks` that hold'),
  total: COUNT.describe('Number of `checks` and `unchecked`: all checks of a forecast in its state (pending, resolved, or void)'),
  checks: z.array(MADE_CHECK).describe('Checks that were made, in the order of the table of docs/VERIFY.md'),
  unchecked: listOf('Checks that could not be made, in the same order', {
    check: z.string().describe('Id of the check'),
    what: z.string().describe('What could not be checked'),
    reason: z.string().describe('Why, and when it can be checked'),
  }),
};

/** Only attestations of the record are verified; any other uid returns 404. */
export const VERIFICATION = namedObject('Verification', {
  ...ATTESTATION.shape,
  success: SUCCESS,
  data: objectOf('The attestation on chain', {
    uid: BYTES32.describe('Uid of the attestation'),
    attester: ADDRESS.describe('Attesting wallet'),
    schema: z.string().describe('Registered schema text, such as `uint64 sequence, uint32 day`; its uid is `schemaUid`'),
    schemaUid: BYTES32.describe('Schema uid: the keccak256 that EAS assigns'),
    schemaName: z.enum(SCHEMA_NAMES).nullable().describe("Name among this service's schemas; null for any other"),
    schemaVersion: z.string().describe("Version of this service's schemas; empty for any other"),
    refUid: BYTES32.describe('Referenced attestation; zero without one'),
    at: TIME.describe('Block time'),
    revoked: z.boolean().describe("True when revoked; this service's attestations cannot be"),
    decoded: listOf('Decoded fields; empty when data and schema do not match', {
      name: z.string().describe('Name of the field in the schema'),
      type: z.string().describe("Solidity's type"),
      value: PLAIN.describe('Numbers above 2^53 as decimal strings, bytes as hex'),
    }),
  }),
  onChain: z.literal(true).describe('Always true: a uid that is unknown, or not of this service, returns 404'),
  verified: z.boolean().describe('True when the prediction is on chain and no check fails'),
  ...CHECK_LIST,
  distributions: FORECAST_DISTRIBUTIONS.nullable().describe(
    'The committed distributions of champion and challengers, opened; null until the outcome is on chain',
  ),
  attester: ADDRESS.describe('Attesting wallet'),
  blockTime: TIME.describe('Block time'),
  easscanUrl: z.url().nullable().describe('Page in the EAS explorer; null on a local chain, or when no explorer is known'),
});

export type AttestationVerification = z.input<typeof VERIFICATION>;

export const ATTESTATION_STATS = namedObject('AttestationStats', {
  success: SUCCESS,
  data: objectOf('The figures of one shape of the interface; the rest is the other shape', {
    totalPublished: COUNT.describe('Prediction attestations'),
    totalResolved: COUNT.describe('Resolution attestations'),
    totalGasWei: INTEGER_TEXT.describe(
      'Cost in wei, decimal digits: gas, and the data fee of a rollup. A transaction that also carries other horizons counts in full',
    ),
  }),
  horizons: z.array(HORIZON).describe('Counted horizons'),
  totalAttestations: COUNT.describe('Predictions and resolutions'),
  predictions: COUNT.describe('Prediction attestations'),
  resolutions: COUNT.describe('Resolution attestations'),
  firstAttestation: TIME.nullable().describe('Block time of the first; null before it'),
  latestAttestation: TIME.nullable().describe('Block time of the newest; null before the first'),
  chain: z.string().describe('Chain id as CAIP-2, e.g. `eip155:8453`'),
  attester: ADDRESS.describe('Attesting wallet'),
});

export type AttestationStatsReply = z.input<typeof ATTESTATION_STATS>;

const BY_HAND = namedObject('ByHand', {
  chain: z.string().describe('Chain id as CAIP-2, e.g. eip155:8453'),
  easContract: ADDRESS.describe('EAS contract; `getAttestation(bytes32 uid)` reads an attestation'),
  attester: ADDRESS.describe('The wallet of all attestations of this service'),
  predictionSchema: objectOf('Schema of predictions', {
    uid: BYTES32.describe('Its uid'),
    fields: z.string().describe('Fields in encoding order, as Solidity'),
  }),
  resolutionSchema: objectOf('Schema of resolutions', {
    uid: BYTES32.describe('Its uid'),
    fields: z.string().describe('Fields in encoding order, as Solidity'),
  }),
  formula: z.string().describe('Formula of a commitment over salt and values, in this order'),
  codes: z.string().describe('Codes of the enum values'),
  steps: z.array(z.string()).describe('Steps of a manual verification, without trusting this service'),
});

export const PREDICTION_VERIFICATION = namedObject('PredictionVerification', {
  asOf: TIME.describe('Time of the verification'),
  verified: z
    .boolean()
    .describe('True when the prediction is on chain and no check fails; false also while nothing can be checked, as `verdict` states'),
  ...CHECK_LIST,
  attestations: listOf('The attestations read from the chain', {
    type: KIND.describe('`prediction` commits before the outcome window opens, `resolution` opens it with the outcome'),
    uid: BYTES32.describe('Its uid'),
    onChain: z.boolean().describe('Whether it is on chain'),
    blockTime: TIME.nullable().describe('Block time; null when it is not on chain'),
    attester: ADDRESS.nullable().describe('Attesting wallet; null when it is not on chain'),
    easscanUrl: z.url().nullable().describe('Page in the EAS explorer; null on a local chain, or when no explorer is known'),
  }),
  prediction: ENTRY.extend({
    commitment: BYTES32.describe('Commitment to the values on chain; zero for a missed day'),
    salt: BYTES32.nullable().describe('Salt that opens the commitment; null while the values are gated'),
  }).describe('The forecast cut to the caller'),
  distributions: FORECAST_DISTRIBUTIONS.nullable().describe(
    'The committed distributions of champion and challengers, opened; null until the outcome is on chain',
  ),
  byHand: BY_HAND.describe('How to verify without this service'),
});

export type PredictionVerificationReply = z.input<typeof PREDICTION_VERIFICATION>;
