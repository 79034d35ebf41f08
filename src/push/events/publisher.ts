import { clearOutbox, withOutbox } from '../../outbox.ts';
import type { DayDoc } from '../../record/day-record.ts';
import type { ForecastRecord } from '../../record/record.ts';
import type { WagerBook } from '../../wager/wagers.ts';
import { PUSHED_NAMES } from '../event-names.ts';
import { forecastDrafts, regimeDrafts, wagerDrafts } from './drafts.ts';
import type { AnyDraft } from './event.ts';
import { EVENTS_KEPT_DAYS, type EventLog } from './log.ts';

export interface PublisherParts {
  log: EventLog;
  record: ForecastRecord;
  wagers: WagerBook;
  now(): Date;
}

const DAY_MS = 86_400_000;

/**
 * Brings what was written beside changes into the event log, oldest first, and returns how many events that made. Any process may,
 * at any time: what another one has brought there, or a killed one left half done, is found by its key.
 */
export async function publishChanges({ log, record, wagers, now }: PublisherParts): Promise<number> {
  const [days, forecasts, stakes] = await Promise.all([withOutbox(record.days), withOutbox(record.forecasts), withOutbox(wagers.wagers)]);
  const drafts = [
    ...(await Promise.all(days.map(async (day) => regimeDrafts(day, await dayBefore(record, day))))),
    ...forecasts.map((doc) => doc.outbox.flatMap((change) => forecastDrafts(doc, change))),
    ...stakes.map((doc) => doc.outbox.flatMap((change) => wagerDrafts(doc, change))),
  ].flat();
  const at = now();
  const oldest = at.getTime() - EVENTS_KEPT_DAYS * DAY_MS;
  const appended = await log.append(drafts.filter((draft) => draft.at.getTime() >= oldest).sort(inOrder), at);
  // Not before they stand in the log.
  await Promise.all([clearOutbox(record.days, days), clearOutbox(record.forecasts, forecasts), clearOutbox(wagers.wagers, stakes)]);
  return appended;
}

/** As they happened; at the same moment in the order of a day. */
function inOrder(a: AnyDraft, b: AnyDraft): number {
  const rank = ({ type }: AnyDraft) => PUSHED_NAMES.indexOf(type);
  return a.at.getTime() - b.at.getTime() || rank(a) - rank(b) || (a.horizonDays ?? 0) - (b.horizonDays ?? 0) || a.key.localeCompare(b.key);
}

async function dayBefore({ days }: ForecastRecord, { day }: DayDoc): Promise<Pick<DayDoc, 'regime'> | null> {
  const query = { day: { $lt: day }, regime: { $ne: null } };
  return days.findOne(query, { sort: { day: -1 }, projection: { regime: 1 }, hint: { day: 1 } });
}
