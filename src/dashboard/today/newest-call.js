import { formatDate } from '../lib/format-text.js';

/** @import { ApiResponses } from '../state/responses.ts' */

const DAY_MS = 86_400_000;
/** A price that is so much newer than a call says nothing of it any more. */
const MAX_COMPARABLE_MS = 2 * DAY_MS;

/** Day that a call was made on, `YYYY-MM-DD`. @param {Pick<ApiResponses['signal'], 'predictionId'>} signal */
function getCallDate({ predictionId }) {
  return predictionId.slice(0, 10);
}

/**
 * What the newest call is called: today's, until the next one is made; one of an earlier day by its date, as while history is replayed.
 * @param {Pick<ApiResponses['signal'], 'predictionId'> | null} signal
 */
export function formatCallTitle(signal, now = Date.now()) {
  const yesterday = new Date(now - DAY_MS).toISOString().slice(0, 10);
  if (signal === null || getCallDate(signal) >= yesterday) return "Today's call";
  return `The newest call so far, of ${formatDate(getCallDate(signal))}`;
}

/**
 * Percent by which the price has moved since a call; null where it is of another time.
 * @param {Pick<ApiResponses['signal'], 'timestamp' | 'btcPrice'> | null} signal
 * @param {Pick<ApiResponses['price'], 'price' | 'observedAt'>} price
 */
export function computeChangePercent(signal, { price, observedAt }) {
  if (signal === null || price === null || observedAt === null) return null;
  if (Date.parse(observedAt) - Date.parse(signal.timestamp) > MAX_COMPARABLE_MS) return null;
  return 100 * (price / signal.btcPrice - 1);
}

/**
 * When the next call is made: at a time of every day, on the first day that has none. One that was made before its time is for good.
 * @param {string} time `HH:MM`, UTC
 * @param {Pick<ApiResponses['signal'], 'predictionId'> | null} signal the newest
 */
export function getNextCallTime(time, signal, now = Date.now()) {
  const today = new Date(now).toISOString().slice(0, 10);
  const at = new Date(`${today}T${time}:00Z`);
  if (at.getTime() <= now || (signal !== null && getCallDate(signal) >= today)) at.setUTCDate(at.getUTCDate() + 1);
  return at;
}
