import { toDay } from '../../../forecast/day.ts';
import { flag, known, one, type StateMetric } from '../metric-definition.ts';

export const RECORD_METRICS: readonly StateMetric[] = [
  { name: 'oracle_record_days', help: 'Days of the record, missed ones included.', read: ({ status }) => one(status.record.days) },
  {
    name: 'oracle_record_age_days',
    help: 'Days since the last day of the record: 0 once the forecast of today is made.',
    read: ({ status, nowMs }) => known(status.record.lastDay, (day) => one(toDay(nowMs) - toDay(Date.parse(day)))),
  },
  {
    name: 'oracle_attested_age_days',
    help: 'Days since the newest day whose forecasts are attested: 0 once those of today are on chain.',
    read: ({ attestedDay, nowMs }) => known(attestedDay, (day) => one(toDay(nowMs) - day)),
  },
  {
    name: 'oracle_forecasts',
    help: 'Forecasts by public status. Those that are not revealed are PENDING, whatever their outcome.',
    labels: ['status'],
    read: ({ status }) => Object.entries(status.record.forecasts).map(([name, value]) => ({ labels: { status: name }, value })),
  },
  {
    name: 'oracle_wagering_on',
    help: '1 while new wagers are enabled by settings and operator.',
    read: ({ status }) => one(flag(status.wagering.on)),
  },
];

export const SELF_TEST_METRICS: readonly StateMetric[] = [
  {
    name: 'oracle_self_test_failed',
    help: '1 while the newest run of the self-test has failed.',
    labels: ['test'],
    read: ({ selfTests }) => selfTests.map(({ test, state }) => ({ labels: { test }, value: flag(state === 'failed') })),
  },
  {
    name: 'oracle_self_test_overdue',
    help: '1 while the self-test has no result of its last due day.',
    labels: ['test'],
    read: ({ selfTests }) => selfTests.map(({ test, overdue }) => ({ labels: { test }, value: flag(overdue) })),
  },
];
