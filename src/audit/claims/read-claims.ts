import { HORIZONS } from '../../forecast/model.ts';
import type { AttestationEvidence, ClaimedScorecard } from '../../verify/evidence.ts';
import type { ServiceClaims } from './service-claims.ts';

export interface ChainReading {
  /** All attestations of the record so far. */
  evidence: readonly AttestationEvidence[];
  /** Last block read. */
  throughBlock: number;
}

/** One scorecard per horizon in the order of `HORIZONS`, with the chain record of the same time. */
interface ClaimedReading extends ChainReading {
  answers: ClaimedScorecard[];
}

/** Sufficient, because a service attests a few times a day. */
const MAX_READINGS = 4;

/**
 * Reads the claims of a running service, which may attest meanwhile. `readOn` reads again, with the attestations made since; if there are
 * any, so are the claims.
 * @throws OracleError SERVICE_UNREACHABLE, and the errors of `readOn`
 */
export async function readClaims(
  claims: ServiceClaims,
  initialReading: ChainReading,
  readOn: () => Promise<ChainReading>,
): Promise<ClaimedReading> {
  let reading = initialReading;
  for (let left = MAX_READINGS; ; left--) {
    // In parallel: each scorecard has figures of the others, which may change meanwhile.
    const answers = await Promise.all(HORIZONS.map((horizonDays) => claims.scorecard(horizonDays)));
    const after = await readOn();
    if (left === 1 || after.evidence.length === reading.evidence.length) return { ...after, answers };
    reading = after;
  }
}
