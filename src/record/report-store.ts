import type { Collection, Db } from 'mongodb';
import { type Day, formatDay } from '../forecast/day.ts';
import { formatWeek } from '../forecast/week.ts';
import { insertOrFind } from '../platform/insert-or-find.ts';
import type { ReachedInstant } from '../platform/time/trusted-time.ts';
import type { Brief } from './briefs/compose.ts';
import type { WeeklyReport } from './weekly/compose.ts';

interface ReportDoc {
  /** `YYYY-MM-DD` of a brief, `2026-W47` of a weekly report. */
  _id: string;
  [field: string]: unknown;
}

const BRIEFS = { collection: 'briefs', dayField: 'day', reportField: 'brief', formatId: formatDay } as const;
const WEEKLY_REPORTS = { collection: 'weekly_reports', dayField: 'week', reportField: 'report', formatId: formatWeek } as const;

type ReportCollection = typeof BRIEFS | typeof WEEKLY_REPORTS;

export const REPORT_INDEXES = [BRIEFS, WEEKLY_REPORTS].map(({ collection, dayField }) => ({
  collection,
  indexes: [{ key: { [dayField]: 1 }, unique: true }],
}));

export class ReportStore<Report extends object> {
  readonly #options: ReportCollection;
  readonly #reports: Collection<ReportDoc>;

  constructor(db: Db, options: ReportCollection) {
    this.#options = options;
    this.#reports = db.collection(options.collection);
  }

  async findByDay(day: Day): Promise<Report | null> {
    const doc = await this.#reports.findOne({ _id: this.#options.formatId(day) });
    return doc && (doc[this.#options.reportField] as Report);
  }

  async findLatest(): Promise<Report | null> {
    const doc = await this.#reports.findOne({}, { sort: { [this.#options.dayField]: -1 } });
    return doc && (doc[this.#options.reportField] as Report);
  }

  async listDays(limit = 0): Promise<Day[]> {
    const { dayField } = this.#options;
    const docs = await this.#reports
      .find({}, { projection: { [dayField]: 1 }, limit })
      .sort({ [dayField]: -1 })
      .toArray();
    return docs.map((doc) => doc[dayField] as Day);
  }

  async findLastDay(): Promise<Day | null> {
    return (await this.listDays(1))[0] ?? null;
  }

  async saveOnce(day: Day, report: Report, _due: ReachedInstant): Promise<Report> {
    const { dayField, reportField, formatId } = this.#options;
    const stored = await insertOrFind(this.#reports, { _id: formatId(day), [dayField]: day, [reportField]: report });
    return stored[reportField] as Report;
  }
}

export interface ReportStores {
  briefs: ReportStore<Brief>;
  weekly: ReportStore<WeeklyReport>;
}

export function openReportStores(db: Db): ReportStores {
  return { briefs: new ReportStore(db, BRIEFS), weekly: new ReportStore(db, WEEKLY_REPORTS) };
}
