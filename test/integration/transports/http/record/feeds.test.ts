import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PUBLIC_CALLER } from '../../../../../src/auth/caller.ts';
import { formatDay, parseDay } from '../../../../../src/forecast/day.ts';
import { feedRoutes } from '../../../../../src/http/routes/feeds.ts';
import { createApp } from '../../../../../src/http/server.ts';
import type { Services } from '../../../../../src/http/services.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { type ForecastDoc, getOutcomeWindow } from '../../../../../src/record/forecast-doc.ts';
import { ForecastRecord, RECORD_INDEXES } from '../../../../../src/record/forecasts.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { type Served, serveApp } from '../../../../support/http/serve.ts';
import { buildTestForecast } from '../../../../unit/record/forecast-fixture.ts';

const TODAY = parseDay('2026-03-10');
/** More than the feed and the calendar show. */
const FIRST = TODAY - 69;
const saltSecret = 'a master secret of a test';
const SPECIAL = { wrong: TODAY - 20, hold: TODAY - 15, void: TODAY - 12, missed: TODAY - 11 };

let now = new Date('2026-03-10T12:00:00Z');
let database: TestDatabase;
let record: ForecastRecord;
let served: Served;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, RECORD_INDEXES);
  record = new ForecastRecord({ db: database.db, saltSecret, horizons: [1, 2, 3, 7] });
  const docs = Array.from({ length: TODAY - FIRST }, (_, index) => buildDoc(FIRST + index));
  await record.forecasts.insertMany(docs.flatMap((doc) => [doc, buildTestForecast({ date: formatDay(doc.day), horizonDays: 1 })]));
  await record.known.load();
  const deps = {
    record,
    publicUrl: 'https://oracle.test/base',
    explorerUrl: 'https://explorer.test',
    viewFor: (caller: typeof PUBLIC_CALLER) => ({ caller, policy: 'resolution', now, saltSecret }),
    now: () => now,
  } as unknown as Services;
  const log = createLog({ level: 'silent', secrets: [] });
  served = await serveApp(
    createApp(feedRoutes(deps), {
      log,
      identify: async () => PUBLIC_CALLER,
      reusesAnswers: true,
      readState: () => `${record.known.revision} ${now.getTime()}`,
    }),
  );
});
afterAll(async () => {
  await served?.close();
  await database?.drop();
});

/** Of 7 days, with its attestations at their times; the outcomes of windows that ended before today are on chain. */
function buildDoc(day: number): ForecastDoc {
  const date = formatDay(day);
  const { opensAtMs, resolvesAtMs } = getOutcomeWindow(day, 7);
  const isOver = resolvesAtMs < now.getTime();
  const state = day === SPECIAL.wrong ? 'LOSS' : day === SPECIAL.hold ? 'HOLD' : 'WIN';
  const doc = isOver ? buildTestForecast({ date, state, actual: state === 'LOSS' ? 'DOWN' : 'UP' }) : buildTestForecast({ date });
  const at = (ms: number) => ({ ...buildTestForecast().attestation!, at: new Date(ms) });
  const attestation = at(opensAtMs - 142 * 60_000);
  if (day === SPECIAL.missed || day === SPECIAL.void) {
    const none = day === SPECIAL.missed ? { missed: true, values: null, regime: null } : {};
    return { ...buildTestForecast({ date, state: 'VOID' }), ...none, attestation: at(opensAtMs + 60_000) };
  }
  return { ...doc, attestation, reveal: isOver ? at(resolvesAtMs + 300_000) : null };
}

const read = (name: string, headers: Record<string, string> = {}) => fetch(`${served.url}/api/svc/open/${name}`, { headers });
const text = async (name: string) => (await read(name)).text();

/** The texts of an element, in order. */
const elements = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<${name}[^>]*>([^<]*)</${name}>`, 'g'))].map(([, inner]) => inner!);

describe('the Atom feed', () => {
  it('has the 50 newest commitments and outcomes, newest first, under ids of day and kind', async () => {
    const response = await read('feed.atom');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/atom+xml; charset=utf-8']);
    const entries = (await response.text()).split('<entry>').slice(1);
    expect(entries).toHaveLength(50);
    const [outcome, newest] = entries;
    expect(elements(outcome!, 'id')).toEqual(['tag:oracle.test,2026-03-02:7d/resolved']);
    expect(elements(newest!, 'id')).toEqual(['tag:oracle.test,2026-03-09:7d/committed']);
    expect(elements(newest!, 'title')).toEqual(['Forecast of 2026-03-09 (7d): USUAL move, committed']);
    expect(elements(newest!, 'summary')[0]).toMatch(
      /^Size of the move: USUAL; P\(move beyond 5 %\) 47 %\. Direction committed, no proven skill\. The 7d/,
    );
    expect(newest).toContain('href="https://oracle.test/base/f/2026-03-09/7d"');
    expect(newest).toContain('href="https://oracle.test/base/api/svc/onchain-oracle/verify/0x');
    const updated = entries.flatMap((entry) => elements(entry, 'updated'));
    expect(updated).toEqual([...updated].sort().reverse());
    expect(new Set(entries.flatMap((entry) => elements(entry, 'id'))).size).toBe(50);
    expect(entries.flatMap((entry) => elements(entry, 'title'))).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Forecast of 2026-02-18 \(7d\) wrong: BTC moved /),
        expect.stringMatching(/^Forecast of 2026-02-23 \(7d\) resolved \(HOLD\): BTC moved /),
        'Forecast of 2026-02-26 (7d) void',
        'No forecast of 2026-02-27 (7d)',
      ]),
    );
  });

  it('names no value of a forecast in its commitment, and all in its outcome', async () => {
    const entries = (await text('feed.atom')).split('<entry>').slice(1);
    const [committed, resolved] = ['committed', 'resolved'].map((kind) => entries.filter((entry) => entry.includes(`term="${kind}"`)));
    expect(committed!.length + resolved!.length).toBe(50);
    for (const entry of committed!) expect(entry).not.toMatch(/\bUP\b|\bDOWN\b|\bBUY\b|\bSELL\b|58[.,]8/);
    for (const entry of resolved!) expect(entry).toMatch(/It said (BUY|HOLD), UP with P\(up\) 58\.8/);
  });

  it('is answered with 304 and in the coding that was asked for, until the record changes', async () => {
    const first = await read('feed.atom', { 'accept-encoding': 'br' });
    const etag = first.headers.get('etag')!;
    expect([first.headers.get('content-encoding'), etag]).toEqual(['br', expect.stringMatching(/^"/)]);
    expect((await read('feed.atom', { 'if-none-match': etag })).status).toBe(304);
    const committed = buildDoc(TODAY);
    await record.forecasts.insertOne(committed);
    expect((await read('feed.atom', { 'if-none-match': etag })).status).toBe(304);
    await record.known.load();
    await expect.poll(async () => (await read('feed.atom', { 'if-none-match': etag })).status).toBe(200);
    const changed = await read('feed.atom', { 'if-none-match': etag });
    expect(elements(await changed.text(), 'id')[1]).toEqual('tag:oracle.test,2026-03-10:7d/committed');
    await record.forecasts.deleteOne({ _id: committed._id });
    await record.known.load();
  });
});

/** Properties of each event, unfolded. */
function eventsOf(calendar: string): Map<string, Record<string, string>> {
  const lines = calendar.replaceAll('\r\n ', '').split('\r\n');
  const events = lines.join('\n').split('BEGIN:VEVENT\n').slice(1);
  return new Map(
    events.map((event) => {
      const properties = event.split('\n').map((line) => line.split(/:(.*)/s).slice(0, 2) as [string, string]);
      const own = Object.fromEntries(properties);
      return [own.UID!, own] as const;
    }),
  );
}

const uidOf = (day: number, what: string) => `${formatDay(day)}-7d-${what}@oracle.test`;

describe('the calendar', () => {
  it('has the windows of the last 30 and the coming 7 days, each under its id', async () => {
    const response = await read('calendar.ics');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/calendar; charset=utf-8']);
    const events = eventsOf(await response.text());
    expect(events.size).toBe(2 * (30 + 1 + 7));
    expect(events.get(uidOf(TODAY - 1, 'opens'))).toMatchObject({
      DTSTART: '20260310T000000Z',
      DTSTAMP: '20260309T213800Z',
      STATUS: 'CONFIRMED',
      URL: 'https://oracle.test/base/f/2026-03-09/7d',
    });
    expect(events.get(uidOf(TODAY + 7, 'ends'))).toMatchObject({
      DTSTART: '20260325T000000Z',
      DTSTAMP: '20260310T000000Z',
      STATUS: 'TENTATIVE',
    });
    expect(events.has(uidOf(TODAY - 31, 'ends'))).toBe(false);
  });

  it('has results once they are on chain, and no value before', async () => {
    const events = eventsOf(await text('calendar.ics'));
    const summaryOf = (day: number) => events.get(uidOf(day, 'ends'))!.SUMMARY;
    expect(summaryOf(SPECIAL.wrong)).toMatch(/^BTC\/USD forecast of 2026-02-18 \(7d\): wrong\\, BTC /);
    expect(summaryOf(SPECIAL.hold)).toMatch(/: HOLD\\, BTC /);
    expect([summaryOf(SPECIAL.void), summaryOf(SPECIAL.missed)]).toEqual([
      'BTC/USD forecast of 2026-02-26 (7d): void',
      'BTC/USD forecast of 2026-02-27 (7d): missed',
    ]);
    for (let day = TODAY - 7; day <= TODAY + 7; day++) {
      expect(JSON.stringify([events.get(uidOf(day, 'opens')), events.get(uidOf(day, 'ends'))])).not.toMatch(
        /\bUP\b|BUY|58[.,]8|right|wrong/,
      );
    }
  });

  it('has lines of at most 75 octets that end with CRLF, and is the same until the record or the day changes', async () => {
    const before = await read('calendar.ics');
    const lines = (await before.text()).split('\r\n');
    expect(lines.pop()).toBe('');
    expect(lines.every((line) => Buffer.byteLength(line) <= 75 && !/[\r\n]/.test(line))).toBe(true);
    expect(lines).toEqual(expect.arrayContaining(['VERSION:2.0', 'REFRESH-INTERVAL;VALUE=DURATION:PT6H']));
    const headers = { 'if-none-match': before.headers.get('etag')! };
    now = new Date('2026-03-10T23:59:59Z');
    expect((await read('calendar.ics', headers)).status).toBe(304);
    now = new Date('2026-03-11T00:00:00Z');
    await expect.poll(async () => (await read('calendar.ics', headers)).status).toBe(200);
    const next = eventsOf(await (await read('calendar.ics', headers)).text());
    expect([next.has(uidOf(TODAY + 8, 'ends')), next.has(uidOf(TODAY, 'ends'))]).toEqual([true, false]);
  });
});
