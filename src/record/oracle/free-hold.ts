import type { OracleSignal } from './oracle-signal.ts';

type Fact = 'signal' | 'horizon' | 'date' | 'predictionId' | 'windowOpensAt' | 'resolvesAt' | 'nextSignalAt';

export const FREE_HOLD_NOTE =
  'The oracle abstains for this horizon. Nothing was charged: the payment was not used and is valid for another request.';

/** Reveals the abstention only, since nothing was paid; null for any other signal. */
export function toFreeHold(forecast: Pick<OracleSignal, Fact>) {
  const { signal, horizon, date, predictionId, windowOpensAt, resolvesAt, nextSignalAt } = forecast;
  if (signal !== 'HOLD') return null;
  const values = { signal, direction: null, confidence: null, pUp: null } as const;
  return { ...values, horizon, date, predictionId, windowOpensAt, resolvesAt, nextSignalAt };
}
