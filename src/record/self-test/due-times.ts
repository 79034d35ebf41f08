import { type Day, formatDay, toDay, toInstantMs } from '../../forecast/day.ts';
import { getWeekday } from '../../forecast/week.ts';
import type { SelfTestName } from './self-test-doc.ts';

export const BACKTEST_TIME = { hours: 3, minutes: 0 } as const;

/** Due time of the weekly tests, UTC, on Sunday. */
export const DIAGNOSTICS_TIME = { hours: 15, minutes: 0 } as const;

/** The pipeline step of each test: `backtest` daily, `diagnostics` weekly (interface, section 1). */
export const SELF_TEST_STEPS = {
  'walk-forward': 'backtest',
  'polymarket-comparison': 'backtest',
  contamination: 'diagnostics',
  stability: 'diagnostics',
  'self-report': 'diagnostics',
} as const satisfies Record<SelfTestName, 'backtest' | 'diagnostics'>;

export type SelfTestStep = (typeof SELF_TEST_STEPS)[SelfTestName];

const SUNDAY = 6;
const PERIOD_DAYS = { backtest: 1, diagnostics: 7 } as const satisfies Record<SelfTestStep, number>;

/** In milliseconds since 1970; the day of `diagnostics` must be a Sunday. */
export function getSelfTestDueMs(step: SelfTestStep, day: Day): number {
  const { hours, minutes } = step === 'backtest' ? BACKTEST_TIME : DIAGNOSTICS_TIME;
  return toInstantMs(day, hours, minutes);
}

/** `lastCovered` is the last day of a feed that ends, whose tests end with the first due time after it; null for a live feed. */
export function getNewestDueDay(step: SelfTestStep, nowMs: number, lastCovered: Day | null): Day {
  const today = toDay(nowMs);
  const begun = getDueDayOnOrBefore(step, nowMs >= getSelfTestDueMs(step, today) ? today : today - 1);
  return lastCovered === null ? begun : Math.min(begun, getLastDueDay(step, lastCovered));
}

export function getNextDueMs(step: SelfTestStep, nowMs: number, lastCovered: Day | null): number | null {
  const day = getNewestDueDay(step, nowMs, null) + PERIOD_DAYS[step];
  return lastCovered !== null && day > getLastDueDay(step, lastCovered) ? null : getSelfTestDueMs(step, day);
}

/** The first due day that covers all data of a feed that ends. */
function getLastDueDay(step: SelfTestStep, lastCovered: Day): Day {
  return getDueDayOnOrBefore(step, lastCovered + PERIOD_DAYS[step]);
}

function getDueDayOnOrBefore(step: SelfTestStep, day: Day): Day {
  return step === 'backtest' ? day : day - ((getWeekday(day) - SUNDAY + 7) % 7);
}

export function formatSelfTestId(test: SelfTestName, day: Day): string {
  return `${test}:${formatDay(day)}`;
}
