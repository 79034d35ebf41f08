import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { formatArchive } from '../../../../src/cli/commands/feeds/format-archive.ts';
import { readArchiveHealth, readArchiveReport } from '../../../../src/market/archive/archive-report.ts';
import { CALENDAR_KEY } from '../../../../src/market/archive/archive-series.ts';
import { ARCHIVE_INDEXES, type ArchiveDoc, ArchiveStore } from '../../../../src/market/archive/archive-store.ts';
import { openMarketArchive } from '../../../../src/market/archive/open-archive.ts';
import { parseProviderUrls } from '../../../../src/market/live/providers/provider-urls.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { testDatabase } from '../../../support/database/database.ts';
import { type HostAnswer, type HostRequest, type ProviderHost, startProviderHost } from '../../../support/market/provider-host.ts';
import { ARCHIVE_ANSWERS, type ArchivePath } from '../../../support/provider-data/archive.ts';
import { fomcPage } from '../../../support/provider-data/calendars.ts';
import { buildChain } from '../../../support/provider-data/option-chain.ts';

const DVOL = '/api/v2/public/get_volatility_index_data';
const CHAIN = '/api/v2/public/get_book_summary_by_currency';
const COINBASE = '/products/BTC-USD/candles';
const KRAKEN = '/0/public/OHLC';
const FED = '/monetarypolicy/fomccalendars.htm';
const BLS = '/schedule/news_release/bls.ics';

const TIMING = { minIntervalMs: 0, attempts: 1, halfOpenAfterMs: 1, failuresToOpen: 1_000 };

const database = await testDatabase();
afterAll(() => database.drop());

let nowMs: number;
let answers: Record<string, (request: HostRequest) => HostAnswer>;
let host: ProviderHost;
let lines: { msg: string; feed?: string; reason?: string }[];
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, ARCHIVE_INDEXES);
  answers = { ...ARCHIVE_ANSWERS };
  lines = [];
  host = await startProviderHost(
    (request) => answers[request.path]?.(request) ?? null,
    () => nowMs,
  );
  onTestFinished(() => host.close());
});

const at = (time: string) => Date.parse(`${time}Z`);

function openArchive(calendarFile: string | null = null) {
  return openMarketArchive({
    ...{ db: database.db, urls: parseProviderUrls(host.providerUrls), calendarFile },
    log: createLog({ level: 'info', secrets: [], write: (line) => lines.push(JSON.parse(line)) }),
    ...{ now: () => nowMs, signal: new AbortController().signal, timing: TIMING },
  });
}

async function collectAt(time: string): Promise<void> {
  nowMs = at(time);
  await openArchive().collect();
}

const docs = () => database.db.collection<ArchiveDoc>('market_archive').find().sort({ _id: 1 }).toArray();
const ids = async () => (await docs()).map(({ _id }) => _id);
const find = async (id: string) => (await docs()).find(({ _id }) => _id === id)!;
const health = async (series: string) => (await readArchiveHealth(database.db)).find((one) => one.series === series)!;
const respond = (path: ArchivePath, body: unknown) => {
  answers[path] = () => ({ body });
};
const FAILURE = 'feed failed: what is known of it stays';

describe('a collection', () => {
  it('stores each series of the day with its reception time', async () => {
    await collectAt('2026-03-10T21:35:20');
    expect(await ids()).toEqual([
      'bars-5m/coinbase/2026-03-10/1',
      'bars-5m/kraken/2026-03-10/1',
      'cpi/bls/calendar/1',
      'dvol/deribit/2026-03-10/1',
      'fomc/federal-reserve/calendar/1',
      'option-vols/deribit/2026-03-10/1',
    ]);
    for (const { receivedAt, masked } of await docs()) {
      expect(receivedAt.getTime()).toBe(nowMs);
      expect(masked).toEqual([]);
    }
    expect(await find('dvol/deribit/2026-03-10/1')).toMatchObject({
      values: { close: 40.6 },
      providerAt: new Date(at('2026-03-10T21:00')),
    });
    const { rows } = (await find('bars-5m/kraken/2026-03-10/1')).values as { rows: number[][] };
    expect(rows.length).toBe(288);
    expect([rows[0][0], rows[287][0]]).toEqual([at('2026-03-09T21:35'), at('2026-03-10T21:30')]);
    const { tenors } = (await find('option-vols/deribit/2026-03-10/1')).values as { tenors: { atm: number }[] };
    expect(tenors[3].atm).toBeCloseTo(0.5, 10);
    expect(lines).toEqual([]);
  });

  it('asks once a day, from 21:35 UTC on, whichever worker comes first', async () => {
    await collectAt('2026-03-10T21:35:00');
    const asked = host.requests('deribit').length;
    await Promise.all([collectAt('2026-03-10T21:36:00'), collectAt('2026-03-10T21:36:00')]);
    await collectAt('2026-03-11T21:34:59');
    expect(host.requests('deribit').length).toBe(asked);
    await collectAt('2026-03-11T21:35:00');
    expect(host.requests('deribit').length).toBe(asked + 2);
  });

  it('reads the days that an outage missed where the provider still has them', async () => {
    await collectAt('2026-03-10T21:35:00');
    await collectAt('2026-03-12T23:00:00');
    expect((await ids()).filter((id) => id.startsWith('dvol')).length).toBe(3);
    const stored = await ids();
    expect(stored).toContain('bars-5m/coinbase/2026-03-11/1');
    // The chain of 21:35 is gone.
    expect(stored.filter((id) => id.startsWith('option-vols'))).toEqual(['option-vols/deribit/2026-03-10/1']);
    const report = await readArchiveReport(database.db);
    expect(report.find(({ series }) => series === 'dvol')).toMatchObject({ first: '2026-03-10', last: '2026-03-12', count: 3, gaps: [] });
  });

  it('stores no option chain received more than a quarter of an hour late', async () => {
    await collectAt('2026-03-10T21:51:00');
    expect((await ids()).some((id) => id.startsWith('option-vols'))).toBe(false);
    expect(await health('option-vols')).toMatchObject({ failures: 0 });
  });
});

describe('a failure', () => {
  it('of one series leaves the others, is reported as health, and ends with the next success', async () => {
    answers[DVOL] = () => ({ status: 503, body: 'down' });
    await collectAt('2026-03-10T21:35:00');
    expect(await ids()).toHaveLength(5);
    expect(await health('dvol')).toMatchObject({ failures: 1, lastError: expect.stringContaining('503'), lastOkAt: null });
    expect(lines.filter(({ feed }) => feed !== undefined).map(({ feed, msg }) => [feed, msg])).toEqual([['archive:dvol', FAILURE]]);
    answers[DVOL] = ARCHIVE_ANSWERS[DVOL];
    await collectAt('2026-03-10T21:36:00');
    expect(await health('dvol')).toMatchObject({ failures: 0, lastError: null, lastOkAt: new Date(nowMs) });
    expect(await ids()).toHaveLength(6);
  });

  it('of one venue leaves the other, and is repaired by the next reading', async () => {
    answers[KRAKEN] = () => ({ body: { error: ['EService:Unavailable'] } });
    await collectAt('2026-03-10T21:35:00');
    expect((await ids()).filter((id) => id.startsWith('bars'))).toEqual(['bars-5m/coinbase/2026-03-10/1']);
    expect(await health('bars-5m')).toMatchObject({ failures: 1, lastError: expect.stringContaining('EService:Unavailable') });
    answers[KRAKEN] = ARCHIVE_ANSWERS[KRAKEN];
    await collectAt('2026-03-10T21:36:00');
    expect((await ids()).filter((id) => id.startsWith('bars'))).toEqual(['bars-5m/coinbase/2026-03-10/1', 'bars-5m/kraken/2026-03-10/1']);
  });

  it.each<[string, ArchivePath, unknown, string]>([
    ['an empty chain', CHAIN, { result: [] }, 'option-vols'],
    ['a chain of stale quotes', CHAIN, { result: buildChain(at('2026-03-10T20:00:00')) }, 'option-vols'],
    ['a chain of negative vols', CHAIN, { result: buildChain(at('2026-03-10T21:35:00'), { vol: () => -1 }) }, 'option-vols'],
    ['a chain in another shape', CHAIN, { data: [] }, 'option-vols'],
    ['no candle of 20:00', DVOL, { result: { data: [] } }, 'dvol'],
    ['candles of another hour', DVOL, { result: { data: [[at('2026-03-10T12:00:00'), 1, 1, 1, 1]] } }, 'dvol'],
    ['bars that end yesterday', COINBASE, [[at('2026-03-09T21:35:00') / 1_000, 99, 101, 100, 100, 1]], 'bars-5m'],
    ['no bars', COINBASE, [], 'bars-5m'],
    ['a calendar of the past', FED, fomcPage({ 2025: [['January', '28-29']] }), 'fomc'],
    ['a page that refuses', BLS, '<html>Access Denied</html>', 'cpi'],
  ])('for %s stores nothing of it', async (_, path, body, series) => {
    respond(path, body);
    await collectAt('2026-03-10T21:35:00');
    expect(await health(series)).toMatchObject({ failures: 1, lastError: expect.any(String) });
    const provider = series === 'bars-5m' ? 'bars-5m/coinbase' : series;
    expect((await ids()).filter((id) => id.startsWith(provider))).toEqual([]);
  });

  it('of a day that cannot be read any more leaves the newest', async () => {
    await collectAt('2026-03-10T21:35:00');
    answers[DVOL] = (request) => {
      const isGone = Number(request.query.get('start_timestamp')) === at('2026-03-11T20:00:00');
      return isGone ? { body: { result: { data: [] } } } : ARCHIVE_ANSWERS[DVOL](request);
    };
    await collectAt('2026-03-12T21:35:00');
    expect((await ids()).filter((id) => id.startsWith('dvol'))).toEqual(['dvol/deribit/2026-03-10/1', 'dvol/deribit/2026-03-12/1']);
    expect(await health('dvol')).toMatchObject({ failures: 1, lastError: expect.stringContaining('2026-03-11') });
  });

  it('of a slow provider ends with the process, without an error', async () => {
    host.fault('deribit', 'slow');
    nowMs = at('2026-03-10T21:35:00');
    // What the other providers have answered by then is still written, which must not be in the next test's database.
    const own = await testDatabase();
    onTestFinished(() => own.drop());
    await ensureIndexes(own.db, ARCHIVE_INDEXES);
    const stop = new AbortController();
    const archive = openMarketArchive({
      ...{ db: own.db, urls: parseProviderUrls(host.providerUrls), calendarFile: null, now: () => nowMs, signal: stop.signal },
      log: createLog({ level: 'silent', secrets: [] }),
      timing: TIMING,
    });
    const collecting = archive.collect();
    stop.abort(new Error('the process ends'));
    await expect(collecting).rejects.toThrow('the process ends');
  });
});

describe('bad values', () => {
  it('of DVOL are masked and reported', async () => {
    respond(DVOL, { result: { data: [[at('2026-03-10T20:00:00'), 40, 39, 41, -2]] } });
    await collectAt('2026-03-10T21:35:00');
    const { values, masked } = await find('dvol/deribit/2026-03-10/1');
    expect(values).toEqual({ open: null, high: null, low: null, close: null });
    expect(masked).toEqual([{ what: 'candle', reason: expect.stringContaining('not within') }]);
    const report = await readArchiveReport(database.db);
    expect(report.find(({ series }) => series === 'dvol')).toMatchObject({ masked: 1 });
  });

  it('of one venue are masked: a bad tick, and a high below its low', async () => {
    answers[COINBASE] = (request) => {
      const rows = ARCHIVE_ANSWERS[COINBASE](request).body;
      return {
        body: rows.map((row, index) =>
          index === 9 ? [row[0], 99, 500, 100, 100, 1] : index === 20 ? [row[0], 101, 99, 100, 100, 1] : row,
        ),
      };
    };
    await collectAt('2026-03-10T21:35:00');
    const { values, masked } = await find('bars-5m/coinbase/2026-03-10/1');
    expect((values as { rows: unknown[] }).rows).toHaveLength(286);
    expect(masked.map(({ reason }) => reason)).toEqual(['high is below low', expect.stringContaining('other venue')]);
    expect((await find('bars-5m/kraken/2026-03-10/1')).masked).toEqual([]);
  });

  it('of single quotes are masked and counted', async () => {
    const chain = buildChain(at('2026-03-10T21:35:00'));
    respond(CHAIN, { result: [{ ...chain[0], mark_iv: -4 }, { ...chain[1], bid_price: 1, ask_price: 0.5 }, ...chain.slice(2)] });
    await collectAt('2026-03-10T21:35:00');
    const { values, masked } = await find('option-vols/deribit/2026-03-10/1');
    expect(values).toMatchObject({ maskedQuotes: 2, quotes: chain.length - 2 });
    expect(masked).toHaveLength(2);
  });
});

describe('vintages', () => {
  it('of a calendar are kept, and found as of an instant', async () => {
    await collectAt('2026-03-10T21:35:00');
    await collectAt('2026-03-11T21:35:00');
    const moved = fomcPage({
      2026: [
        ['March', '17-18*'],
        ['May', '5-6'],
      ],
    });
    respond(FED, moved);
    await collectAt('2026-03-12T21:35:00');
    const stored = (await docs()).filter(({ series }) => series === 'fomc');
    expect(stored.map(({ vintage, lastSeenAt }) => [vintage, lastSeenAt.toISOString()])).toEqual([
      [1, '2026-03-11T21:35:00.000Z'],
      [2, '2026-03-12T21:35:00.000Z'],
    ]);
    const known = { series: 'fomc', provider: 'federal-reserve', key: CALENDAR_KEY } as const;
    const store = new ArchiveStore(database.db);
    expect(await store.findAsOf(known, new Date(at('2026-03-12T21:00:00')))).toMatchObject({ vintage: 1 });
    expect(await store.findAsOf(known, new Date(at('2026-03-12T22:00:00')))).toMatchObject({ vintage: 2 });
    expect(await store.findAsOf(known, new Date(at('2026-03-10T00:00:00')))).toBeNull();
    const report = await readArchiveReport(database.db);
    expect(report.find(({ series }) => series === 'fomc')).toMatchObject({
      count: 2,
      revisions: 1,
      first: '2026-03-10',
      last: '2026-03-12',
    });
  });

  it('are one for equal values of concurrent writers', async () => {
    const entry = {
      series: 'dvol',
      provider: 'deribit',
      key: '2026-03-10',
      values: { close: 1 },
      masked: [],
      receivedAtMs: 1,
      providerAtMs: null,
    } as const;
    const saved = await Promise.all(Array.from({ length: 8 }, () => new ArchiveStore(database.db).save(entry)));
    expect(saved.filter(Boolean)).toHaveLength(1);
    expect(await ids()).toEqual(['dvol/deribit/2026-03-10/1']);
  });
});

describe('the report', () => {
  it('lists gaps and what was never stored', async () => {
    await collectAt('2026-03-10T21:35:00');
    answers[CHAIN] = () => ({ status: 503, body: '' });
    await collectAt('2026-03-11T21:35:00');
    answers[CHAIN] = ARCHIVE_ANSWERS[CHAIN];
    await collectAt('2026-03-12T21:35:00');
    const report = await readArchiveReport(database.db);
    expect(report.find(({ series }) => series === 'option-vols')).toMatchObject({ count: 2, gaps: ['2026-03-11'] });
    const text = formatArchive(report, await readArchiveHealth(database.db));
    expect(text).toMatch(/^option-vols +deribit +2026-03-10 +2026-03-12 +2 +0 +1 +0$/m);
    expect(text).toContain('no option-vols of deribit: 2026-03-11');
    expect(text).toMatch(/^dvol \(.*\): collected 2026-03-12T21:35:00.000Z$/m);
  });

  it('is empty before the first collection', async () => {
    const report = await readArchiveReport(database.db);
    expect(report.every(({ count, first, gaps }) => count === 0 && first === null && gaps.length === 0)).toBe(true);
    expect(formatArchive(report, await readArchiveHealth(database.db))).toContain('collected never');
  });

  it('reads a calendar file in place of the public calendars', async () => {
    nowMs = at('2026-03-10T21:35:00');
    await openArchive('/nowhere/calendar.csv').collect();
    expect(await health('cpi')).toMatchObject({ failures: 1, lastError: expect.stringContaining('ENOENT') });
    expect(host.requests('bls')).toEqual([]);
    expect(host.requests('federal-reserve')).toEqual([]);
  });
});
