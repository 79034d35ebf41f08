import { flag, known, one, type Sample, type StateMetric, type StateSnapshot, secondsSince } from '../metric-definition.ts';

const DAY_MS = 86_400_000;

type Run = StateSnapshot['status']['steps'][number];

function perStep(name: StateMetric['name'], help: string, read: (run: Run, nowMs: number) => number): StateMetric {
  return {
    name,
    help,
    labels: ['step'],
    read: ({ status, nowMs }) => status.steps.map((run): Sample => ({ labels: { step: run.step }, value: read(run, nowMs) })),
  };
}

/** Steps of wagers are not in the public status. */
export const PIPELINE_METRICS: readonly StateMetric[] = [
  perStep('oracle_step_waiting', '1 while the latest run of the step is waiting.', ({ state }) => flag(state === 'waiting')),
  perStep('oracle_step_failed', '1 while the latest run of the step is failed.', ({ state }) => flag(state === 'failed')),
  perStep('oracle_step_age_seconds', 'Seconds since the latest run of the step.', ({ ranAt }, nowMs) => secondsSince(ranAt, nowMs)),
  perStep('oracle_step_attempts', 'Attempts of the step for the day of its latest run.', ({ attempts }) => attempts),
  {
    name: 'oracle_job_next_run_seconds',
    help: 'Seconds until the next run of the job; below zero it is overdue.',
    // `job` is the scraper's own label.
    labels: ['task'],
    read: ({ status, nowMs }) =>
      status.schedule.flatMap(({ job, nextRunAt }) =>
        known(nextRunAt, (at) => [{ labels: { task: job }, value: -secondsSince(at, nowMs) }]),
      ),
  },
  {
    name: 'oracle_window_opens_seconds',
    help: 'Seconds until the next outcome window opens, at 00:00 UTC.',
    read: ({ nowMs }) => one((DAY_MS - (nowMs % DAY_MS)) / 1_000),
  },
];
