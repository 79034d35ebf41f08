import { BACKTEST_TIME, DIAGNOSTICS_TIME } from '../../record/self-test/due-times.ts';
import { type DayStepName, OUTCOME_CHECK_HOURS, STEP_TIMES, WEEKLY_TIME } from './step-times.ts';

/** When something is done, and what. */
export interface TimetableEntry {
  step: string;
  days: 'every day' | 'Monday' | 'Sunday';
  /** UTC, `HH:MM`. */
  times: string[];
  what: string;
}

const DAILY_STEP_TEXTS = {
  brief: 'writes the daily brief',
  signal: 'forecasts every horizon from what is known at that minute',
  attest: 'commits the forecasts on chain',
  wager: 'sizes a wager on a prediction market, and places it if there is an edge',
} as const satisfies Record<DayStepName, string>;

/** The times of the service, from the constants that its jobs go by; in the order of the day. */
export function buildTimetable(): TimetableEntry[] {
  const checks = Array.from({ length: 24 / OUTCOME_CHECK_HOURS }, (_, index) =>
    formatClock({ hours: index * OUTCOME_CHECK_HOURS, minutes: 0 }),
  );
  const daily = (Object.keys(STEP_TIMES) as DayStepName[]).map(
    (step): TimetableEntry => ({ step, days: 'every day', times: [formatClock(STEP_TIMES[step])], what: DAILY_STEP_TEXTS[step] }),
  );
  const all: TimetableEntry[] = [
    ...daily,
    {
      step: 'outcome-check',
      days: 'every day',
      times: checks,
      what: 'opens outcome windows, resolves and reveals what is due, settles wagers and reports them',
    },
    {
      step: 'backtest',
      days: 'every day',
      times: [formatClock(BACKTEST_TIME)],
      what: 'walks the model forward through the whole history, and compares it with the prediction market',
    },
    {
      step: 'diagnostics',
      days: 'Sunday',
      times: [formatClock(DIAGNOSTICS_TIME)],
      what: 'tests for contamination and stability, and reports on what was promised in the week',
    },
    { step: 'weekly-report', days: 'Monday', times: [formatClock(WEEKLY_TIME)], what: 'reports on the week that has ended' },
  ];
  return all.sort((a, b) => a.times[0].localeCompare(b.times[0]));
}

function formatClock({ hours, minutes }: { hours: number; minutes: number }): string {
  return `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
}
