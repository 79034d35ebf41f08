import type { ApiResponses } from '../state/responses.ts';

const DAY_MS = 86_400_000;
/** A later price is not compared with the call. */
const MAX_COMPARABLE_MS = 2 * DAY_MS;

/** `YYYY-MM-DD`. */
function getCallDate({ predictionId }: Pick<ApiResponses['signal'], 'predictionId'>) {
  return predictionId.slice(0, 10);
}

/** Price change since the call in percent; null when the price is from another time. */
export function computeChangePercent(
  signal: Pick<ApiResponses['signal'], 'timestamp' | 'btcPrice'> | null,
  { price, observedAt }: Pick<ApiResponses['price'], 'price' | 'observedAt'>,
) {
  if (signal === null || price === null || observedAt === null) return null;
  if (Date.parse(observedAt) - Date.parse(signal.timestamp) > MAX_COMPARABLE_MS) return null;
  return 100 * (price / signal.btcPrice - 1);
}

/**
 * Time of the next call: the next due time on a day without a call.
 * @param time `HH:MM` UTC
 * @param signal newest
 */
export function getNextCallTime(time: string, signal: Pick<ApiResponses['signal'], 'predictionId'> | null, now = Date.now()) {
  const today = new Date(now).toISOString().slice(0, 10);
  const at = new Date(`${today}T${time}:00Z`);
  if (at.getTime() <= now || (signal !== null && getCallDate(signal) >= today)) at.setUTCDate(at.getUTCDate() + 1);
  return at;
}
