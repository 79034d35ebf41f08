import { IDENTITY } from '../../../agent-card/endpoints.ts';
import { PUBLIC_CALLER } from '../../auth/caller.ts';
import { type Day, formatDay, formatUtc, toDay, toInstantMs } from '../../forecast/day.ts';
import { DEFAULT_HORIZON, parseHorizonDays } from '../../forecast/horizon-input.ts';
import type { HorizonDays } from '../../forecast/model.ts';
import { formatMove } from '../../forecast/move.ts';
import { formatReturn, formatShare } from '../../page/forecast.ts';
import { el, type Markup } from '../../page/markup.ts';
import { joinUrl } from '../../platform/service-client.ts';
import { type AttestationView, listNewestAttestations } from '../../record/attestations.ts';
import { getOutcomeWindow } from '../../record/forecast-doc.ts';
import { type ForecastView, viewForecast } from '../../record/visibility.ts';
import { buildStrongEtag, EncodedText, type Reply } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

const MAX_ENTRIES = 50;
const HORIZON_DAYS = parseHorizonDays(DEFAULT_HORIZON) as HorizonDays;

/** About forecasts of 7 days as an anonymous caller sees them: the same for every caller. */
export function feedRoutes({ record, viewFor, publicUrl, explorerUrl, now }: Services): Route[] {
  return [
    route(`GET ${FEED_PATH}`, 'getFeed', {
      tag: 'record',
      summary: 'The newest commitments and outcomes as an Atom feed',
      description: `The ${MAX_ENTRIES} newest attestations of forecasts of 7 days (RFC 4287). Entries never change. \`If-None-Match\` is answered with 304.`,
      reply: null,
      alternatives: { [FEED_MEDIA_TYPE]: { description: 'The feed.' } },
      shared: 'state',
      async handle() {
        const wanted = { horizons: [HORIZON_DAYS], limit: MAX_ENTRIES };
        const attestations = await listNewestAttestations(record, wanted, viewFor(PUBLIC_CALLER));
        return toTextReply(FEED_MEDIA_TYPE, renderAtomFeed({ publicUrl, explorerUrl, attestations }));
      },
    }),
    route(`GET ${CALENDAR_PATH}`, 'getCalendar', {
      tag: 'record',
      summary: 'When the windows of forecasts open and end, with results, as a calendar',
      description: `Forecasts of 7 days, of the last ${CALENDAR_DAYS.past} days and the coming ${CALENDAR_DAYS.coming} (RFC 5545, RFC 7986): subscribe to it by its URL.`,
      reply: null,
      alternatives: { [CALENDAR_MEDIA_TYPE]: { description: 'The calendar.' } },
      shared: 'state',
      async handle() {
        const today = toDay(now().getTime());
        const first = today - CALENDAR_DAYS.past;
        const docs = new Map(record.known.listSince(HORIZON_DAYS, first).map((doc) => [doc.day, doc]));
        const all = Array.from({ length: CALENDAR_DAYS.past + CALENDAR_DAYS.coming + 1 }, (_, index) => first + index);
        // Days of before the record, or that no worker has made up for yet, have no forecast to come.
        const days = all
          .filter((day) => day >= today || docs.has(day))
          .map((day): CalendarDay => {
            const doc = docs.get(day);
            if (doc === undefined) return { day, forecast: null };
            const changedAt = doc.reveal?.at ?? doc.attestation?.at ?? doc.signalAt;
            return { day, forecast: { view: viewForecast(doc, viewFor(PUBLIC_CALLER)), changedAt } };
          });
        return toTextReply(CALENDAR_MEDIA_TYPE, renderCalendar(publicUrl, days));
      },
    }),
  ];
}

function toTextReply(mediaType: string, text: string): Reply<never> {
  return { headers: { 'Content-Type': `${mediaType}; charset=utf-8`, ETag: buildStrongEtag(text) }, encoded: new EncodedText(text) };
}

interface FeedInput {
  publicUrl: string;
  /** EAS explorer; null where none is known. */
  explorerUrl: string | null;
  /** As an anonymous caller sees them, newest first. */
  attestations: readonly AttestationView[];
}

/** RFC 4287 requires a time also of a feed without entries. */
const NEVER = '1970-01-01T00:00:00.000Z';

/**
 * The feed of RFC 4287. Entries never change, so that their time is that of their block: one of a commitment holds no value of the
 * forecast, and one of a resolution is made when all values are public.
 */
function renderAtomFeed(input: FeedInput): string {
  const { publicUrl, attestations } = input;
  const self = joinUrl(publicUrl, FEED_PATH);
  const feed = xml(
    'feed',
    { xmlns: 'http://www.w3.org/2005/Atom', 'xml:lang': 'en' },
    xmlText('title', IDENTITY.name),
    xmlText('subtitle', IDENTITY.description),
    xmlText('id', self),
    xmlText('updated', attestations[0]?.attestedAt ?? NEVER),
    xml('link', { rel: 'self', type: FEED_MEDIA_TYPE, href: self }),
    xml('link', { rel: 'alternate', type: 'text/html', href: joinUrl(publicUrl, '/f') }),
    xmlText('icon', joinUrl(publicUrl, '/icon.svg')),
    xml('author', {}, xmlText('name', IDENTITY.name), xmlText('uri', joinUrl(publicUrl, '/'))),
    ...attestations.map((view) => renderEntry(view, input)),
  );
  return `<?xml version="1.0" encoding="utf-8"?>\n${feed}\n`;
}

function renderEntry(view: AttestationView, { publicUrl, explorerUrl }: FeedInput): Xml {
  const { date, horizon, uid, type, attestedAt, replayed } = view;
  const kind = type === 'prediction' ? 'committed' : 'resolved';
  const { title, summary } = type === 'prediction' ? describeCommitment(view) : describeResolution(view);
  return xml(
    'entry',
    {},
    xmlText('title', title),
    xmlText('id', `tag:${new URL(publicUrl).hostname},${date}:${horizon}/${kind}`),
    xmlText('published', attestedAt),
    xmlText('updated', attestedAt),
    xml('link', { rel: 'alternate', type: 'text/html', href: joinUrl(publicUrl, `/f/${date}/${horizon}`) }),
    xml('link', { rel: 'related', type: 'application/json', href: joinUrl(publicUrl, `/api/svc/onchain-oracle/verify/${uid}`) }),
    ...(explorerUrl === null ? [] : [xml('link', { rel: 'related', type: 'text/html', href: `${explorerUrl}/attestation/view/${uid}` })]),
    xml('category', { term: kind }),
    ...(replayed ? [xml('category', { term: 'replayed' })] : []),
    xmlText('summary', summary, { type: 'text' }),
  );
}

function describeCommitment(view: AttestationView) {
  const { date, horizon, status, missed, attestedAt, windowOpensAt, resolvesAt, commitment, uid, moveSize } = view;
  const at = `The ${horizon} forecast of ${date} was committed on chain at ${formatUtc(attestedAt)}`;
  const proof = `Commitment ${commitment}, attestation ${uid}.`;
  if (missed)
    return { title: `No forecast of ${date} (${horizon})`, summary: `Nothing was forecast; an empty entry keeps the sequence. ${proof}` };
  if (status === 'VOID') {
    return {
      title: `Forecast of ${date} (${horizon}) void`,
      summary: `${at}, after its window had opened. It counts for nothing. ${proof}`,
    };
  }
  const window = `before its window, ${formatUtc(windowOpensAt)} to ${formatUtc(resolvesAt)}`;
  const move = formatMove(view);
  return {
    title: `Forecast of ${date} (${horizon})${moveSize === null ? '' : `: ${moveSize} move,`} committed`,
    summary: `${move === null ? '' : `Size of the move: ${move}. Direction committed, no proven skill. `}${at}, ${window}. ${proof}`,
  };
}

const RESULTS = { WIN: 'right', LOSS: 'wrong' } as const;

function describeResolution({ date, horizon, signal, direction, pUp, outcome, returnBps, attestedAt, uid }: AttestationView) {
  const result = outcome === null ? 'resolved (HOLD)' : RESULTS[outcome];
  const call = direction === null ? '' : `It said ${signal}, ${direction} with P(up) ${formatShare(pUp)}. `;
  const scored = outcome === null ? 'A HOLD is not scored. ' : '';
  return {
    title: `Forecast of ${date} (${horizon}) ${result}: BTC moved ${formatReturn(returnBps)}`,
    summary: `${call}BTC moved ${formatReturn(returnBps)} within the window. ${scored}Revealed at ${formatUtc(attestedAt)}, attestation ${uid}.`,
  };
}

const FEED_PATH = '/api/svc/open/feed.atom';
const CALENDAR_PATH = '/api/svc/open/calendar.ics';

const FEED_MEDIA_TYPE = 'application/atom+xml';
const CALENDAR_MEDIA_TYPE = 'text/calendar';

/** An element or text as XML source: what callers nest is escaped already. */
type Xml = string & { readonly isXml: unique symbol };

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** XML 1.0 has no way to write these. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

export function escapeXml(text: string): Xml {
  return text.replaceAll(UNWRITABLE, '').replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!) as Xml;
}

/** @param name and names of attributes: constants of the caller */
export function xml(name: string, attributes: Readonly<Record<string, string>>, ...content: readonly Xml[]): Xml {
  const head = [name, ...Object.entries(attributes).map(([key, value]) => `${key}="${escapeXml(value)}"`)].join(' ');
  return (content.length === 0 ? `<${head}/>` : `<${head}>${content.join('')}</${name}>`) as Xml;
}

/** An element with text. */
export function xmlText(name: string, text: string, attributes: Readonly<Record<string, string>> = {}): Xml {
  return xml(name, attributes, escapeXml(text));
}

/** Days before today and after it whose forecasts are shown. */
const CALENDAR_DAYS = { past: 30, coming: 7 } as const;

interface CalendarDay {
  day: Day;
  /** As an anonymous caller sees it, and when it last changed; null before it is made. */
  forecast: { view: ForecastView; changedAt: Date } | null;
}

const REFRESH_INTERVAL = 'PT6H';

/** RFC 5545, with the properties of a published calendar of RFC 7986: when the window of each day opens and ends, with results. */
function renderCalendar(publicUrl: string, days: readonly CalendarDay[]): string {
  return renderIcal([
    ['BEGIN', 'VCALENDAR'],
    ['VERSION', '2.0'],
    ['PRODID', `-//${IDENTITY.name}//EN`],
    ['CALSCALE', 'GREGORIAN'],
    ['NAME', escapeIcalText(IDENTITY.name)],
    // Clients from before RFC 7986 read these.
    ['X-WR-CALNAME', escapeIcalText(IDENTITY.name)],
    ['X-PUBLISHED-TTL', REFRESH_INTERVAL],
    ['DESCRIPTION', escapeIcalText(IDENTITY.description)],
    ['SOURCE;VALUE=URI', joinUrl(publicUrl, CALENDAR_PATH)],
    ['REFRESH-INTERVAL;VALUE=DURATION', REFRESH_INTERVAL],
    ...days.flatMap((day) => toEvents(day).flatMap((event) => renderEvent(event, day, publicUrl))),
    ['END', 'VCALENDAR'],
  ]);
}

function renderEvent(event: CalendarEvent, { day, forecast }: CalendarDay, publicUrl: string): IcalProperty[] {
  const date = formatDay(day);
  // Of a forecast to come: when it first stood in the calendar.
  const changedAt = forecast?.changedAt ?? new Date(toInstantMs(day - CALENDAR_DAYS.coming));
  return [
    ['BEGIN', 'VEVENT'],
    ['UID', `${date}-${DEFAULT_HORIZON}-${event.name}@${new URL(publicUrl).hostname}`],
    ['DTSTAMP', formatIcalTime(changedAt)],
    ['DTSTART', formatIcalTime(event.at)],
    ['SUMMARY', escapeIcalText(event.summary)],
    ['DESCRIPTION', escapeIcalText(event.description)],
    ...(forecast === null ? [] : [['URL', joinUrl(publicUrl, `/f/${date}/${DEFAULT_HORIZON}`)] as const]),
    ['STATUS', forecast === null ? 'TENTATIVE' : 'CONFIRMED'],
    ['TRANSP', 'TRANSPARENT'],
    ['END', 'VEVENT'],
  ];
}

type CalendarEvent = ReturnType<typeof toEvents>[number];

function toEvents({ day, forecast }: CalendarDay) {
  const { opensAtMs, resolvesAtMs } = getOutcomeWindow(day, HORIZON_DAYS);
  const name = `BTC/USD forecast of ${formatDay(day)} (${DEFAULT_HORIZON})`;
  const endsAt = new Date(resolvesAtMs);
  const rule = 'The outcome is the daily close at the end of the window against that at its beginning.';
  const description = `${rule} It ends at ${formatUtc(endsAt.toISOString())}.`;
  return [
    { name: 'opens', at: new Date(opensAtMs), summary: `${name}: window opens`, description },
    { name: 'ends', at: endsAt, ...describeEnd(name, forecast?.view ?? null) },
  ];
}

function describeEnd(name: string, view: ForecastView | null): { summary: string; description: string } {
  if (view === null) return { summary: `${name}: window ends`, description: 'The forecast is not made yet.' };
  if (view.missed) return { summary: `${name}: missed`, description: 'Nothing was forecast. It counts for nothing.' };
  if (view.status === 'VOID')
    return { summary: `${name}: void`, description: 'Committed after its window had opened. It counts for nothing.' };
  if (!view.resolved) return { summary: `${name}: window ends`, description: 'The outcome is revealed on chain within hours.' };
  const { result, signal, direction, pUp, returnBps, resolvedAt } = view;
  return {
    summary: `${name}: ${result === null ? 'HOLD' : RESULTS[result]}, BTC ${formatReturn(returnBps)}`,
    description: `It said ${signal}, ${direction} with P(up) ${formatShare(pUp)}. Revealed at ${resolvedAt === null ? '–' : formatUtc(resolvedAt)}.`,
  };
}

/** A property of iCalendar: name with parameters, and its value as it is written. */
type IcalProperty = readonly [name: string, value: string];

const MAX_LINE_BYTES = 75;

/** Content lines of RFC 5545, section 3.1: folded, each ended by CRLF. */
export function renderIcal(properties: readonly IcalProperty[]): string {
  return properties.map(([name, value]) => `${foldLine(`${name}:${value}`)}\r\n`).join('');
}

/** A value of type TEXT (section 3.3.11). */
export function escapeIcalText(text: string): string {
  return text.replaceAll(/[\\;,]/g, '\\$&').replaceAll(/\r?\n/g, '\\n');
}

/** A value of type DATE-TIME in UTC (section 3.3.5), whole seconds. */
function formatIcalTime(at: Date): string {
  return `${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

/** Lines have at most 75 octets; no character is split. The space that begins a further line counts. */
function foldLine(line: string): string {
  let [folded, bytes] = ['', 0];
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > MAX_LINE_BYTES) {
      folded += '\r\n ';
      bytes = 1;
    }
    folded += character;
    bytes += size;
  }
  return folded;
}

/** By which feed readers find the feed of a page; relative to the base of the page. */
export function renderFeedLink(): Markup {
  return el('link', { rel: 'alternate', type: FEED_MEDIA_TYPE, title: IDENTITY.name, href: FEED_PATH.slice(1) });
}
