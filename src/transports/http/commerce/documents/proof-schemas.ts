import { z } from 'zod';
import { ADDRESS, BYTES32, COUNT, TIME } from '../../../../platform/validation/fields.ts';

const WORDS = z.object({
  sequence: z.int().min(1).describe('Position in the record of this horizon, from 1'),
  day: COUNT.describe('Days since 1970-01-01'),
  horizonDays: z.int().min(1).describe('Days of the outcome window'),
  windowOpensAt: COUNT.describe('When the outcome window opens, seconds since 1970'),
  resolvesAt: COUNT.describe('When the outcome window ends, seconds since 1970'),
  commitment: BYTES32.describe('What the values are hidden behind'),
  inputsDigest: BYTES32.describe('Digest of the inputs that the forecast was made from'),
  metadata: BYTES32.describe('sha2-256 of the public metadata'),
});

/** Everything that it takes to check a forecast on chain without this service. */
export const FULL_PROOF = z.object({
  commitment: BYTES32.describe('keccak256 of `encodedOpening`, on chain since before the window opened'),
  encodedOpening: z
    .string()
    .regex(/^0x[0-9a-f]+$/)
    .describe('The exact bytes that are hashed: salt and values, ABI encoded, as hex'),
  formula: z.string().describe('How the commitment is made of `forecast.opening`, in this order'),
  codes: z
    .object({
      signal: z
        .object({ HOLD: z.literal(0).describe('HOLD'), BUY: z.literal(1).describe('BUY'), SELL: z.literal(2).describe('SELL') })
        .describe('Numbers of the signals'),
      direction: z.object({ UP: z.literal(1).describe('UP'), DOWN: z.literal(2).describe('DOWN') }).describe('Numbers of the directions'),
    })
    .describe('The numbers that stand for words'),
  chain: z.string().describe('The chain, CAIP-2, e.g. eip155:8453'),
  easContract: ADDRESS.describe('EAS there; `getAttestation(bytes32 uid)` reads an attestation'),
  attester: ADDRESS.describe('The wallet that makes all attestations of this service'),
  prediction: z
    .object({
      schemaUid: BYTES32.describe('Uid of the schema'),
      schema: z.string().describe('Its fields in the order they are encoded in, as Solidity'),
      words: WORDS.describe('The eight words as they are committed'),
      data: z
        .string()
        .regex(/^0x[0-9a-f]+$/)
        .describe('The same, ABI encoded: the `data` of the attestation on chain, as hex'),
      refUid: BYTES32.describe('Attestation of the day before of the same horizon; zero on the first day'),
    })
    .describe('What the attestation says, word by word'),
  attestation: z
    .object({
      uid: BYTES32.describe('Its uid'),
      txHash: BYTES32.describe('Transaction that made it'),
      blockNumber: COUNT.describe('Block that it is in'),
      blockTime: TIME.describe('Time of that block'),
      easscanUrl: z.url().nullable().describe('Its page in the EAS explorer; null on a local chain, and where no explorer is known'),
      verifyUrl: z.url().describe('Where the service checks it field by field'),
    })
    .nullable()
    .describe('Where it stands; null until it is on chain'),
  metadata: z
    .object({
      cid: z.string().describe('CIDv1 of the public metadata'),
      digest: BYTES32.describe('sha2-256 of its bytes, the last word'),
      url: z.url().describe('Where the service serves it'),
    })
    .describe('The public half of the inputs'),
  merkle: z
    .object({
      root: z.null().describe('Always null: there is no tree'),
      note: z.string().describe('Why'),
    })
    .describe('Where others have a Merkle path'),
  steps: z.array(z.string()).describe('What to do, in order, without trusting this service'),
});
