import type { Hex } from 'viem';
import type { Caller } from '../../auth/caller.ts';
import type { AttestationReader, OnChainAttestation } from '../../chain/eas/attestation-reader.ts';
import { OracleError } from '../../platform/errors.ts';
import { checkServedOpening } from '../../verify/checks/forecast.ts';
import { checkOpening } from '../../verify/checks/resolution.ts';
import { createFindings, NO_SUBJECT } from '../../verify/findings.ts';
import { getVerdict } from '../../verify/summary.ts';
import { findAttestation } from '../attestations/find-and-count.ts';
import { viewAttestation } from '../attestations/view.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import type { AttestationVerification, OnChainReply } from '../schemas/attestations.ts';
import { checkRecorded, findServedOpening, type RecordCheckDeps, toChecks } from './check-forecast.ts';

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
  if (type === 'resolution') {
    const resolution = checkRecorded(deps, doc, { type, uid, onChain }, findings);
    const subject = { ...NO_SUBJECT, attestation: type, uid };
    if (resolution !== null) checkOpening(subject, { commitment: doc.commitment, opening: resolution.data }, findings);
  } else {
    const prediction = checkRecorded(deps, doc, { type, uid, onChain }, findings);
    const opening = findServedOpening(deps, doc, caller);
    if (prediction !== null && opening !== undefined) checkServedOpening(prediction, opening, findings);
  }
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
