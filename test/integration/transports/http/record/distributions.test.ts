import { afterAll, beforeAll, expect, it } from 'vitest';
import { HORIZONS } from '../../../../../src/forecast/model.ts';
import type { DistributionsReply } from '../../../../../src/record/schemas/forecast.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../../../../support/service/service.ts';

const DAYS = 10;

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

const ask = (query: string) => fetch(`${served.url}/api/svc/distributions?${query}`);
const read = async (query: string) => (await (await ask(query)).json()) as DistributionsReply;

it('pages all resolved forecasts of a horizon, newest first', async () => {
  for (const horizonDays of HORIZONS) {
    const all: DistributionsReply['data'] = [];
    let next: string | null = '';
    while (next !== null) {
      const page: DistributionsReply = await read(`horizon=${horizonDays}&limit=4${next === '' ? '' : `&before=${next}`}`);
      expect(page.count).toBe(page.data.length);
      all.push(...page.data);
      next = page.nextCursor;
    }
    const resolved = await service.pipeline.record.forecasts
      .find({ horizonDays, reveal: { $ne: null } })
      .sort({ sequence: -1 })
      .toArray();
    expect(all.map(({ predictionId, resolutionUid }) => [predictionId, resolutionUid])).toEqual(
      resolved.map(({ _id, reveal }) => [_id, reveal!.uid]),
    );
    expect(resolved.length).toBe(DAYS - horizonDays);
  }
});

it('has openings, scores and comparison of each version', async () => {
  const [newest] = (await read('horizon=1d&limit=1')).data;
  expect(newest!.openings.map(({ name, role }) => [name, role])).toEqual([
    ['m0-d1', 'champion'],
    ['m1', 'challenger'],
  ]);
  expect(newest!.scores.map(({ name, modelVersion }) => [name, modelVersion])).toEqual(
    newest!.openings.map(({ name, modelVersion }) => [name, modelVersion]),
  );
  expect(newest).toMatchObject({ missing: [], comparisons: [{ challenger: 'm1', against: 'm0-d1' }] });
  expect(JSON.parse(newest!.metadata)).toMatchObject({ date: newest!.date });
});

it('names the next page in the header Link, and none on the last page', async () => {
  const first = await ask('horizon=2&limit=5');
  const { nextCursor } = (await first.json()) as DistributionsReply;
  expect(first.headers.get('link')).toContain(`/api/svc/distributions?horizon=2&limit=5&before=${nextCursor}>; rel="next"`);
  expect((await ask('horizon=2&limit=100')).headers.get('link')).toBeNull();
});

it('returns 400 for a page that is too large', async () => {
  expect((await ask('limit=101')).status).toBe(400);
});

it('lists a day before distributions were committed without openings', async () => {
  const { days } = service.pipeline.record;
  const { day } = (await days.findOne({}, { sort: { day: 1 } }))!;
  const kept = await days.findOne({ day });
  await service.database.db.collection<{ _id: string }>('distribution_scores').deleteOne({ _id: `${kept!._id}:3d` });
  await days.updateOne({ day }, { $unset: { models: '', distributions: '' } });
  const oldest = (await read('horizon=3&limit=100')).data.at(-1);
  await days.replaceOne({ day }, kept!);
  expect(oldest).toMatchObject({ date: kept!._id, openings: [], missing: [], scores: [], comparisons: [], realised: null });
});
