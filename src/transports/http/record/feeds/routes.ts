import { PUBLIC_CALLER } from '../../../../auth/caller.ts';
import { toDay } from '../../../../forecast/day.ts';
import { DEFAULT_HORIZON, parseHorizonDays } from '../../../../forecast/horizon-input.ts';
import type { HorizonDays } from '../../../../forecast/model.ts';
import { listNewestAttestations } from '../../../../record/attestations/history.ts';
import type { ForecastDoc } from '../../../../record/forecast-doc.ts';
import { viewForecast } from '../../../../record/forecast-visibility.ts';
import type { HttpDeps } from '../../deps.ts';
import { EncodedText } from '../../server/replies/encoded-text.ts';
import { buildStrongEtag } from '../../server/replies/etag.ts';
import { createRevisionReply } from '../../server/replies/revision-reply.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { renderAtomFeed } from './atom-feed.ts';
import { CALENDAR_DAYS, type CalendarDay, renderCalendar } from './calendar.ts';
import { CALENDAR_MEDIA_TYPE, CALENDAR_PATH, FEED_MEDIA_TYPE, FEED_PATH } from './feed-paths.ts';

type FeedDeps = Pick<HttpDeps, 'record' | 'viewFor' | 'publicUrl' | 'explorerUrl' | 'now'>;

const MAX_ENTRIES = 50;
const HORIZON_DAYS = parseHorizonDays(DEFAULT_HORIZON) as HorizonDays;

/** About forecasts of 7 days as an anonymous caller sees them: the same for every caller. */
export function feedRoutes(deps: FeedDeps): Route[] {
  const { record, now } = deps;
  const feed = createRevisionReply({
    readKey: async () => String(await record.revision.read()),
    render: async () => toTextReply(FEED_MEDIA_TYPE, await readFeed(deps)),
  });
  const calendar = createRevisionReply({
    readKey: async () => `${await record.revision.read()} ${toDay(now().getTime())}`,
    render: async () => toTextReply(CALENDAR_MEDIA_TYPE, await readCalendar(deps)),
  });
  return [
    route(`GET ${FEED_PATH}`, 'getFeed', {
      tag: 'record',
      summary: 'The newest commitments and outcomes as an Atom feed',
      description: `The ${MAX_ENTRIES} newest attestations of forecasts of 7 days (RFC 4287). Entries never change. \`If-None-Match\` is answered with 304.`,
      reply: null,
      alternatives: { [FEED_MEDIA_TYPE]: { description: 'The feed.' } },
      handle: () => feed(),
    }),
    route(`GET ${CALENDAR_PATH}`, 'getCalendar', {
      tag: 'record',
      summary: 'When the windows of forecasts open and end, with results, as a calendar',
      description: `Forecasts of 7 days, of the last ${CALENDAR_DAYS.past} days and the coming ${CALENDAR_DAYS.coming} (RFC 5545, RFC 7986): subscribe to it by its URL.`,
      reply: null,
      alternatives: { [CALENDAR_MEDIA_TYPE]: { description: 'The calendar.' } },
      handle: () => calendar(),
    }),
  ];
}

async function readFeed(deps: FeedDeps): Promise<string> {
  const { publicUrl, explorerUrl } = deps;
  const wanted = { horizons: [HORIZON_DAYS], limit: MAX_ENTRIES };
  const attestations = await listNewestAttestations(deps.record, wanted, deps.viewFor(PUBLIC_CALLER));
  return renderAtomFeed({ publicUrl, explorerUrl, attestations });
}

async function readCalendar(deps: FeedDeps): Promise<string> {
  const { record, publicUrl, now } = deps;
  const today = toDay(now().getTime());
  const first = today - CALENDAR_DAYS.past;
  const docs = new Map((await record.listSince(HORIZON_DAYS, first)).map((doc) => [doc.day, doc]));
  const all = Array.from({ length: CALENDAR_DAYS.past + CALENDAR_DAYS.coming + 1 }, (_, index) => first + index);
  // Days of before the record, or that no worker has made up for yet, have no forecast to come.
  const days = all.filter((day) => day >= today || docs.has(day)).map((day) => toCalendarDay(deps, day, docs.get(day)));
  return renderCalendar({ publicUrl, horizonDays: HORIZON_DAYS, days });
}

function toCalendarDay({ viewFor }: FeedDeps, day: number, doc: ForecastDoc | undefined): CalendarDay {
  if (doc === undefined) return { day, forecast: null };
  const changedAt = doc.reveal?.at ?? doc.attestation?.at ?? doc.signalAt;
  return { day, forecast: { view: viewForecast(doc, viewFor(PUBLIC_CALLER)), changedAt } };
}

function toTextReply(mediaType: string, text: string): Reply<never> {
  return { headers: { 'Content-Type': `${mediaType}; charset=utf-8`, ETag: buildStrongEtag(text) }, encoded: new EncodedText(text) };
}
