import { formatDay } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import type { ReachedInstant, UnreachedInstant } from '../../platform/time/trusted-time.ts';
import type { DayDoc } from '../day-doc.ts';
import { getOutcomeWindow } from '../forecast-doc.ts';

/** A forecast requires a proof that its window is closed, a missed day that it has opened. @throws OracleError INTERNAL */
export function requireDayProof({ day, missedBecause }: Pick<DayDoc, 'day' | 'missedBecause'>, proof: UnreachedInstant | ReachedInstant) {
  const { opensAtMs } = getOutcomeWindow(day, 0);
  const window = `The outcome window of ${formatDay(day)}`;
  const isMissed = missedBecause !== null;
  if (isMissed && 'requireCovers' in proof) proof.requireCovers(opensAtMs, window);
  else if (!isMissed && 'requireBefore' in proof) proof.requireBefore(opensAtMs, window);
  else throw new OracleError('INTERNAL', `${window} was not proven to ${isMissed ? 'be reached' : 'lie ahead'}`);
}
