import { HORIZONS } from '../../forecast/model.ts';
import type { ChainRecord } from '../chain/chain-record.ts';
import type { ClaimedScorecard, ServiceClaims } from './service-claims.ts';

/** A record as the chain has it up to a block. */
export interface ChainReading {
  record: ChainRecord;
  /** Last block that was read. */
  throughBlock: number;
}

/** What a service claims, one answer a horizon in the order of `HORIZONS`, and what the chain had when it did. */
export interface ClaimedReading extends ChainReading {
  answers: ClaimedScorecard[];
}

/** A service attests a few times a day. */
const MAX_READINGS = 4;

/**
 * Reads the claims of a service. Reading a long record takes minutes, in which the service goes on: so `readOn` reads what was attested
 * meanwhile, and where there is any the claims are read again.
 * @throws OracleError SERVICE_UNREACHABLE, and what `readOn` throws
 */
export async function readClaims(
  claims: ServiceClaims,
  initialReading: ChainReading,
  readOn: (from: ChainReading) => Promise<ChainReading>,
): Promise<ClaimedReading> {
  let reading = initialReading;
  for (let left = MAX_READINGS; ; left--) {
    // All at once: each tells of the others, and a day may go on meanwhile.
    const answers = await Promise.all(HORIZONS.map((horizonDays) => claims.scorecard(horizonDays)));
    const after = await readOn(reading);
    if (left === 1 || countAttestations(after) === countAttestations(reading)) return { ...after, answers };
    reading = after;
  }
}

function countAttestations({ record: { predictions, revelations } }: ChainReading): number {
  return predictions.length + revelations.length;
}
