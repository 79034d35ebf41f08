import type { ForecastDoc } from '../../../../record/forecast-doc.ts';
import { toPublicStatus } from '../../../../record/forecast-visibility.ts';
import type { ForecastStateName } from '../../../../views/forecast/forecast-facts.ts';

const RESOLVED = { WIN: 'right', LOSS: 'wrong', HOLD: 'hold' } as const;

/** The state that the page names, which is public. */
export function toStateName(doc: ForecastDoc, now: Date): ForecastStateName {
  if (doc.missed) return 'missed';
  const status = toPublicStatus(doc);
  if (status === 'VOID') return 'void';
  if (status !== 'PENDING') return RESOLVED[status];
  if (doc.attestation === null) return 'forming';
  return doc.resolvesAt <= now ? 'ended' : 'committed';
}
