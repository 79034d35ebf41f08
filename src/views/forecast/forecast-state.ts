import type { ForecastFacts, ForecastStateName } from './forecast-facts.ts';
import { formatReturn, formatShare, formatTime } from './format.ts';

export const STATE_LABELS: Record<ForecastStateName, string> = {
  forming: 'Not on chain yet',
  committed: 'Committed',
  ended: 'Awaiting its outcome',
  right: 'Right',
  wrong: 'Wrong',
  hold: 'Hold',
  void: 'Void',
  missed: 'Missed',
};

/** Class of the mark beside a state, of the status of the interface. */
export const STATE_MARKS: Record<ForecastStateName, string> = {
  forming: 'status-pending',
  committed: 'status-pending',
  ended: 'status-pending',
  right: 'status-win',
  wrong: 'status-loss',
  hold: 'status-hold',
  void: 'status-void',
  missed: 'status-void',
};

/** The state in one or two sentences, without a value that is hidden. */
export function describeForecast(facts: ForecastFacts): string {
  const { state, values, price, endsAt } = facts;
  const change = price.returnBps === null ? '' : `BTC moved ${formatReturn(price.returnBps)}`;
  const call = values === null ? '' : `It said ${values.direction} (P(up) ${formatShare(values.pUp)})`;
  switch (state) {
    case 'forming':
      return 'It is committed before its window opens.';
    case 'committed':
      return `On chain before its window opens. ${values === null ? 'Hidden until its outcome' : 'Outcome'}: ${formatTime(endsAt)}.`;
    case 'ended':
      return 'Its window is over. The outcome is not on chain yet.';
    case 'right':
    case 'wrong':
      return `${call}; ${change}.`;
    case 'hold':
      return `It abstained (HOLD), leaning ${values?.direction}; ${change}. Not scored.`;
    case 'void':
      return 'Committed after its window had opened. It counts for nothing.';
    case 'missed':
      return 'Nothing was forecast before the window opened. It counts for nothing.';
  }
}

/** `0.170, base rate 0.248`; the lower, the better. */
export function formatBrier(brier: ForecastFacts['brier']): string {
  if (brier === null) return '–';
  const baseRate = brier.baseRate === null ? '' : `, base rate ${brier.baseRate.toFixed(3)}`;
  return `${brier.own.toFixed(3)}${baseRate}`;
}
