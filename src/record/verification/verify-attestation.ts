import type { Hex } from 'viem';
import type { Caller } from '../../auth/caller.ts';
import type { AttestationReader, OnChainAttestation } from '../../chain/eas/attestation-reader.ts';
import { OracleError } from '../../platform/errors.ts';
import { checkCommitment } from '../../verify/check-forecast-evidence.ts';
import { checkAttestation } from '../../verify/checks/attestation.ts';
import { checkServedOpening } from '../../verify/checks/forecast.ts';
import { checkOpening } from '../../verify/checks/resolution.ts';
import { compareRecorded } from '../../verify/claims/recorded.ts';
import type { CheckContext, ForecastEvidence } from '../../verify/evidence.ts';
import { createFindings, type Findings, NO_SUBJECT } from '../../verify/findings.ts';
import { getVerdict } from '../../verify/summary.ts';
import { type AttestationMatch, findAttestation } from '../attestations/find-attestation.ts';
import { viewAttestation } from '../attestations/view.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import type { AttestationVerification } from '../schemas/attestations.ts';
import { buildForecastEvidence, getExplorerUrl, type RecordCheckDeps, toChecks } from './forecast-evidence.ts';

export interface AttestationVerificationDeps extends RecordCheckDeps {
  record: ForecastRecord;
  attestations: AttestationReader;
  chainId: number;
}

/**
 * Compares an on-chain attestation with the record, field by field.
 * @throws OracleError NOT_FOUND for a uid that is not on chain or not in the record; CHAIN_UNREACHABLE
 */
export async function verifyAttestation(deps: AttestationVerificationDeps, uid: Hex, caller: Caller): Promise<AttestationVerification> {
  const [onChain, known] = await Promise.all([deps.attestations.read(uid), findAttestation(deps.record, uid)]);
  if (onChain === null) throw new OracleError('NOT_FOUND', `There is no attestation ${uid} on chain ${deps.chainId}`, { field: 'uid' });
  if (known === null) throw foreignAttestationError(onChain, deps.chainId);
  const findings = createFindings();
  const evidence = buildForecastEvidence(deps, known.doc, { read: [{ type: known.type, uid, onChain }], caller });
  checkOneAttestation(known, evidence, { attester: deps.attesterAddress, now: deps.now() }, findings);
  const { data: _, content: __, ...data } = onChain;
  return {
    ...viewAttestation(known.doc, known.type, deps.viewFor(caller)),
    success: true,
    data: { ...data, at: onChain.at.toISOString() },
    uid,
    onChain: true,
    verified: getVerdict(findings.list) === 'pass',
    checks: toChecks(findings.list).map(({ attestation: _, what: __, ...check }) => check),
    attester: onChain.attester,
    blockTime: onChain.at.toISOString(),
    easscanUrl: getExplorerUrl(deps, uid),
  };
}

/** Uid and commitment of the prediction of a resolution are those of the record. */
function checkOneAttestation(
  { doc, type }: AttestationMatch,
  { opening, resolutions, recorded, ...evidence }: ForecastEvidence,
  context: CheckContext,
  findings: Findings,
): void {
  if (type === 'prediction') {
    const prediction = checkCommitment({ ...evidence, recorded }, context, findings);
    if (prediction !== null && opening !== undefined) checkServedOpening(prediction, opening, findings);
    return;
  }
  const resolution = checkAttestation(resolutions[0], context, findings);
  if (resolution === null || !recorded?.resolution) return;
  const subject = { ...NO_SUBJECT, attestation: type, uid: resolution.uid };
  const because = 'it does not refer to the prediction in the record';
  findings.compare('resolves', subject, { field: 'refUid', expected: recorded.resolution.refUid, actual: resolution.refUid, because });
  compareRecorded(subject, resolution.data, recorded.resolution, findings);
  checkOpening(subject, { commitment: doc.commitment, opening: resolution.data }, findings);
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
