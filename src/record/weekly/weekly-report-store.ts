import type { Collection, Db } from 'mongodb';
import { formatWeek, type Week } from '../../forecast/week.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import type { ReachedInstant } from '../../platform/time/trusted-time.ts';
import type { WeeklyReport } from './weekly-report.ts';

interface WeeklyReportDoc {
  /** `2026-W47`. */
  _id: string;
  week: Week;
  report: WeeklyReport;
}

export const WEEKLY_INDEXES = [{ collection: 'weekly_reports', indexes: [{ key: { week: 1 }, unique: true }] }];

/** Weekly reports, kept for ever; each is written once. */
export class WeeklyReportStore {
  readonly #reports: Collection<WeeklyReportDoc>;

  constructor(db: Db) {
    this.#reports = db.collection('weekly_reports');
  }

  async findByWeek(week: Week): Promise<WeeklyReport | null> {
    return (await this.#reports.findOne({ _id: formatWeek(week) }))?.report ?? null;
  }

  /** The report on the newest week that has one, or null before the first. */
  async findLatest(): Promise<WeeklyReport | null> {
    return (await this.#reports.findOne({}, { sort: { week: -1 } }))?.report ?? null;
  }

  /** Weeks that have a report, newest first. */
  async listWeeks(): Promise<Week[]> {
    const docs = await this.#reports
      .find({}, { projection: { week: 1 } })
      .sort({ week: -1 })
      .toArray();
    return docs.map(({ week }) => week);
  }

  /** Keeps a week's report, which is proven to be due, unless there is one. */
  async saveOnce(week: Week, report: WeeklyReport, _due: ReachedInstant): Promise<void> {
    await this.#reports.insertOne({ _id: formatWeek(week), week, report }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
  }
}
