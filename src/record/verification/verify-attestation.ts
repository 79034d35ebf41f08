import type { Hex } from 'viem';
import type { Caller } from '../../auth/caller.ts';
import { getVerdict } from '../../verify/summary.ts';
import { findByAttestation, missingAttestationError } from '../attestations/find-forecast.ts';
import { viewAttestation } from '../attestations/view.ts';
import type { AttestationVerification } from '../schemas/attestations.ts';
import { checkRecordedForecast, type RecordCheckDeps, toChecks } from './forecast-evidence.ts';

/**
 * Verifies the forecast of an attestation, and returns what concerns this attestation.
 * @throws OracleError NOT_FOUND for a uid that is not on chain or not in the record; CHAIN_UNREACHABLE
 */
export async function verifyAttestation(deps: RecordCheckDeps, uid: Hex, caller: Caller): Promise<AttestationVerification> {
  const { doc, type } = await findByAttestation(deps, uid);
  const { read, row, distributions, findings } = await checkRecordedForecast(deps, doc, caller);
  const { onChain = null, easscanUrl = null } = read.find((one) => one.type === type) ?? {};
  if (onChain === null) throw missingAttestationError(uid, deps.chainId);
  const own = findings.filter(({ subject }) => subject.attestation === type);
  const { data: _, content: __, ...data } = onChain;
  const at = onChain.at.toISOString();
  return {
    ...viewAttestation(doc, type, deps.viewFor(caller)),
    success: true,
    data: { ...data, at },
    uid,
    onChain: true,
    // A resolution whose prediction cannot be read proves nothing.
    verified: row !== null && getVerdict(own) === 'pass',
    checks: toChecks(own).map(({ attestation: _, what: __, ...check }) => check),
    distributions,
    attester: onChain.attester,
    blockTime: at,
    easscanUrl,
  };
}
