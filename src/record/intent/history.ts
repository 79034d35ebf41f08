import type { Caller } from '../../auth/caller.ts';
import { formatDay } from '../../forecast/day.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { type ForecastView, viewForecast } from '../forecast-visibility.ts';
import type { OracleDeps } from '../oracle/deps.ts';
import { isMadeForecast, requireReadable } from '../oracle/made-forecast.ts';
import { buildBetFromWager, buildTradeIntent, isTradableForecast } from './trade-intent.ts';

/** The last `limit` intents of a horizon, newest first; HOLD has none. @throws OracleError TIER_REQUIRED */
export async function listIntentHistory(
  deps: Pick<OracleDeps, 'record' | 'wagers' | 'viewFor' | 'publicUrl'>,
  { horizonDays, limit }: { horizonDays: number; limit: number },
  caller: Caller,
) {
  const calls = await deps.record.forecasts
    .find({ horizonDays, 'values.signal': { $in: ['BUY', 'SELL'] } }, { hint: { horizonDays: 1, sequence: 1 } })
    .sort({ sequence: -1 })
    .limit(limit)
    .toArray();
  const wagers = await deps.wagers.wagers.find({ _id: { $in: calls.map(({ day }) => formatDay(day)) } }).toArray();
  const byDay = new Map(wagers.map((wager) => [wager.day, wager]));
  const options = deps.viewFor(caller);
  return calls
    .filter(isMadeForecast)
    .filter(isTradableForecast)
    .map((forecast) => {
      requireReadable(forecast, options);
      const wager = byDay.get(forecast.day) ?? null;
      const intent = buildTradeIntent({ forecast, wager, bet: buildBetFromWager(wager) }, { ...options, publicUrl: deps.publicUrl });
      return { ...intent, outcome: toIntentOutcome(forecast, viewForecast(forecast, options)) };
    });
}

/** Null until the resolution is on chain, and for a void forecast. */
function toIntentOutcome({ reveal }: ForecastDoc, view: ForecastView) {
  if (reveal === null) return null;
  const { result, correct, actualDirection, returnBps, btcAtSignal, btcAtResolution, resolvedAt } = view;
  return { result, correct, actualDirection, returnBps, btcAtSignal, btcAtResolution, resolvedAt };
}
