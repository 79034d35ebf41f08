import type { Address, Hex } from 'viem';
import type { Caller } from '../../auth/caller.ts';
import { checkAttestation, type ExpectedAttestation, type FieldCheck } from '../../chain/eas/attestation-check.ts';
import type { AttestationReader, OnChainAttestation } from '../../chain/eas/attestation-reader.ts';
import { OracleError } from '../../platform/errors.ts';
import { type AttestationMatch, findAttestation } from '../attestations/find-and-count.ts';
import { type AttestationViewOptions, viewAttestation } from '../attestations/view.ts';
import { computeForecastCommitment } from '../commitment/commitment.ts';
import { buildExpectedPrediction, buildExpectedResolution } from '../commitment/expected-attestation.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { mayRead } from '../forecast-visibility.ts';
import type { AttestationVerification, OnChainReply } from '../schemas/attestations.ts';

export interface AttestationVerificationDeps {
  record: ForecastRecord;
  attestations: AttestationReader;
  attesterAddress: Address;
  chainId: number;
  /** Attestation explorer; null on a local chain, or when none is known. */
  explorerUrl: string | null;
  saltSecret: string;
  viewFor(caller: Caller): AttestationViewOptions;
}

/**
 * Compares an on-chain attestation with the record, field by field.
 * @throws OracleError NOT_FOUND for a uid that is not on chain or not in the record; CHAIN_UNREACHABLE
 */
export async function verifyAttestation(deps: AttestationVerificationDeps, uid: Hex, caller: Caller): Promise<AttestationVerification> {
  const [onChain, known] = await Promise.all([deps.attestations.read(uid), findAttestation(deps.record, uid)]);
  if (onChain === null) throw new OracleError('NOT_FOUND', `There is no attestation ${uid} on chain ${deps.chainId}`, { field: 'uid' });
  if (known === null) throw foreignAttestationError(onChain, deps.chainId);
  const checks = checkAgainstRecord(deps, onChain, known, caller);
  return {
    ...viewAttestation(known.doc, known.type, deps.viewFor(caller)),
    success: true,
    data: toOnChainReply(onChain),
    uid,
    onChain: true,
    verified: checks.every(({ ok }) => ok),
    checks,
    attester: onChain.attester,
    blockTime: onChain.at.toISOString(),
    easscanUrl: deps.explorerUrl === null ? null : `${deps.explorerUrl}/attestation/view/${uid}`,
  };
}

/**
 * NOT_FOUND for an attestation on chain outside this record, with its attester and schema as details. Its data is not repeated: a client
 * must not take it for an attestation of this service.
 */
export function foreignAttestationError({ uid, attester, schemaUid, schemaName }: OnChainAttestation, chainId: number): OracleError {
  const message = `The attestation ${uid} on chain ${chainId} is not of this service: attester ${attester}, schema ${schemaUid}`;
  return new OracleError('NOT_FOUND', message, {
    field: 'uid',
    details: { ofThisService: false, attester, schemaUid, schemaName },
    suggestedAction: 'Take a uid from the history of attestations, or read this one in an EAS explorer of that chain.',
  });
}

function toOnChainReply({ data: _, at, ...onChain }: OnChainAttestation): OnChainReply {
  return { ...onChain, at: at.toISOString() };
}

/** Compares the on-chain content with the expected one, and the opening where the caller may read it. */
export function checkAgainstRecord(
  deps: AttestationVerificationDeps,
  onChain: OnChainAttestation,
  { doc, type }: AttestationMatch,
  caller: Caller,
): FieldCheck[] {
  const content = type === 'prediction' ? buildExpectedPrediction(doc) : buildExpectedResolution(doc, deps.saltSecret);
  const expected: ExpectedAttestation = { attester: deps.attesterAddress, schemaName: type, ...content };
  const checks = checkAttestation(onChain, expected);
  if (type === 'prediction') checks.push(doc.state === 'VOID' ? checkVoid(onChain, doc) : checkInTime(onChain, doc));
  if (doc.values !== null && mayRead(doc, deps.viewFor(caller))) checks.push(checkOpening(deps, doc));
  return checks;
}

/** Committed before the outcome window opened, by block time. */
function checkInTime({ at }: OnChainAttestation, { windowOpensAt }: ForecastDoc): FieldCheck {
  return { field: 'time', expected: `before ${windowOpensAt.toISOString()}`, actual: at.toISOString(), ok: at < windowOpensAt };
}

/** A void forecast was committed after its window opened, or the day was missed. */
function checkVoid({ at }: OnChainAttestation, { windowOpensAt, missed }: ForecastDoc): FieldCheck {
  const expected = missed ? 'void: nothing was forecast' : `void: not before ${windowOpensAt.toISOString()}`;
  return { field: 'time', expected, actual: at.toISOString(), ok: missed || at >= windowOpensAt };
}

/** Recomputes the commitment from the values and the salt served to the caller. */
function checkOpening({ saltSecret }: AttestationVerificationDeps, { _id, values, commitment }: ForecastDoc): FieldCheck {
  const actual = computeForecastCommitment(saltSecret, _id, values);
  return { field: 'commitment opened by salt and values', expected: commitment, actual, ok: actual === commitment };
}
