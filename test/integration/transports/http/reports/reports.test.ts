import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Day, formatDay, formatWeek, toDay, toInstantMs, toWeek } from '../../../../../src/forecast/day.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { WIDGET_SIZES } from '../../../../../src/page/widget.ts';
import { catchUp } from '../../../../../src/pipeline/pipeline.ts';
import type { ForecastDoc } from '../../../../../src/record/forecast-doc.ts';
import { asTier } from '../../../../support/auth/login.ts';
import { contextAt } from '../../../../support/clock/trusted-time.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { runPastDay, type TestService, testService } from '../../../../support/service/service.ts';

const DAYS = 17;
const OURS = ['getDailyBrief', 'getLatestWeeklyReport', 'listWeeklyReports', 'getCrowdVsOracle', 'getCrowdAccuracy', 'getWidget'];
let service: TestService;
let served: Served;
let end: Day;

beforeAll(async () => {
  service = await testService(DAYS);
  served = await serve(service);
  end = toDay(Date.now());
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

interface Week {
  weekId: string;
  date: string;
  gated: boolean;
  status: string;
}

const ask = (path: string, headers: Record<string, string> = {}) => fetch(`${served.url}${path}`, { headers });

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
async function get(path: string, headers: Record<string, string> = {}): Promise<any> {
  const response = await ask(path, headers);
  expect(response.status, path).toBe(200);
  return response.json();
}

describe('before the first day', () => {
  it.each(['/api/svc/daily-brief', '/api/claw/latest', '/api/svc/widget', '/api/svc/widget?format=html'])(
    '%s states when the first result is due',
    async (path) => {
      const response = await ask(path);
      expect(response.status).toBe(503);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await response.json()).toMatchObject({
        code: 'STEP_WAITING',
        retryable: true,
        suggestedAction: expect.stringContaining('UTC'),
      });
    },
  );

  it('the crowd comparison has no figures and makes no claim', async () => {
    expect(await get('/api/svc/crowd-vs-oracle')).toMatchObject({
      weeks: [],
      totals: { weeks: 0, brierDifference: null, verdict: expect.stringContaining('no claim') },
    });
    expect(await get('/api/svc/crowd-accuracy')).toMatchObject({ markets: 0, brier: null, hitRate: null, byVenue: [] });
    expect(await get('/api/claw/archive')).toEqual({ success: true, weeks: [], count: 0 });
  });
});

describe('with a record', () => {
  beforeAll(async () => {
    for (let day = end - DAYS; day < end; day++) await runPastDay(service, day);
    await service.infrastructure.localChain!.followWallClock();
    await catchUp(service.pipeline, contextAt(toInstantMs(end, 3)));
  });

  describe('the daily brief', () => {
    it('is JSON by default, with the same content as text and Markdown', async () => {
      const brief = await get('/api/svc/daily-brief');
      expect(brief).toMatchObject({ success: true, date: formatDay(end), late: false, source: 'simulated (seed 2)', replayedDays: DAYS });
      for (const type of ['text/plain', 'text/markdown']) {
        const response = await ask('/api/svc/daily-brief', { Accept: `${type}, application/json;q=0.5` });
        expect(response.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
        const text = await response.text();
        for (const { verdict } of brief.scorecard) expect(text).toContain(verdict);
        for (const { predictionId } of [...brief.open, ...brief.resolved]) expect(text).toContain(predictionId);
      }
    });

    it('covers 7 days by default, and other horizons on request', async () => {
      for (const [query, horizons] of [
        ['', ['7d']],
        ['?horizon=2', ['2d']],
        ['?horizons=all', ['1d', '2d', '3d', '7d']],
      ] as const) {
        const { scorecard, open, resolved, next } = await get(`/api/svc/daily-brief${query}`);
        const named = (rows: { horizon: string }[]) => [...new Set(rows.map(({ horizon }) => horizon))].toSorted();
        expect(named(scorecard)).toEqual(horizons);
        expect(named(open)).toEqual(horizons);
        for (const horizon of named(resolved)) expect(horizons).toContain(horizon);
        const earliest = open.map(({ resolvesAt }: { resolvesAt: string }) => resolvesAt).toSorted()[0];
        expect(next.find(({ event }: { event: string }) => event === 'resolution').at).toBe(earliest);
        const text = await (await ask(`/api/svc/daily-brief${query}`, { Accept: 'text/plain' })).text();
        expect(text.includes(':1d')).toBe(query === '?horizons=all');
      }
    });

    it('has Vary and an ETag per media type', async () => {
      const [json, text] = await Promise.all([ask('/api/svc/daily-brief'), ask('/api/svc/daily-brief', { Accept: 'text/plain' })]);
      for (const response of [json, text]) {
        expect(response.headers.get('vary')).toMatch(/Authorization/);
        expect(response.headers.get('vary')).toMatch(/Accept(,|$)/);
      }
      const tag = json.headers.get('etag')!;
      expect(tag).not.toBe(text.headers.get('etag'));
      expect((await ask('/api/svc/daily-brief', { 'If-None-Match': tag })).status).toBe(304);
      expect((await ask('/api/svc/daily-brief', { Accept: 'text/plain', 'If-None-Match': tag })).status).toBe(200);
    });

    it('of another day is found by date, or returns 404', async () => {
      expect((await get(`/api/svc/daily-brief?date=${formatDay(end)}`)).date).toBe(formatDay(end));
      const missing = await ask(`/api/svc/daily-brief?date=${formatDay(end - 300)}`);
      expect(missing.status).toBe(404);
      expect(await missing.json()).toMatchObject({ code: 'NOT_FOUND', field: 'date' });
    });
  });

  describe('weekly reports', () => {
    it('are listed and found by week; the latest is the newest', async () => {
      const { weeks, count } = await get('/api/claw/archive');
      expect(count).toBe(weeks.length);
      expect(weeks.at(-1)).toBe(formatWeek(toWeek(end - DAYS)));
      expect(weeks).toEqual(weeks.toSorted().reverse());
      for (const week of weeks) expect(await get(`/api/claw/archive/${week}`)).toMatchObject({ weekId: week, replayed: true });
      expect(await get('/api/claw/latest')).toEqual(await get(`/api/claw/archive/${weeks[0]}`));
    });

    it('of an incomplete week, or before the record, return 404', async () => {
      for (const day of [end, end + 70, end - 700]) {
        const response = await ask(`/api/claw/archive/${formatWeek(toWeek(day))}`);
        expect(response.status).toBe(404);
        expect(await response.json()).toMatchObject({ code: 'NOT_FOUND', field: 'weekId' });
      }
    });
  });

  describe('crowd against oracle', () => {
    it('compares one strike per week, scored once the day is public', async () => {
      const { weeks, totals, throughDate, quotesAreOurs, notes } = await get('/api/svc/crowd-vs-oracle');
      expect(quotesAreOurs).toBe(true);
      expect(notes[0]).toContain('no real crowd');
      expect(throughDate).toBe(formatDay(end - 8));
      expect(new Set(weeks.map(({ weekId }: { weekId: string }) => weekId)).size).toBe(weeks.length);
      for (const week of weeks) {
        const gated = week.date > throughDate;
        expect(week.gated).toBe(gated);
        expect(week.oracleProbability === null).toBe(gated);
        if (gated) expect(week).toMatchObject({ winner: null, oracle: null, closer: null, status: 'PENDING' });
      }
      const settled = weeks.filter(({ status }: { status: string }) => status === 'SETTLED');
      expect(settled.length).toBeGreaterThan(0);
      expect(totals.weeks).toBe(settled.length);
    });

    it('has the 7-day forecast of the day in the view of the caller', async () => {
      const seen = async (headers = {}) => (await get('/api/svc/crowd-vs-oracle', headers)).weeks;
      const [everybody, basic] = [await seen(), await seen(await asTier(service, 'basic'))];
      for (const [index, { date, predictionId, signal, direction }] of everybody.entries()) {
        expect(predictionId).toBe(`${date}:7d`);
        const [doc] = await service.pipeline.record.listByIds([predictionId]);
        const revealed = { signal: doc.values!.signal, direction: doc.values!.direction };
        expect({ signal, direction }).toEqual(doc.reveal === null ? { signal: 'GATED', direction: null } : revealed);
        expect(basic[index]).toMatchObject({ predictionId, ...revealed });
      }
      expect(new Set(everybody.map(({ signal }: { signal: string }) => signal === 'GATED'))).toEqual(new Set([true, false]));
    });

    it('shows Basic callers the oracle side of every week, uncached', async () => {
      const headers = await asTier(service, 'basic');
      const response = await ask('/api/svc/crowd-vs-oracle', headers);
      expect(response.headers.get('cache-control')).toBe('private, no-store');
      const { weeks, throughDate } = (await response.json()) as {
        weeks: { gated: boolean; oracleProbability: number | null }[];
        throughDate: null;
      };
      expect(throughDate).toBeNull();
      for (const week of weeks) expect(week).toMatchObject({ gated: false, oracleProbability: expect.any(Number) });
    });

    it('has the pinned order book', async () => {
      const { weeks } = await get('/api/svc/crowd-vs-oracle');
      for (const { marketProbability, book } of weeks) {
        expect(book).toMatchObject({ fee: 0.01, bids: [], asks: [] });
        expect((book.bid + book.ask) / 2).toBeCloseTo(marketProbability, 9);
      }
    });

    it('lists disagreements publicly once the week is public, and earlier to Basic callers', async () => {
      const { wagers } = service.pipeline.wagers;
      const { weeks } = await get('/api/svc/crowd-vs-oracle');
      const [gated, settled] = [(week: Week) => week.gated, (week: Week) => week.status === 'SETTLED'].map(weeks.find, weeks) as Week[];
      const docs = await wagers.find({ _id: { $in: [gated.date, settled.date] } }).toArray();
      for (const { _id, qMarket } of docs) await wagers.updateOne({ _id }, { $set: { pModel: qMarket! > 0.5 ? 0.02 : 0.98 } });
      const everybody = await get('/api/svc/crowd-vs-oracle');
      const basic = await get('/api/svc/crowd-vs-oracle', await asTier(service, 'basic'));
      for (const doc of docs) await wagers.replaceOne({ _id: doc._id }, doc);
      const weekIds = ({ disagreements }: { disagreements: Week[] }) => disagreements.map(({ weekId }) => weekId);
      expect(weekIds(everybody)).toContain(settled.weekId);
      expect(weekIds(everybody)).not.toContain(gated.weekId);
      expect(weekIds(basic)).toEqual(expect.arrayContaining([settled.weekId, gated.weekId]));
      for (const { weeks: revealed, disagreements, disagreementTotals } of [everybody, basic]) {
        expect(disagreementTotals.disagreements).toBe(disagreements.length);
        const byId = new Map(revealed.map((week: Week) => [week.weekId, week]));
        for (const { weekId, oracleProbability } of disagreements)
          expect(byId.get(weekId)).toMatchObject({ gated: false, oracleProbability });
      }
    });

    it('counts the crowd through the public day, by settled markets and not stakes', async () => {
      const accuracy = await get('/api/svc/crowd-accuracy');
      const revealed = await service.pipeline.wagers.wagers.find({ winner: { $ne: null }, day: { $lte: end - 8 } }).toArray();
      expect(accuracy.markets).toBe(new Set(revealed.map(({ market }) => market!.id)).size);
      expect(accuracy.byVenue).toEqual([expect.objectContaining({ venue: 'paper', quotesAreOurs: true, markets: accuracy.markets })]);
      expect(accuracy.reliability.reduce((sum: number, { n }: { n: number }) => sum + n, 0)).toBe(accuracy.markets);
    });
  });

  describe('the widget', () => {
    it('has signal and confidence only', async () => {
      expect(await get('/api/svc/widget?horizon=3d')).toEqual({ signal: 'GATED', confidence: null });
    });

    it('shows a Basic caller the values, also as a card', async () => {
      const headers = await asTier(service, 'basic');
      const { signal, confidence } = await get('/api/svc/widget', headers);
      expect(['BUY', 'SELL', 'HOLD']).toContain(signal);
      const card = await ask('/api/svc/widget?format=html', headers);
      expect(card.headers.get('cache-control')).toBe('private, no-store');
      expect(await card.text()).toContain(`<strong>${signal}</strong> ${(100 * confidence).toFixed(1)} % confident`);
    });

    it.each([
      ['?format=html', '*/*'],
      ['', 'text/html,application/xhtml+xml,*/*;q=0.8'],
    ])('is a card that any site may frame: %s %s', async (query, accept) => {
      const response = await ask(`/api/svc/widget${query}`, { Accept: accept });
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('x-frame-options')).toBeNull();
      expect(response.headers.get('content-security-policy')).toContain('frame-ancestors *');
      expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
      const html = await response.text();
      for (const text of [
        'GATED',
        'Simulated market.',
        'Replayed forecast.',
        'Replayed days in the record.',
        `${service.http.publicUrl}/?horizon=7`,
      ])
        expect(html).toContain(text);
      expect(html).not.toContain('<script');
    });

    it('has the ranges of all horizons when large', async () => {
      const html = await (await ask('/api/svc/widget?format=html&size=large&horizon=2d&theme=dark')).text();
      expect(html).toContain('data-theme="dark"');
      for (const days of [1, 2, 3, 7]) {
        const [, { low, high }] = (await get(`/api/svc/open/range?horizon=${days}d`)).ranges;
        const [from, to] = [low, high].map((price) => Math.round(price).toLocaleString('en-US'));
        expect(html).toContain(`${days}d ${from} to ${to}`);
      }
    });

    it('is JSON on request, overriding Accept', async () => {
      const response = await ask('/api/svc/widget?format=json', { Accept: 'text/html' });
      expect(response.headers.get('content-type')).toContain('application/json');
    });
  });

  it.each([
    ['/api/svc/widget?size=huge', 'size'],
    ['/api/svc/daily-brief?date=2026-02-30', 'date'],
    ['/api/svc/daily-brief?date=', 'date'],
    ['/api/svc/daily-brief?date=2026-01-01&date=2026-01-02', 'date'],
    ['/api/claw/archive/2026-W54', 'weekId'],
    ['/api/claw/archive/2026-W00', 'weekId'],
    ['/api/claw/archive/2025-W53', 'weekId'],
    ['/api/claw/archive/2026-47', 'weekId'],
    ['/api/claw/archive/latest', 'weekId'],
    ['/api/svc/widget?horizon=4d', 'horizon'],
    ['/api/svc/widget?format=xml', 'format'],
    ['/api/svc/widget?theme=pink', 'theme'],
  ])('%s returns an error that names %s', async (path, field) => {
    const response = await ask(path);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INPUT_INVALID', field });
  });

  describe('a late resolution', () => {
    /** One forecast of a day long over loses its reveal, as if its close had never been agreed on. */
    async function unrevealed(work: (doc: ForecastDoc) => Promise<void>): Promise<void> {
      const { forecasts } = service.pipeline.record;
      const doc = (await forecasts.findOne({ day: end - 12, horizonDays: 2 }))!;
      await forecasts.updateOne({ _id: doc._id }, { $set: { state: 'PENDING', reveal: null } });
      try {
        await work(doc);
      } finally {
        await forecasts.replaceOne({ _id: doc._id }, doc);
      }
    }

    it('hides every wager figure of its day and later days', async () => {
      const { wagers } = service.pipeline;
      const day = end - 10;
      const before = (await wagers.findByDay(day))!;
      await unrevealed(async () => {
        const figures = async () => ({
          ours: (await Promise.all(['/api/svc/crowd-vs-oracle', '/api/svc/crowd-accuracy'].map((path) => get(path)))).map(
            ({ timestamp: _, ...rest }) => rest,
          ),
          scorecard: (await get('/api/svc/scorecard')).predictionMarket,
          skill: (await get('/api/svc/scorecard')).marketSkill,
          status: (await get('/api/status')).record.wagers,
        });
        const revealed = await figures();
        expect(revealed.scorecard.throughDate).toBe(formatDay(end - 13));
        // Whatever the model said and however the wager went, the answers are the same.
        await wagers.wagers.updateOne(
          { _id: before._id },
          { $set: { pModel: 0.99, state: 'WIN', side: 'YES', winner: 'YES', contracts: 5 } },
        );
        expect(await figures()).toEqual(revealed);
        await wagers.wagers.replaceOne({ _id: before._id }, before);
      });
    });

    it('keeps an outcome from being reported to the registry', async () => {
      const { wagers, record } = service.pipeline;
      await unrevealed(async () => {
        expect(record.known.getLastPublicDay(new Date(toInstantMs(end, 3)))).toBe(end - 13);
        expect(await wagers.listUnreported(record.known.getLastPublicDay(new Date(toInstantMs(end, 3))))).toEqual([]);
      });
      expect(record.known.getLastPublicDay(new Date(toInstantMs(end, 3)))).toBe(end - 8);
    });
  });

  /** Reports are kept: what they would say now shows once they are made again. */
  async function remadeReports(): Promise<void> {
    const { db } = service.database;
    for (const name of ['briefs', 'weekly_reports']) await db.collection(name).deleteMany({});
    await catchUp(service.pipeline, contextAt(toInstantMs(end, 3)));
  }

  it('responses do not depend on the values of unresolved forecasts', async () => {
    const { record, wagers } = service.pipeline;
    const paths = allRoutes(service.http)
      .filter(({ name }) => OURS.includes(name))
      .map(({ path }) => path);
    expect(paths).toHaveLength(OURS.length);
    const answers = async () => {
      await remadeReports();
      return Promise.all(
        [...paths, ...WIDGET_SIZES.map((size) => `/api/svc/widget?format=html&size=${size}`)].map(async (path) => {
          const response = await ask(path);
          return (await response.text()).replace(/"timestamp":"[^"]*"/, '');
        }),
      );
    };
    const open = await record.forecasts.find({ state: 'PENDING' }).toArray();
    const untold = await wagers.wagers.find({ day: { $gt: end - 8 } }).toArray();
    expect(open.length).toBeGreaterThan(10);
    const before = await answers();
    const flipped = {
      'values.direction': 'DOWN',
      'values.signal': 'SELL',
      'values.pUp': 0.111,
      'values.pUpBps': 1110,
      'values.confidence': 0.889,
      'values.confidenceBps': 8890,
    } as const;
    await record.forecasts.updateMany({ state: 'PENDING' }, { $set: flipped });
    await wagers.wagers.updateMany({ day: { $gt: end - 8 } }, { $set: { pModel: 0.0123, state: 'PLACED', side: 'NO', contracts: 9 } });
    const after = await answers();
    for (const doc of open) await record.forecasts.replaceOne({ _id: doc._id }, doc);
    for (const doc of untold) await wagers.wagers.replaceOne({ _id: doc._id }, doc);
    expect(after).toEqual(before);
    for (const answer of after) expect(answer).not.toMatch(/0\.0123|0\.889|0\.111/);
  });
});
