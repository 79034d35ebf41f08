import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatDay, parseDay } from '../../../../src/forecast/day.ts';
import { allRoutes } from '../../../../src/http/routes.ts';
import { createLiveContext } from '../../../../src/pipeline/forecaster.ts';
import { catchUpSelfTests } from '../../../../src/pipeline/pipeline.ts';
import { contextAt } from '../../../support/clock/trusted-time.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import { call } from '../../../support/http/serve.ts';
import { spawnNode, type TestService, testService } from '../../../support/service/service.ts';

const FIRST = parseDay('2022-01-01');
const DAYS = 400;
const LAST = FIRST + DAYS - 1;
let parent: string;
let feeds: string;
let service: TestService;

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'oracle-files-'));
  const folder = join(parent, 'prices');
  await mkdir(folder);
  const rows = Array.from({ length: DAYS }, (_, row) => `${formatDay(FIRST + row)},${(30_000 + 900 * Math.sin(row / 5) + row).toFixed(2)}`);
  await writeFile(join(folder, 'btc_daily.csv'), `date,close_median\n${rows.join('\n')}\n`);
  feeds = `csv:${folder}`;
  service = await testService(0, { FEEDS: feeds });
});
afterAll(async () => {
  await service?.stop();
  await removeFolder(parent);
});

const ask = async (path: string) => (await call(allRoutes(service.http).find((one) => one.path === path)!)).body;

it('tests ended files once, to their last day, with nothing due afterwards', async () => {
  const context = createLiveContext(service.pipeline, new Date());
  const reports = await catchUpSelfTests(service.pipeline, context);
  expect(reports.map(({ outcome }) => outcome)).toEqual([
    { done: 'ran polymarket-comparison, walk-forward' },
    { done: 'ran self-report, contamination, stability' },
  ]);
  expect(await catchUpSelfTests(service.pipeline, context)).toEqual([]);
  const common = { source: 'csv:prices', simulated: false, overdue: false, nextDueAt: null, lastDay: formatDay(LAST) };
  expect(await ask('/api/self-test/walk-forward')).toMatchObject({ ...common, date: formatDay(LAST + 1), report: { folds: 0 } });
  // 2023-02-04 is a Saturday: the tests of the following Sunday cover it.
  expect(formatDay(LAST)).toBe('2023-02-04');
  expect(await ask('/api/self-test/contamination')).toMatchObject({ ...common, report: { folds: 0, note: expect.any(String) } });
  expect(await ask('/api/self-test/stability')).toMatchObject({ ...common, result: null });
  expect(await ask('/api/self-test/polymarket-comparison')).toMatchObject({ report: { accuracy: { market: { markets: 0 } } } });
  expect(await ask('/api/self-test/status')).toMatchObject({
    overdue: [],
    selfReport: { verdict: 'the record had not begun: nothing was promised', date: '2023-02-05' },
  });
});

it('the command runs the same tests without a service', async () => {
  const environment = { FEEDS: feeds, DATA_DIR: join(parent, 'untouched') };
  const json = await spawnNode(['bin/self-test.mjs', 'walk-forward', 'stability', '--json'], environment).ended;
  const body = JSON.parse(json.output.slice(json.output.indexOf('{')));
  const { dataDigest, codeVersion } = await ask('/api/self-test/walk-forward');
  expect(json.code).toBe(0);
  expect(body.history).toMatchObject({ source: 'csv:prices', days: DAYS, lastDay: formatDay(LAST), dataDigest, codeVersion });
  expect(body.reports.map(({ name }: { name: string }) => name)).toEqual(['walk-forward', 'stability']);
  expect(body.reports[0].report).toEqual((await ask('/api/self-test/walk-forward')).report);

  const wrong = await spawnNode(['bin/self-test.mjs', 'everything'], environment).ended;
  expect(wrong).toMatchObject({ code: 2, output: expect.stringContaining('"everything" is none of all, walk-forward') });
});

it('tests corrected files with the same last day again at the next start', async () => {
  const first = await ask('/api/self-test/walk-forward');
  const { market } = service.pipeline;
  const corrected = {
    ...market,
    inputs: async (...asked: Parameters<typeof market.inputs>) => ({
      ...(await market.inputs(...asked)),
      digest: `0x${'c'.repeat(64)}` as const,
    }),
  };
  const restarted = (feed: typeof market) => {
    const startedAt = new Date(Date.parse(first.ranAt) + 1);
    return { ...service.pipeline, market: feed, selfTests: { ...service.pipeline.selfTests, startedAt } };
  };
  const context = contextAt(Date.parse(first.ranAt) + 60_000);
  expect(await catchUpSelfTests(restarted(market), context)).toEqual([]);
  expect(await catchUpSelfTests({ ...service.pipeline, market: corrected }, context)).toEqual([]);
  const reports = await catchUpSelfTests(restarted(corrected), context);
  expect(reports.map(({ outcome }) => outcome)).toEqual([{ done: 'ran walk-forward' }, { done: 'ran contamination, stability' }]);
  expect(await ask('/api/self-test/walk-forward')).toMatchObject({ dataDigest: `0x${'c'.repeat(64)}`, firstRanAt: first.firstRanAt });
});
