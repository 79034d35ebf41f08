import type { BriefStore } from './briefs/brief-store.ts';
import type { WeeklyReportStore } from './weekly/weekly-report-store.ts';

/** Where reports are kept for ever, each written once. */
export interface ReportStores {
  briefs: BriefStore;
  weekly: WeeklyReportStore;
}
