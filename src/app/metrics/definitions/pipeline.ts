import { flag, known, one, type StateMetric, secondsSince } from '../metric-definition.ts';

const DAY_MS = 86_400_000;

export const PIPELINE_METRICS: readonly StateMetric[] = [
  ...(['waiting', 'failed'] as const).map(
    (state): StateMetric => ({
      name: `oracle_step_${state}`,
      help: `1 while the latest run of the step is ${state}.`,
      labels: ['step'],
      read: ({ status }) => status.steps.map((run) => ({ labels: { step: run.step }, value: flag(run.state === state) })),
    }),
  ),
  {
    name: 'oracle_step_age_seconds',
    help: 'Seconds since the latest run of the step.',
    labels: ['step'],
    read: ({ status, nowMs }) => status.steps.map(({ step, ranAt }) => ({ labels: { step }, value: secondsSince(ranAt, nowMs) })),
  },
  {
    name: 'oracle_step_attempts',
    help: 'Attempts of the step for the day of its latest run.',
    labels: ['step'],
    read: ({ status }) => status.steps.map(({ step, attempts }) => ({ labels: { step }, value: attempts })),
  },
  {
    name: 'oracle_job_next_run_seconds',
    help: 'Seconds until the next run of the job; below zero it is overdue.',
    labels: ['job'],
    read: ({ status, nowMs }) =>
      status.schedule.flatMap(({ job, nextRunAt }) => known(nextRunAt, (at) => [{ labels: { job }, value: -secondsSince(at, nowMs) }])),
  },
  {
    name: 'oracle_window_opens_seconds',
    help: 'Seconds until the next outcome window opens, at 00:00 UTC.',
    read: ({ nowMs }) => one((DAY_MS - (nowMs % DAY_MS)) / 1_000),
  },
];
