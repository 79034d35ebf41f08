import { z } from 'zod';
import { nullableObjectOf, objectOf } from '../../../../platform/validation/described.ts';
import { ADDRESS, BYTES32, COUNT, HEX, TIME } from '../../../../platform/validation/fields.ts';

const WORDS = z.object({
  sequence: z.int().min(1).describe('Position in the record of this horizon, from 1'),
  day: COUNT.describe('Days since 1970-01-01'),
  horizonDays: z.int().min(1).describe('Days of the outcome window'),
  windowOpensAt: COUNT.describe('Open of the outcome window, Unix seconds'),
  resolvesAt: COUNT.describe('End of the outcome window, Unix seconds'),
  commitment: BYTES32.describe('Commitment that hides the values'),
  inputsDigest: BYTES32.describe('Digest of the inputs'),
  metadata: BYTES32.describe('sha2-256 of the public metadata'),
});

/** Verifies a forecast on chain without this service. */
export const FULL_PROOF = z.object({
  commitment: BYTES32.describe('keccak256 of `encodedOpening`, on chain before the window opened'),
  encodedOpening: HEX.describe('Hashed bytes: salt and values, ABI-encoded, hex'),
  formula: z.string().describe('How the commitment follows from `forecast.opening`, in this order'),
  codes: objectOf('Codes of enumerations', {
    signal: z
      .object({ HOLD: z.literal(0).describe('HOLD'), BUY: z.literal(1).describe('BUY'), SELL: z.literal(2).describe('SELL') })
      .describe('Codes of signals'),
    direction: z.object({ UP: z.literal(1).describe('UP'), DOWN: z.literal(2).describe('DOWN') }).describe('Codes of directions'),
  }),
  chain: z.string().describe('Chain, CAIP-2, e.g. eip155:8453'),
  easContract: ADDRESS.describe('EAS contract; `getAttestation(bytes32 uid)` reads an attestation'),
  attester: ADDRESS.describe('Wallet of all attestations of this service'),
  prediction: objectOf('Content of the attestation, word by word', {
    schemaUid: BYTES32.describe('Schema UID'),
    schema: z.string().describe('Fields in encoding order, Solidity types'),
    words: WORDS.describe('The eight committed words'),
    data: HEX.describe('The words ABI-encoded: `data` of the attestation on chain, hex'),
    refUid: BYTES32.describe('Attestation of the previous day of this horizon; zero on the first day'),
  }),
  attestation: nullableObjectOf('Attestation on chain; null before', {
    uid: BYTES32.describe('UID'),
    txHash: BYTES32.describe('Transaction'),
    blockNumber: COUNT.describe('Block number'),
    blockTime: TIME.describe('Block time'),
    easscanUrl: z.url().nullable().describe('EAS explorer page; null on a local chain, and where no explorer is known'),
    verifyUrl: z.url().describe('URL where the service verifies it field by field'),
  }),
  metadata: objectOf('Public part of the inputs', {
    cid: z.string().describe('CIDv1 of the public metadata'),
    digest: BYTES32.describe('sha2-256 of its bytes, the last word'),
    url: z.url().describe('URL of the metadata'),
  }),
  merkle: objectOf('Merkle root, for compatibility', {
    root: z.null().describe('Always null: there is no tree'),
    note: z.string().describe('Why'),
  }),
  steps: z.array(z.string()).describe('Verification steps without trust in this service'),
});
