import { z } from 'zod';
import { ADDRESS, BYTES32, COUNT, TIME } from '../../platform/validation/fields.ts';
import { CHECK } from './attestations.ts';
import { FORECAST_DISTRIBUTIONS } from './distributions.ts';
import { ENTRY } from './scorecard.ts';

const ATTESTATION = z.enum(['prediction', 'resolution']);

const STATED = CHECK.extend({
  attestation: ATTESTATION.describe('The attestation it is about'),
  what: z.string().describe('What was checked, as a sentence'),
});

const UNCHECKED = z.object({
  attestation: ATTESTATION.describe('The attestation it would be about'),
  what: z.string().describe('What could not be checked'),
  reason: z.string().describe('Why, and when it can be checked'),
});

const READ = z.object({
  type: ATTESTATION.describe('`prediction` commits before the outcome window opens, `resolution` opens it with the outcome'),
  uid: BYTES32.describe('Its uid'),
  onChain: z.boolean().describe('Whether it is on chain'),
  blockTime: TIME.nullable().describe('Block time; null when it is not on chain'),
  attester: ADDRESS.nullable().describe('Attesting wallet; null when it is not on chain'),
  easscanUrl: z.url().nullable().describe('Page in the EAS explorer; null on a local chain, or when no explorer is known'),
});

const BY_HAND = z.object({
  chain: z.string().describe('Chain id as CAIP-2, e.g. eip155:8453'),
  easContract: ADDRESS.describe('EAS contract; `getAttestation(bytes32 uid)` reads an attestation'),
  attester: ADDRESS.describe('The wallet of all attestations of this service'),
  predictionSchema: z
    .object({ uid: BYTES32.describe('Its uid'), fields: z.string().describe('Fields in encoding order, as Solidity') })
    .describe('Schema of predictions'),
  resolutionSchema: z
    .object({ uid: BYTES32.describe('Its uid'), fields: z.string().describe('Fields in encoding order, as Solidity') })
    .describe('Schema of resolutions'),
  formula: z.string().describe('Formula of a commitment over salt and values, in this order'),
  codes: z.string().describe('Codes of the enum values'),
  steps: z.array(z.string()).describe('Steps of a manual verification, without trusting this service'),
});

export const PREDICTION_VERIFICATION = z.object({
  asOf: TIME.describe('Time of the verification'),
  verified: z
    .boolean()
    .describe('True when the prediction is on chain and every check agrees; false also while nothing can be checked, as `verdict` states'),
  verdict: z.string().describe('Verdict as a sentence'),
  agreeing: COUNT.describe('Checks that agree'),
  checked: COUNT.describe('Number of checks'),
  checks: z.array(STATED).describe('Each check with expected and actual value'),
  unchecked: z.array(UNCHECKED).describe('Checks that were not possible, with the reason; empty when all were'),
  attestations: z.array(READ).describe('The attestations read from the chain'),
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
