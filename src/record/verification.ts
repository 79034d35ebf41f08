import type { Address, Hex } from 'viem';
import type { ExpectedAttestation, FieldCheck } from '../chain/attestation-check.ts';
import type { AttestationReader, OnChainAttestation } from '../chain/attestation-reader.ts';
import { OracleError } from '../errors.ts';
import { type AttestationViewOptions, viewAttestation } from './attestation-views.ts';
import { type Found, findByUid } from './attestations.ts';
import type { Caller } from './caller.ts';
import { commitmentFor } from './commit.ts';
import { expectedPrediction, expectedResolution } from './expected.ts';
import type { ForecastDoc } from './forecast.ts';
import { foreignAttestation } from './foreign-attestation.ts';
import type { ForecastRecord } from './record.ts';
import type { OnChainReply, Verification } from './schemas/attestations.ts';
import { mayRead } from './views.ts';

export interface VerificationParts {
  record: ForecastRecord;
  attestations: AttestationReader;
  attesterAddress: Address;
  chainId: number;
  /** Block explorer of attestations; null on a local chain, and where none is known. */
  explorerUrl: string | null;
  saltSecret: string;
  /** How a caller's answers are to be cut. */
  viewFor(caller: Caller): AttestationViewOptions;
}

/**
 * An attestation of the record as it stands on chain, compared with the record field by field.
 * @throws OracleError NOT_FOUND for a uid that is not on chain, or not in the record; CHAIN_UNREACHABLE
 */
export async function verifyAttestation(parts: VerificationParts, uid: Hex, caller: Caller): Promise<Verification> {
  const [onChain, known] = await Promise.all([parts.attestations.read(uid), findByUid(parts.record, uid)]);
  if (onChain === null) throw new OracleError('NOT_FOUND', `There is no attestation ${uid} on chain ${parts.chainId}`, { field: 'uid' });
  if (known === null) throw foreignAttestation(onChain, parts.chainId);
  const checks = checksOf(parts, onChain, known, caller);
  return {
    ...viewAttestation(known.doc, known.type, parts.viewFor(caller)),
    success: true,
    data: chainData(onChain),
    uid,
    onChain: true,
    verified: checks.every(({ ok }) => ok),
    checks,
    attester: onChain.attester,
    blockTime: onChain.at.toISOString(),
    easscanUrl: parts.explorerUrl === null ? null : `${parts.explorerUrl}/attestation/view/${uid}`,
  };
}

function chainData({ data: _, at, ...onChain }: OnChainAttestation): OnChainReply {
  return { ...onChain, at: at.toISOString() };
}

/** What an attestation of the record says on chain, compared with what it should say, and with what the caller may read. */
export function checksOf(parts: VerificationParts, onChain: OnChainAttestation, { doc, type }: Found, caller: Caller): FieldCheck[] {
  const content = type === 'prediction' ? expectedPrediction(doc) : expectedResolution(doc, parts.saltSecret);
  const expected: ExpectedAttestation = { attester: parts.attesterAddress, schemaName: type, ...content };
  const checks = parts.attestations.check(onChain, expected);
  if (type === 'prediction') checks.push(doc.state === 'VOID' ? tooLate(onChain, doc) : inTime(onChain, doc));
  if (doc.values !== null && mayRead(doc, parts.viewFor(caller))) checks.push(opens(parts, doc));
  return checks;
}

/** Committed before the outcome window opened, by the time of the block. */
function inTime({ at }: OnChainAttestation, { windowOpensAt }: ForecastDoc): FieldCheck {
  return { field: 'time', expected: `before ${windowOpensAt.toISOString()}`, actual: at.toISOString(), ok: at < windowOpensAt };
}

/** What the record calls void was committed after its window had opened, or nothing was forecast. */
function tooLate({ at }: OnChainAttestation, { windowOpensAt, missed }: ForecastDoc): FieldCheck {
  const expected = missed ? 'void: nothing was forecast' : `void: not before ${windowOpensAt.toISOString()}`;
  return { field: 'time', expected, actual: at.toISOString(), ok: missed || at >= windowOpensAt };
}

/** The commitment, made again from the values and the salt that the caller is shown. */
function opens({ saltSecret }: VerificationParts, { _id, values, commitment }: ForecastDoc): FieldCheck {
  const actual = commitmentFor(saltSecret, _id, values);
  return { field: 'commitment opened by salt and values', expected: commitment, actual, ok: actual === commitment };
}
