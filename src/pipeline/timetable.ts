import { BACKTEST_TIME, DIAGNOSTICS_TIME } from '../record/self-tests.ts';
import { OUTCOME_CHECK_HOURS, STEP_TIMES, WEEKLY_TIME } from './forecaster.ts';
import type { StepName } from './step-runs.ts';

interface TimetableEntry {
  step: StepName | 'outcome-check';
  days: 'every day' | 'Monday' | 'Sunday';
  /** UTC, `HH:MM`. */
  times: string[];
  what: string;
}

type ClockTime = Record<'hours' | 'minutes', number>;

const OUTCOME_CHECKS = Array.from({ length: 24 / OUTCOME_CHECK_HOURS }, (_, index) => ({ hours: index * OUTCOME_CHECK_HOURS, minutes: 0 }));

const entry = (step: TimetableEntry['step'], days: TimetableEntry['days'], times: readonly ClockTime[], what: string): TimetableEntry => ({
  step,
  days,
  times: times.map(formatClock),
  what,
});

/** The scheduled steps in the order of the day: cron lines and `/api/svc/info` are built from this table. */
export const TIMETABLE: readonly TimetableEntry[] = [
  entry(
    'outcome-check',
    'every day',
    OUTCOME_CHECKS,
    'opens outcome windows, resolves and reveals what is due, settles wagers and reports them',
  ),
  entry('weekly-report', 'Monday', [WEEKLY_TIME], 'reports on the week that has ended'),
  entry('brief', 'every day', [STEP_TIMES.brief], 'writes the daily brief'),
  entry(
    'backtest',
    'every day',
    [BACKTEST_TIME],
    'runs the walk-forward test on the whole history, and compares the model with the prediction market',
  ),
  entry('diagnostics', 'Sunday', [DIAGNOSTICS_TIME], "tests for contamination and stability, and reports on the week's promised steps"),
  entry('signal', 'every day', [STEP_TIMES.signal], 'forecasts every horizon from the inputs available at that minute'),
  entry('attest', 'every day', [STEP_TIMES.attest], 'commits the forecasts on chain'),
  entry('wager', 'every day', [STEP_TIMES.wager], 'places a wager on a prediction market: by its edge, or of the minimum stake'),
];

const CRON_WEEKDAYS = { 'every day': '*', Monday: '1', Sunday: '0' } as const;

/** The cron line of an entry, UTC; an entry with several times runs every `OUTCOME_CHECK_HOURS`. */
export function toCron({ days, times }: TimetableEntry): string {
  const [hours, minutes] = times[0].split(':').map(Number);
  return `${minutes} ${times.length > 1 ? `*/${OUTCOME_CHECK_HOURS}` : hours} * * ${CRON_WEEKDAYS[days]}`;
}

function formatClock({ hours, minutes }: ClockTime): string {
  return `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
}

export const JOBS_COLLECTION = 'jobs';
