import { DAY_MS } from '../../forecast/day.ts';
import { clearOutbox, findWithOutbox } from '../../platform/outbox.ts';
import type { DayDoc } from '../../record/day-doc.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import type { WagerBook } from '../../wager/wager-book.ts';
import { PUSHED_NAMES } from '../event-names.ts';
import type { AnyEventDraft } from './event.ts';
import { buildForecastDrafts, buildRegimeDrafts, buildWagerDrafts } from './event-drafts.ts';
import { EVENT_RETENTION_DAYS, type EventLog } from './event-log.ts';

export interface PublishChangesDeps {
  log: EventLog;
  record: ForecastRecord;
  wagers: WagerBook;
  now(): Date;
}

/**
 * Moves outbox entries into the event log, oldest first; any process may run it, also after a kill, since event keys are idempotent.
 * Advances the revisions as well: a process that died after a change has not done so.
 */
export async function publishChanges({ log, record, wagers, now }: PublishChangesDeps): Promise<number> {
  const [days, forecasts, stakes] = await Promise.all([
    findWithOutbox(record.days),
    findWithOutbox(record.forecasts),
    findWithOutbox(wagers.wagers),
  ]);
  if (days.length + forecasts.length > 0) await record.revision.advance();
  if (stakes.length > 0) await wagers.revision.advance();
  const drafts = [
    ...(await buildAllRegimeDrafts(record, days)),
    ...forecasts.map((doc) => doc.outbox.flatMap((change) => buildForecastDrafts(doc, change))),
    ...stakes.map((doc) => doc.outbox.flatMap((change) => buildWagerDrafts(doc, change))),
  ].flat();
  const at = now();
  const oldest = at.getTime() - EVENT_RETENTION_DAYS * DAY_MS;
  const appended = await log.append(drafts.filter((draft) => draft.at.getTime() >= oldest).sort(compareDrafts), at);
  // Only after the events are in the log and the revisions advanced.
  await Promise.all([clearOutbox(record.days, days), clearOutbox(record.forecasts, forecasts), clearOutbox(wagers.wagers, stakes)]);
  return appended;
}

function compareDrafts(a: AnyEventDraft, b: AnyEventDraft): number {
  const rank = ({ type }: AnyEventDraft) => PUSHED_NAMES.indexOf(type);
  return a.at.getTime() - b.at.getTime() || rank(a) - rank(b) || (a.horizonDays ?? 0) - (b.horizonDays ?? 0) || a.key.localeCompare(b.key);
}

/** The day before is mostly published with the day. */
function buildAllRegimeDrafts(
  record: ForecastRecord,
  days: Awaited<ReturnType<typeof findWithOutbox<DayDoc>>>,
): Promise<AnyEventDraft[][]> {
  const regimes = new Map(days.map(({ day, regime }) => [day, regime]));
  return Promise.all(
    days.map(async (day) => {
      const regime = regimes.get(day.day - 1) ?? null;
      return buildRegimeDrafts(day, regime === null ? await findDayBefore(record, day) : { regime });
    }),
  );
}

async function findDayBefore({ days }: ForecastRecord, { day }: DayDoc): Promise<Pick<DayDoc, 'regime'> | null> {
  const query = { day: { $lt: day }, regime: { $ne: null } };
  return days.findOne(query, { sort: { day: -1 }, projection: { regime: 1 }, hint: { day: 1 } });
}
