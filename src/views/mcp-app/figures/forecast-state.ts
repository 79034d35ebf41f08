import type { ForecastStateName } from '../../forecast/forecast-facts.ts';
import { STATE_LABELS, STATE_MARKS } from '../../forecast/forecast-state.ts';
import { el, type MarkupElement } from '../../markup.ts';
import { type Fields, readTime } from '../fields.ts';

/** `pending`: without an outcome, in an answer that has no more of it. */
export type AnsweredState = ForecastStateName | 'pending';

const OUTCOMES: Readonly<Record<string, ForecastStateName>> = { WIN: 'right', LOSS: 'wrong', HOLD: 'hold', VOID: 'void' };

/** The state of a forecast of the record, with a window that may have ended since; null without a status. @param now ISO 8601 */
export function deriveForecastState({ status, attestationUid, resolvesAt }: Fields, now: string): AnsweredState | null {
  if (typeof status !== 'string') return null;
  if (Object.hasOwn(OUTCOMES, status)) return OUTCOMES[status];
  if (status !== 'PENDING') return null;
  if (attestationUid === null) return 'forming';
  if (typeof attestationUid !== 'string') return 'pending';
  const end = readTime(resolvesAt);
  return end !== '' && end <= now ? 'ended' : 'committed';
}

export function isOpen(state: AnsweredState): boolean {
  return ['pending', 'forming', 'committed', 'ended'].includes(state);
}

export function renderState(state: AnsweredState): MarkupElement {
  const [label, mark] = state === 'pending' ? ['Pending', STATE_MARKS.committed] : [STATE_LABELS[state], STATE_MARKS[state]];
  return el('span', { class: `state ${mark}` }, label);
}
