import type { ForecastStateName } from '../../forecast/forecast-facts.ts';
import { type Fields, readText, readTime } from '../fields.ts';

const OUTCOMES: Readonly<Record<string, ForecastStateName>> = { WIN: 'right', LOSS: 'wrong', HOLD: 'hold', VOID: 'void' };

/** The state of a forecast of the record, with a window that may have ended since; null without a status. @param now ISO 8601 */
export function deriveForecastState({ status, attestationUid, attestedAt, resolvesAt }: Fields, now: string): ForecastStateName | null {
  const word = readText(status);
  if (Object.hasOwn(OUTCOMES, word)) return OUTCOMES[word];
  if (word !== 'PENDING') return null;
  if (readText(attestationUid) === '' && readTime(attestedAt) === '') return 'forming';
  const end = readTime(resolvesAt);
  return end !== '' && end <= now ? 'ended' : 'committed';
}
