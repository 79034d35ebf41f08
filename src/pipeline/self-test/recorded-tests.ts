import type { Day } from '../../forecast/day.ts';
import { polymarketComparison } from '../../record/self-test/polymarket-comparison.ts';
import type { SelfTestDoc, SelfTestName } from '../../record/self-test/self-test.ts';
import type { PipelineParts } from '../parts.ts';
import { composeSelfReport } from './self-report/compose.ts';
import { gatherWeek } from './self-report/material.ts';

type FromRecord = Pick<SelfTestDoc, 'verdict' | 'result'> & Partial<Pick<SelfTestDoc, 'firstDay' | 'lastDay' | 'replayed'>>;

/** The tests that are made from the record, by name: for the day that they were due on, from what everybody may know now. */
export const RECORDED_TESTS = {
  'polymarket-comparison': async ({ record, wagers, venue }, _day, now) => {
    const { report, days } = await polymarketComparison({ record, wagers, venue, now });
    const replayed = days.some((pin) => pin.replayed);
    return { verdict: report.verdict, result: { report }, firstDay: days[0]?.day ?? null, lastDay: days.at(-1)?.day ?? null, replayed };
  },
  'self-report': async (parts, day, now) => {
    const week = await gatherWeek(parts, day, now);
    const report = composeSelfReport(week);
    const replayed = report.record.replayed > 0;
    return {
      verdict: report.verdict,
      result: { report },
      firstDay: week.days[0]?.day ?? null,
      lastDay: week.days.at(-1)?.day ?? null,
      replayed,
    };
  },
} as const satisfies Partial<Record<SelfTestName, (parts: PipelineParts, day: Day, now: Date) => Promise<FromRecord>>>;
