import { OracleError } from '../../platform/errors.ts';

/** DRAFT: not at its depth on chain. HOLD abstained and is not scored. VOID: too late or missed; keeps its number and never counts. */
export type ForecastState = 'DRAFT' | 'PENDING' | 'WIN' | 'LOSS' | 'HOLD' | 'VOID';

export const TRANSITIONS = {
  DRAFT: ['PENDING', 'VOID'],
  PENDING: ['WIN', 'LOSS', 'HOLD'],
  WIN: [],
  LOSS: [],
  HOLD: [],
  VOID: [],
} as const satisfies Record<ForecastState, readonly ForecastState[]>;

/** @throws OracleError ILLEGAL_TRANSITION */
export function requireTransition(id: string, from: ForecastState, to: ForecastState): void {
  if ((TRANSITIONS[from] as readonly ForecastState[]).includes(to)) return;
  throw new OracleError('ILLEGAL_TRANSITION', `Forecast ${id} cannot go from ${from} to ${to}`);
}
