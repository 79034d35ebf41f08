import { formatDay } from '../../forecast/day.ts';
import type { Caller } from '../caller.ts';
import type { ForecastDoc } from '../forecast.ts';
import { isMade, requireReadable } from '../oracle/newest.ts';
import type { OracleParts } from '../oracle/parts.ts';
import { type ForecastView, viewForecast } from '../views.ts';
import { betOfWager, isCall, type TradeIntent, tradeIntent } from './intent.ts';

/** A past intent as it was decided, and what became of it. */
export interface HistoricalIntent extends TradeIntent {
  /** Null until the resolution is on chain, and for a void forecast. */
  outcome: IntentOutcome | null;
}

/** `result` is WIN when the direction was right. */
export type IntentOutcome = Pick<
  ForecastView,
  'result' | 'correct' | 'actualDirection' | 'returnBps' | 'btcAtSignal' | 'btcAtResolution' | 'resolvedAt'
>;

/** The last `limit` intents of a horizon, newest first; days of HOLD had none. @throws OracleError TIER_REQUIRED */
export async function intentHistory(
  parts: Pick<OracleParts, 'record' | 'wagers' | 'viewFor' | 'publicUrl'>,
  { horizonDays, limit }: { horizonDays: number; limit: number },
  caller: Caller,
): Promise<HistoricalIntent[]> {
  const calls = await parts.record.forecasts
    .find({ horizonDays, 'values.signal': { $in: ['BUY', 'SELL'] } }, { hint: { horizonDays: 1, sequence: 1 } })
    .sort({ sequence: -1 })
    .limit(limit)
    .toArray();
  const wagers = await parts.wagers.wagers.find({ _id: { $in: calls.map(({ day }) => formatDay(day)) } }).toArray();
  const byDay = new Map(wagers.map((wager) => [wager.day, wager]));
  const options = parts.viewFor(caller);
  return calls
    .filter(isMade)
    .filter(isCall)
    .map((forecast) => {
      requireReadable(forecast, options);
      const wager = byDay.get(forecast.day) ?? null;
      const intent = tradeIntent({ forecast, wager, bet: betOfWager(wager) }, { ...options, publicUrl: parts.publicUrl });
      return { ...intent, outcome: outcomeOf(forecast, viewForecast(forecast, options)) };
    });
}

function outcomeOf({ reveal }: ForecastDoc, view: ForecastView): IntentOutcome | null {
  if (reveal === null) return null;
  const { result, correct, actualDirection, returnBps, btcAtSignal, btcAtResolution, resolvedAt } = view;
  return { result, correct, actualDirection, returnBps, btcAtSignal, btcAtResolution, resolvedAt };
}
