import type { BriefStore } from './briefs/brief-store.ts';
import type { WeeklyStore } from './weekly/weekly-store.ts';

/** Where reports are kept for ever, each written once. */
export interface ReportStores {
  briefs: BriefStore;
  weekly: WeeklyStore;
}
