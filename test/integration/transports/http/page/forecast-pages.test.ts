import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PUBLIC_CALLER } from '../../../../../src/auth/caller.ts';
import { parseDay } from '../../../../../src/forecast/day.ts';
import { forecastPageRoutes } from '../../../../../src/http/routes/forecasts.ts';
import { pageFileRoutes } from '../../../../../src/http/routes/home.ts';
import { createApp } from '../../../../../src/http/server.ts';
import type { Services } from '../../../../../src/http/services.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import type { ForecastDoc } from '../../../../../src/record/forecast-doc.ts';
import { ForecastRecord, RECORD_INDEXES } from '../../../../../src/record/forecasts.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { type Served, serveApp } from '../../../../support/http/serve.ts';
import { buildTestForecast } from '../../../../unit/record/forecast-fixture.ts';

const NOW = new Date('2026-01-20T00:00:00Z');
const saltSecret = 'a master secret of a test';
const FIRST = '2026-01-01';
/** More than a page of the list. */
const LAST = '2026-02-28';

/** Days of the states, all of 7 days; the others are resolved. */
const DAYS = {
  right: '2026-01-02',
  wrong: '2026-01-03',
  hold: '2026-01-04',
  void: '2026-01-05',
  missed: '2026-01-06',
  committed: '2026-01-15',
  decided: '2026-01-16',
} as const;

let database: TestDatabase;
let record: ForecastRecord;
let served: Served;
let deps: Services;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, RECORD_INDEXES);
  record = new ForecastRecord({ db: database.db, saltSecret, horizons: [1, 2, 3, 7] });
  await fillRecord();
  deps = {
    record,
    about: { local: false },
    publicUrl: 'https://oracle.test',
    explorerUrl: 'https://explorer.test',
    market: { kind: 'live' },
    viewFor: (caller: typeof PUBLIC_CALLER) => ({ caller, policy: 'resolution', now: NOW, saltSecret }),
    now: () => NOW,
  } as unknown as Services;
  served = await servePages(deps);
});
afterAll(async () => {
  await served?.close();
  await database?.drop();
});

function servePages(of: Services): Promise<Served> {
  const log = createLog({ level: 'silent', secrets: [] });
  const routes = [...forecastPageRoutes(of), ...pageFileRoutes()];
  return serveApp(createApp(routes, { log, identify: async () => PUBLIC_CALLER }));
}

async function fillRecord(): Promise<void> {
  const docs: ForecastDoc[] = [
    buildTestForecast({ date: DAYS.right, state: 'WIN' }),
    buildTestForecast({ date: DAYS.wrong, state: 'LOSS', actual: 'DOWN' }),
    buildTestForecast({ date: DAYS.hold, state: 'HOLD' }),
    buildTestForecast({ date: DAYS.void, state: 'VOID' }),
    { ...buildTestForecast({ date: DAYS.missed, state: 'VOID' }), missed: true, values: null, regime: null },
    buildTestForecast({ date: DAYS.committed }),
    { ...buildTestForecast({ date: DAYS.decided, state: 'WIN' }), state: 'PENDING', reveal: null },
  ];
  for (let day = parseDay('2026-01-20'); day <= parseDay(LAST); day++) {
    const date = new Date(day * 86_400_000).toISOString().slice(0, 10);
    docs.push(
      buildTestForecast({ date, horizonDays: 1, state: 'WIN' }),
      buildTestForecast({ date, horizonDays: 2, state: 'LOSS', actual: 'DOWN' }),
    );
  }
  await record.forecasts.insertMany(docs);
  await database.db.collection('record_meta').insertOne({ _id: 'genesis' as never, day: parseDay(FIRST) });
  await record.days.insertMany([FIRST, LAST].map((date) => ({ _id: date, day: parseDay(date) }) as never));
  await record.known.load();
}

const read = (path: string, headers: Record<string, string> = { accept: 'text/html' }) => fetch(`${served.url}${path}`, { headers });
const text = async (path: string) => (await read(path)).text();

/** Values of a hidden forecast of the fixture, as text. */
const SECRETS = /\bUP\b|\bDOWN\b|\bBUY\b|\bSELL\b|\bHOLD\b|58[.,]8|41[.,]2|5876|4124|84[,.]?123|98[,.]?765|91[,.]?000/;

/** The list's filter offers both directions to choose. */
const withoutFilter = (html: string) => html.replace(/<form.*?<\/form>/s, '');

describe('page of a forecast', () => {
  it.each([true, false])('says that the chain is a local one when it is (%s), not where a chain has no known explorer', async (local) => {
    const other = await servePages({ ...deps, about: { ...deps.about, local }, explorerUrl: null });
    const html = await (await fetch(`${other.url}/f/${DAYS.right}/7d`)).text();
    await other.close();
    expect(html.includes('On the local chain of this demo')).toBe(local);
  });

  it.each(Object.entries({ right: 'Right', wrong: 'Wrong', hold: 'Hold', void: 'Void', missed: 'Missed', committed: 'Committed' }))(
    'names the state %s in heading, title and preview',
    async (state, label) => {
      const html = await text(`/f/${DAYS[state as keyof typeof DAYS]}/7d`);
      expect(html).toContain(`>${label}</strong>`);
      expect(html).toMatch(
        new RegExp(`property="og:title" content="7-day forecast of \\d Jan 2026: ${label}"`.replace('\\d', '\\d+'), 'i'),
      );
      expect(html).toContain('property="og:image" content="https://oracle.test/preview.png"');
    },
  );

  it.each(['committed', 'decided'] as const)('holds no value of a forecast that is %s, in page, head, list or CSV', async (state) => {
    const path = `/f/${DAYS[state]}/7d`;
    const replace = async (direction: 'UP' | 'DOWN') => {
      const { values, resolution } = buildTestForecast({ date: DAYS[state], direction, state: 'WIN', actual: direction });
      await record.forecasts.updateOne({ _id: `${DAYS[state]}:7d` }, { $set: { values, ...(state === 'decided' && { resolution }) } });
      await record.known.load();
    };
    const readAll = async () => {
      const list = withoutFilter(await text(`/f?from=${DAYS[state]}&to=${DAYS[state]}`));
      const csv = await text(`/f.csv?from=${DAYS[state]}&to=${DAYS[state]}`);
      return [await text(path), list, csv];
    };
    await replace('UP');
    const up = await readAll();
    await replace('DOWN');
    expect(await readAll()).toEqual(up);
    for (const answer of up) expect(answer).not.toMatch(SECRETS);
  });

  it('shows values, score and links to the explorer once revealed', async () => {
    const html = await text(`/f/${DAYS.right}/7d`);
    expect(html).toContain('BUY, UP');
    expect(html).toContain(`href="https://explorer.test/attestation/view/0x${'1'.repeat(64)}"`);
    expect(html).toContain('0.170, base rate 0.212');
    expect(html).toContain('Quantile 10 %');
  });

  it('answers an unchanged page with 304', async () => {
    const etag = (await read(`/f/${DAYS.right}/7d`)).headers.get('ETag') as string;
    expect((await read(`/f/${DAYS.right}/7d`, { accept: 'text/html', 'if-none-match': etag })).status).toBe(304);
  });

  it('answers a day without a forecast with 404, as a page for browsers', async () => {
    const page = await read('/f/2027-01-01/7d');
    expect([page.status, page.headers.get('Content-Type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('No such forecast');
    const problem = await read('/f/2027-01-01/7d', {});
    expect(problem.headers.get('Content-Type')).toContain('application/problem+json');
    expect(await problem.json()).toMatchObject({ status: 404, field: 'date' });
  });

  it.each([
    ['2026-99-99/7d', 'date'],
    [`${DAYS.right}/9d`, 'horizon'],
    ['%3Cscript%3E/7d', 'date'],
  ])('rejects %s with 400 that names %s', async (path, field) => {
    const problem = await read(`/f/${path}`);
    expect(problem.status).toBe(400);
    expect(await problem.json()).toMatchObject({ code: 'INPUT_INVALID', field });
  });
});

describe('list', () => {
  const dates = (html: string) => [...html.matchAll(/<th scope="row"><a href="f\/([^"]+)"/g)].map(([, path]) => path);

  it('filters by state', async () => {
    for (const state of ['right', 'wrong', 'hold', 'void', 'missed'] as const)
      expect(dates(await text(`/f?horizon=7&state=${state}&direction=&from=`))).toEqual([`${DAYS[state]}/7d`]);
    expect(dates(await text('/f?horizon=7&state=committed'))).toEqual([`${DAYS.decided}/7d`, `${DAYS.committed}/7d`]);
  });

  it('selects a direction among revealed forecasts alone', async () => {
    const all = [...dates(await text('/f?horizon=7&direction=UP')), ...dates(await text('/f?horizon=7&direction=DOWN'))];
    expect(all.toSorted()).toEqual([DAYS.right, DAYS.wrong, DAYS.hold].map((date) => `${date}/7d`));
  });

  it('pages through all forecasts of a filter once, newest first', async () => {
    const seen: string[] = [];
    let pages = 0;
    for (let path: string | undefined = 'f?regime=CHOP'; path !== undefined; pages++) {
      const html: string = await text(`/${path.replaceAll('&amp;', '&')}`);
      seen.push(...dates(html));
      path = /<a href="([^"]+)" rel="next">/.exec(html)?.[1];
    }
    expect(pages).toBe(2);
    const all = await record.forecasts.find({ regime: 'CHOP' }).toArray();
    expect(seen).toEqual(
      all
        .map(({ _id }) => _id.replace(':', '/'))
        .toSorted()
        .toReversed(),
    );
  });

  it('serves the same filter as CSV of fixed names and numbers', async () => {
    const response = await read('/f.csv?horizon=7');
    expect(response.headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
    const [header, ...lines] = (await response.text()).trim().split('\r\n');
    expect(header).toBe('date,horizon,state,signal,direction,p_up,open_usd,end_usd,return_bps,regime');
    expect(lines).toHaveLength(7);
    expect(lines).toContain(`${DAYS.right},7d,right,BUY,UP,0.5876,90000,91000,111,CHOP`);
    for (const cell of lines.flatMap((line) => line.split(','))) expect(cell).toMatch(/^(?:-?\d+(?:\.\d+)?|[\w-]*)$/);
  });

  it.each(['horizon=9', 'state=won', 'direction=up', 'regime=x', 'from=2026-13-01', 'before=x', 'before=2026-02-30:7d'])(
    'rejects %s',
    async (query) => {
      const response = await read(`/f?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ field: query.split('=')[0] });
    },
  );

  it('works without script: a form that may be submitted, and links', async () => {
    const response = await read('/f');
    expect(response.headers.get('Content-Security-Policy')).toContain("form-action 'self'");
    expect(await response.text()).toContain('<form class="list-filter" method="get" action="f"');
  });
});

it('has a PNG of 1200 by 630 pixels for link previews', async () => {
  const response = await read('/preview.png');
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(response.headers.get('Content-Type')).toBe('image/png');
  expect(bytes.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1_200, 630]);
  expect((await read('/preview.png', { 'If-None-Match': response.headers.get('ETag')! })).status).toBe(304);
});
