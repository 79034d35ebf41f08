import type { Db } from 'mongodb';
import { BRIEF_INDEXES, BriefStore } from '../../record/briefs/brief-store.ts';
import type { ReportStores } from '../../record/report-stores.ts';
import { WEEKLY_INDEXES, WeeklyReportStore } from '../../record/weekly/weekly-report-store.ts';

export const REPORT_INDEXES = [...BRIEF_INDEXES, ...WEEKLY_INDEXES];

/** Where briefs and weekly reports are kept. */
export function openReports(db: Db): ReportStores {
  return { briefs: new BriefStore(db), weekly: new WeeklyReportStore(db) };
}
