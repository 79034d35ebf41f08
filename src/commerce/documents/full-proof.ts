import type { Address, Hex } from 'viem';
import { EAS_SCHEMAS, encodePrediction, getSchemaUid, type PredictionData } from '../../chain/eas/attestation-schemas.ts';
import { DIRECTION_CODES, encodeOpening, SIGNAL_CODES } from '../../chain/eas/commitment.ts';
import { buildOpening } from '../../record/commitment/commitment.ts';
import { buildExpectedPrediction } from '../../record/commitment/expected-attestation.ts';
import { COMMITMENT_FORMULA } from '../../record/oracle/commitment-proof.ts';
import type { MadeForecast } from '../../record/oracle/made-forecast.ts';
import type { DocumentDeps } from './deps.ts';

export interface FullProof {
  commitment: Hex;
  /** Preimage of the commitment. */
  encodedOpening: Hex;
  formula: string;
  codes: { signal: typeof SIGNAL_CODES; direction: typeof DIRECTION_CODES };
  chain: string;
  easContract: Address;
  attester: Address;
  prediction: PredictionWords;
  /** Null until it is on chain. */
  attestation: { uid: Hex; txHash: Hex; blockNumber: number; blockTime: string; easscanUrl: string | null; verifyUrl: string } | null;
  metadata: { cid: string; digest: Hex; url: string };
  merkle: { root: null; note: string };
  steps: string[];
}

/** Fields of the prediction attestation as encoded numbers. */
export interface PredictionWords {
  schemaUid: Hex;
  schema: string;
  words: Omit<PredictionData, 'windowOpensAt' | 'resolvesAt'> & { windowOpensAt: number; resolvesAt: number };
  data: Hex;
  refUid: Hex;
}

const NO_MERKLE_NOTE =
  'There is no Merkle tree: each forecast has one commitment and one attestation of its own, so that no path has to be shown.';

/** Reveals the opening of a commitment, for payers only. */
export function buildFullProof(deps: DocumentDeps, doc: MadeForecast): FullProof {
  const opening = buildOpening(deps.saltSecret, doc._id, doc.values);
  return {
    commitment: doc.commitment,
    encodedOpening: encodeOpening(opening),
    formula: COMMITMENT_FORMULA,
    codes: { signal: SIGNAL_CODES, direction: DIRECTION_CODES },
    chain: `eip155:${deps.chainId}`,
    easContract: deps.addresses.eas,
    attester: deps.attesterAddress,
    prediction: toPredictionWords(doc),
    attestation: toAttestationReference(deps, doc),
    metadata: { cid: doc.cid, digest: doc.metadataDigest, url: `${deps.publicUrl}/ipfs/${doc.cid}` },
    merkle: { root: null, note: NO_MERKLE_NOTE },
    steps: STEPS,
  };
}

const STEPS = [
  'Hash `encodedOpening` with keccak256: the result is `commitment`.',
  'Encode the numbers of `forecast.opening` by `formula`: the result is `encodedOpening`.',
  'Call getAttestation(uid) of the EAS contract on the chain: its attester is `attester`, its schema `prediction.schemaUid`, its data `prediction.data`.',
  'Its time is before `prediction.words.windowOpensAt`: the forecast was there before its outcome window opened.',
  'Fetch `metadata.url`: the sha2-256 of its bytes is the last word, `metadata.digest`, and `cid` follows from it.',
];

function toPredictionWords(doc: MadeForecast): PredictionWords {
  const { refUid, windowOpensAt, resolvesAt, ...words } = buildExpectedPrediction(doc);
  const { sequence, day, horizonDays, commitment, inputsDigest, metadata } = words;
  return {
    schemaUid: getSchemaUid('prediction'),
    schema: EAS_SCHEMAS.prediction,
    words: {
      sequence,
      day,
      horizonDays,
      windowOpensAt: windowOpensAt.getTime() / 1_000,
      resolvesAt: resolvesAt.getTime() / 1_000,
      commitment,
      inputsDigest,
      metadata,
    },
    data: encodePrediction({ ...words, windowOpensAt, resolvesAt }),
    refUid,
  };
}

function toAttestationReference({ publicUrl, explorerUrl }: DocumentDeps, { attestation }: MadeForecast): FullProof['attestation'] {
  if (attestation === null) return null;
  const { uid, txHash, blockNumber, at } = attestation;
  return {
    uid,
    txHash,
    blockNumber,
    blockTime: at.toISOString(),
    easscanUrl: explorerUrl === null ? null : `${explorerUrl}/attestation/view/${uid}`,
    verifyUrl: `${publicUrl}/api/svc/onchain-oracle/verify/${uid}`,
  };
}
