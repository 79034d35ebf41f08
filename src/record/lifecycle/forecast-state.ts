import { OracleError } from '../../platform/errors.ts';

/**
 * The life of a forecast. DRAFT: computed, not yet at its confirmation depth on chain. PENDING: committed before its outcome window
 * opened. WIN, LOSS, HOLD: resolved and revealed on chain; HOLD abstained and is not scored. VOID: committed too late, or missed; it
 * keeps its place in the sequence and never counts.
 */
export type ForecastState = 'DRAFT' | 'PENDING' | 'WIN' | 'LOSS' | 'HOLD' | 'VOID';

/** Every change that the record allows; anything else is refused. */
export const TRANSITIONS = {
  DRAFT: ['PENDING', 'VOID'],
  PENDING: ['WIN', 'LOSS', 'HOLD'],
  WIN: [],
  LOSS: [],
  HOLD: [],
  VOID: [],
} as const satisfies Record<ForecastState, readonly ForecastState[]>;

/** @throws OracleError ILLEGAL_TRANSITION when the table does not list the change. */
export function requireTransition(id: string, from: ForecastState, to: ForecastState): void {
  if ((TRANSITIONS[from] as readonly ForecastState[]).includes(to)) return;
  throw new OracleError('ILLEGAL_TRANSITION', `Forecast ${id} cannot go from ${from} to ${to}`);
}
