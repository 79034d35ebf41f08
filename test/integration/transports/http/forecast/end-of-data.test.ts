import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toInstantMs } from '../../../../../src/forecast/day.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import type { Services } from '../../../../../src/http/services.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { call } from '../../../../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../../../../support/service/service.ts';

const DAYS = 2;
const TODAY = today();
const NEWEST = TODAY - 1;
const PREMIUM = { tier: 'premium', wallet: `0x${'a'.repeat(40)}` } as const;

let service: TestService;

beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = TODAY - DAYS; day < TODAY; day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  // A HOLD has no intent.
  const recast = { 'values.signal': 'BUY', 'values.direction': 'UP' } as const;
  await service.pipeline.record.forecasts.updateOne({ day: NEWEST, horizonDays: 7 }, { $set: recast });
});
afterAll(() => service?.stop());

/** An answer at noon after the newest forecast, with market data as far as a day. */
async function ask(path: string, lastDay: number | null) {
  const market = { ...service.http.market, coverage: async () => ({ firstDay: 0, lastDay }) };
  const deps: Services = { ...service.http, market, now: () => new Date(toInstantMs(TODAY, 12)) };
  const route = allRoutes(deps).find((one) => one.path === path)!;
  const { body } = await call(route, { query: { horizon: 7 }, caller: PREMIUM });
  expect(undocumented(route.reply!, JSON.parse(JSON.stringify(body)))).toEqual([]);
  return body;
}

describe('the time of the next event', () => {
  const due = new Date(toInstantMs(TODAY, 21, 35)).toISOString();

  it.each([
    ['/api/svc/oracle', 'nextSignalAt'],
    ['/api/svc/oracle/premium', 'nextSignalAt'],
    ['/api/svc/copy-trade/status', 'nextSignalAt'],
    ['/api/svc/copy-trade/next', 'nextSignalAt'],
    ['/api/svc/regime', 'nextEvaluationAt'],
  ])('%s is limited by the end of the market data', async (path, field) => {
    expect(await ask(path, null)).toHaveProperty(field, due);
    expect(await ask(path, TODAY)).toHaveProperty(field, due);
    expect(await ask(path, NEWEST)).toHaveProperty(field, null);
  });

  it('is limited for the regime in the premium signal too', async () => {
    expect((await ask('/api/svc/oracle/premium', TODAY)).regimeDetail.nextEvaluationAt).toBe(due);
    expect((await ask('/api/svc/oracle/premium', NEWEST)).regimeDetail.nextEvaluationAt).toBeNull();
  });
});
