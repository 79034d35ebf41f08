import type { Day } from '../../forecast/day.ts';
import { composePolymarketComparison } from '../../record/self-test/polymarket-comparison.ts';
import type { SelfTestDoc, SelfTestName } from '../../record/self-test/self-test-doc.ts';
import type { PipelineDeps } from '../deps.ts';
import { composeSelfReport } from './self-report/compose.ts';
import { gatherSelfReportData } from './self-report/gather-data.ts';

type RecordedFinding = Pick<SelfTestDoc, 'verdict' | 'result'> & Partial<Pick<SelfTestDoc, 'firstDay' | 'lastDay' | 'replayed'>>;

export const RECORDED_TESTS = {
  'polymarket-comparison': async ({ record, wagers, venue }, _day, now) => {
    const { report, days } = await composePolymarketComparison({ record, wagers, venue, now });
    return { ...toFinding(report, days), replayed: days.some((pin) => pin.replayed) };
  },
  'self-report': async (deps, day, now) => {
    const week = await gatherSelfReportData(deps, day, now);
    const report = composeSelfReport(week);
    return { ...toFinding(report, week.days), replayed: report.record.replayed > 0 };
  },
} as const satisfies Partial<Record<SelfTestName, (deps: PipelineDeps, day: Day, now: Date) => Promise<RecordedFinding>>>;

function toFinding(report: { verdict: string }, days: readonly { day: Day }[]) {
  return { verdict: report.verdict, result: { report }, firstDay: days[0]?.day ?? null, lastDay: days.at(-1)?.day ?? null };
}
