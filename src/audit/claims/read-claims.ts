import { HORIZONS } from '../../forecast/model.ts';
import type { ChainRecord } from '../chain/chain-record.ts';
import type { ClaimedScorecard, ServiceClaims } from './service-claims.ts';

export interface ChainReading {
  record: ChainRecord;
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
 * Reads the claims of a running service, which may attest meanwhile. `readOn` reads attestations made since; if there are any, the claims
 * are read again.
 * @throws OracleError SERVICE_UNREACHABLE, and the errors of `readOn`
 */
export async function readClaims(
  claims: ServiceClaims,
  initialReading: ChainReading,
  readOn: (from: ChainReading) => Promise<ChainReading>,
): Promise<ClaimedReading> {
  let reading = initialReading;
  for (let left = MAX_READINGS; ; left--) {
    // In parallel: each scorecard has figures of the others, which may change meanwhile.
    const answers = await Promise.all(HORIZONS.map((horizonDays) => claims.scorecard(horizonDays)));
    const after = await readOn(reading);
    if (left === 1 || countAttestations(after) === countAttestations(reading)) return { ...after, answers };
    reading = after;
  }
}

function countAttestations({ record: { predictions, revelations } }: ChainReading): number {
  return predictions.length + revelations.length;
}
