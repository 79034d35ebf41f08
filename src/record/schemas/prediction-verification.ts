import { z } from 'zod';
import { ADDRESS, BYTES32, COUNT, TIME } from '../../platform/validation/fields.ts';
import { CHECK } from './attestations.ts';
import { ENTRY } from './scorecard.ts';

const ATTESTATION = z.enum(['prediction', 'resolution']);

const STATED = CHECK.extend({
  attestation: ATTESTATION.describe('Which attestation it is about'),
  what: z.string().describe('What was checked, as a sentence'),
});

const UNCHECKED = z.object({
  attestation: ATTESTATION.describe('Which attestation it would be about'),
  what: z.string().describe('What could not be checked'),
  reason: z.string().describe('Why, and from when on it can be'),
});

const READ = z.object({
  type: ATTESTATION.describe('`prediction` commits before the outcome window opens, `resolution` opens it with the outcome'),
  uid: BYTES32.describe('Its uid'),
  onChain: z.boolean().describe('Whether the chain has it'),
  blockTime: TIME.nullable().describe('Time of its block; null when it is not on chain'),
  attester: ADDRESS.nullable().describe('Wallet that made it; null when it is not on chain'),
  easscanUrl: z.url().nullable().describe('Its page in the EAS explorer; null on a local chain, and where no explorer is known'),
});

const BY_HAND = z.object({
  chain: z.string().describe('The chain to ask, as CAIP-2, e.g. eip155:8453'),
  easContract: ADDRESS.describe('EAS there; `getAttestation(bytes32 uid)` reads an attestation'),
  attester: ADDRESS.describe('The wallet that makes all attestations of this service'),
  predictionSchema: z
    .object({ uid: BYTES32.describe('Its uid'), fields: z.string().describe('Its fields in the order they are encoded in, as Solidity') })
    .describe('Schema of predictions'),
  resolutionSchema: z
    .object({ uid: BYTES32.describe('Its uid'), fields: z.string().describe('Its fields in the order they are encoded in, as Solidity') })
    .describe('Schema of resolutions'),
  formula: z.string().describe('How a commitment is made of salt and values, in this order'),
  codes: z.string().describe('The numbers that stand for words'),
  steps: z.array(z.string()).describe('What to do, in order, without trusting this service'),
});

export const PREDICTION_VERIFICATION = z.object({
  asOf: TIME.describe('The instant that it was checked at'),
  verified: z
    .boolean()
    .describe(
      'True when its prediction is on chain and every check agrees; false also while nothing can be checked: `verdict` tells which',
    ),
  verdict: z.string().describe('What the checks amount to, in words'),
  agreeing: COUNT.describe('Checks that agree'),
  checked: COUNT.describe('Checks that were made'),
  checks: z.array(STATED).describe('Each check, with what was expected and what was found'),
  unchecked: z.array(UNCHECKED).describe('What could not be checked, and why; empty when everything was'),
  attestations: z.array(READ).describe('The attestations that were read from the chain'),
  prediction: ENTRY.extend({
    commitment: BYTES32.describe('What is on chain of the values; zero when nothing was forecast'),
    salt: BYTES32.nullable().describe('Opens the commitment together with the values; null while they are gated'),
  }).describe('The forecast as the caller may see it'),
  byHand: BY_HAND.describe('How to check the same without this service'),
});

export type PredictionVerificationReply = z.input<typeof PREDICTION_VERIFICATION>;
