import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Served, serve } from '../../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service/service.ts';

interface AtomLink {
  rel: string;
  href: string;
}

interface AtomFeed {
  id: string;
  updated: string;
  links: AtomLink[];
  authors: { name: string }[];
  entries: { id: string; updated: string; links: AtomLink[] }[];
}

interface IcalTime {
  toJSDate(): Date;
  zone: unknown;
}

interface IcalComponent {
  getFirstPropertyValue(name: string): object;
  getAllSubcomponents(name: string): IcalComponent[];
}

interface Ical {
  parse(text: string): unknown;
  Component: new (parsed: unknown) => IcalComponent;
  Event: new (component: IcalComponent) => { uid: string; summary: string; startDate: IcalTime };
  Timezone: { utcTimezone: unknown };
}

// Not imported, because the type checker runs without the packages of this folder.
const load = createRequire(import.meta.url);
const { parseAtomFeed } = load('feedsmith') as { parseAtomFeed(text: string): AtomFeed };
const ICAL = load('ical.js') as Ical;

const DAYS = 10;
const WEEK_MS = 7 * 86_400_000;

let service: TestService;
let served: Served;

beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = today() - DAYS; day < today(); day++) await runPastDay(service, day);
  served = await serve(service);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const read = async (name: string) => (await fetch(`${served.url}/api/svc/open/${name}`)).text();

it('a feed reader reads the Atom feed, with what RFC 4287 requires', async () => {
  const { entries, links, ...feed } = parseAtomFeed(await read('feed.atom'));
  expect(feed).toMatchObject({
    id: expect.stringMatching(/feed\.atom$/),
    title: { value: 'Bitcoin Signal Oracle' },
    updated: expect.any(String),
  });
  expect(links.map(({ rel }) => rel)).toEqual(['self', 'alternate']);
  expect(feed.authors[0]?.name).toBe('Bitcoin Signal Oracle');
  const resolved = entries.filter(({ id }) => id.endsWith('/resolved'));
  expect([entries.length - resolved.length, resolved.length > 0]).toEqual([DAYS, true]);
  expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
  for (const entry of entries) {
    expect(entry).toMatchObject({ title: { value: expect.stringContaining('Forecast of ') }, summary: { value: expect.any(String) } });
    expect(Number.isNaN(Date.parse(entry.updated))).toBe(false);
    expect(entry.links.some(({ rel, href }) => rel === 'alternate' && URL.canParse(href))).toBe(true);
  }
});

it('a calendar reads the windows and their texts as they were', async () => {
  const calendar = new ICAL.Component(ICAL.parse(await read('calendar.ics')));
  expect(calendar.getFirstPropertyValue('refresh-interval')?.toString()).toBe('PT6H');
  const events = calendar.getAllSubcomponents('vevent').map((component) => new ICAL.Event(component));
  expect(events).toHaveLength(2 * (DAYS + 8));
  const windows = Map.groupBy(events, ({ uid }) => uid.slice(0, '2026-03-10'.length));
  for (const [date, [opens, ends]] of windows) {
    expect(opens!.summary).toBe(`BTC/USD forecast of ${date} (7d): window opens`);
    expect(ends!.startDate.toJSDate().getTime() - opens!.startDate.toJSDate().getTime()).toBe(WEEK_MS);
    expect(opens!.startDate.zone).toBe(ICAL.Timezone.utcTimezone);
  }
  const outcomes = events.map(({ summary }) => summary).filter((summary) => /: (right|wrong|HOLD), BTC [+−]?\d/.test(summary));
  expect(outcomes.length).toBeGreaterThan(0);
});
