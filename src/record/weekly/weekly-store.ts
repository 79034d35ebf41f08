import type { Collection, Db } from 'mongodb';
import { formatWeek, type Week } from '../../forecast/week.ts';
import { isDuplicateKey } from '../../mongo.ts';
import type { ReachedInstant } from '../../trusted-time.ts';
import type { WeeklyReport } from './weekly-report.ts';

interface WeeklyDoc {
  /** `2026-W47`. */
  _id: string;
  week: Week;
  report: WeeklyReport;
}

export const WEEKLY_INDEXES = [{ collection: 'weekly_reports', indexes: [{ key: { week: 1 }, unique: true }] }];

/** Weekly reports, kept for ever; each is written once. */
export class WeeklyStore {
  readonly #reports: Collection<WeeklyDoc>;

  constructor(db: Db) {
    this.#reports = db.collection('weekly_reports');
  }

  async of(week: Week): Promise<WeeklyReport | null> {
    return (await this.#reports.findOne({ _id: formatWeek(week) }))?.report ?? null;
  }

  /** The report on the newest week that has one, or null before the first. */
  async latest(): Promise<WeeklyReport | null> {
    return (await this.#reports.findOne({}, { sort: { week: -1 } }))?.report ?? null;
  }

  /** Weeks that have a report, newest first. */
  async weeks(): Promise<Week[]> {
    const docs = await this.#reports
      .find({}, { projection: { week: 1 } })
      .sort({ week: -1 })
      .toArray();
    return docs.map(({ week }) => week);
  }

  /** Keeps a week's report, which is proven to be due, unless there is one. */
  async keep(week: Week, report: WeeklyReport, _due: ReachedInstant): Promise<void> {
    await this.#reports.insertOne({ _id: formatWeek(week), week, report }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
  }
}
