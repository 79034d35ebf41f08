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
import { findAttestation } from '../attestations/find-and-count.ts';
import { viewAttestation } from '../attestations/view.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import type { AttestationVerification, OnChainReply } from '../schemas/attestations.ts';
import { buildForecastEvidence, type RecordCheckDeps, toCheckContext, toChecks } from './forecast-evidence.ts';

export interface AttestationVerificationDeps extends RecordCheckDeps {
  record: ForecastRecord;
  attestations: AttestationReader;
  chainId: number;
  /** Attestation explorer; null on a local chain, or when none is known. */
  explorerUrl: string | null;
}

/**
 * Compares an on-chain attestation with the record, field by field.
 * @throws OracleError NOT_FOUND for a uid that is not on chain or not in the record; CHAIN_UNREACHABLE
 */
export async function verifyAttestation(deps: AttestationVerificationDeps, uid: Hex, caller: Caller): Promise<AttestationVerification> {
  const [onChain, known] = await Promise.all([deps.attestations.read(uid), findAttestation(deps.record, uid)]);
  if (onChain === null) throw new OracleError('NOT_FOUND', `There is no attestation ${uid} on chain ${deps.chainId}`, { field: 'uid' });
  if (known === null) throw foreignAttestationError(onChain, deps.chainId);
  const { doc, type } = known;
  const findings = createFindings();
  const evidence = buildForecastEvidence(deps, doc, { read: [{ type, uid, onChain }], caller });
  if (type === 'prediction') checkServedPrediction(evidence, toCheckContext(deps), findings);
  else checkServedResolution(doc, evidence, toCheckContext(deps), findings);
  const checks = toChecks(findings.list).map(({ attestation: _, what: __, ...check }) => check);
  return {
    ...viewAttestation(known.doc, known.type, deps.viewFor(caller)),
    success: true,
    data: toOnChainReply(onChain),
    uid,
    onChain: true,
    verified: getVerdict(findings.list) === 'pass',
    checks,
    attester: onChain.attester,
    blockTime: onChain.at.toISOString(),
    easscanUrl: deps.explorerUrl === null ? null : `${deps.explorerUrl}/attestation/view/${uid}`,
  };
}

function checkServedPrediction(evidence: ForecastEvidence, context: CheckContext, findings: Findings): void {
  const prediction = checkCommitment(evidence, context, findings);
  if (prediction !== null && evidence.opening !== undefined) checkServedOpening(prediction, evidence.opening, findings);
}

/** The prediction is not read: its recorded uid and commitment stand for it. */
function checkServedResolution(
  doc: ForecastDoc,
  { resolutions, recorded }: ForecastEvidence,
  context: CheckContext,
  findings: Findings,
): void {
  const resolution = checkAttestation(resolutions[0], context, findings);
  if (resolution === null || !recorded?.resolution) return;
  const subject = { ...NO_SUBJECT, attestation: 'resolution', uid: resolution.uid } as const;
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

function toOnChainReply({ data: _, content: __, at, ...onChain }: OnChainAttestation): OnChainReply {
  return { ...onChain, at: at.toISOString() };
}
