import { describe, expect, it } from 'vitest';
import { formatDay, parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { createSosovalueSource } from '../../../../src/market/sources/sosovalue.ts';
import { describeWithShared } from '../../../support/record/shared.ts';
import { readSample, withArrivalTime } from './recorded-answers.ts';
import { createAnsweringProvider, TODAY } from './test-providers.ts';

const range = { from: TODAY - 7, to: TODAY };
const row = (day: number, totalNetInflow: unknown) => ({ date: formatDay(day), totalNetInflow, cumNetInflow: 1 });
const body = (...list: unknown[]) => ({ code: 0, msg: null, data: { list } });
const fetchFrom = (answer: unknown) => createSosovalueSource(undefined).fetch(createAnsweringProvider('sosovalue', answer), range);

describe('sosovalue', () => {
  const days = [
    { day: TODAY, totalMusd: -0.4, fundsMusd: null },
    { day: TODAY - 1, totalMusd: 307.512345, fundsMusd: null },
  ];

  it('converts dollars to millions', async () => {
    expect(await fetchFrom(body(row(TODAY, -400_000), row(TODAY - 1, 307_512_345.4)))).toEqual(days);
  });

  it('parses a bare list and numbers in strings', async () => {
    expect(await fetchFrom({ code: 0, data: [row(TODAY, '-400000'), row(TODAY - 1, '307512345.4')] })).toEqual(days);
  });

  it('excludes weekends and unreported days', async () => {
    const sunday = TODAY - 2;
    expect(await fetchFrom(body(row(TODAY, null), row(TODAY - 1, 0), row(sunday, 5_000_000)))).toEqual([]);
  });

  it('returns nothing for an empty list', async () => {
    expect(await fetchFrom(body())).toEqual([]);
  });

  it.each([
    ['a key', 'k-1', { 'x-soso-api-key': 'k-1' }],
    ['no key', undefined, {}],
  ])('sends a request with %s', async (_, key, headers) => {
    const provider = createAnsweringProvider('sosovalue', body());
    await createSosovalueSource(key).fetch(provider, range);
    expect(provider.asked).toMatchObject([{ method: 'POST', headers, body: { type: 'us-btc-spot' } }]);
    expect(provider.asked[0].headers).toEqual(headers);
  });

  it.each([
    ['a flow in words', body(row(TODAY, 'many')), 'data.list.0.totalNetInflow'],
    ['an empty flow', body(row(TODAY, '')), 'data.list.0.totalNetInflow'],
    ['no flow', body({ date: '2026-03-10' }), 'data.list.0.totalNetInflow'],
    ['an impossible date', body({ date: '2026-02-30', totalNetInflow: 1 }), 'data.list.0.date'],
    ['a day after tomorrow', body(row(TODAY + 2, 1)), 'date'],
    ['another shape', { code: 0, data: { rows: [] } }, 'data.list'],
    ['no code', { data: [] }, 'code'],
  ])('throws FEED_INVALID for %s', async (_, answer, field) => {
    await expect(fetchFrom(answer)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      field,
      message: expect.stringContaining(`SoSoValue: ${field} `),
    });
  });

  it('throws FEED_UNAVAILABLE for a rejected request', async () => {
    await expect(fetchFrom({ code: 40101, msg: 'bad key', data: null })).rejects.toMatchObject({
      code: 'FEED_UNAVAILABLE',
      message: 'SoSoValue: rejected with code 40101',
    });
  });
});

describeWithShared('flows as recorded', () => {
  it('parses a recorded response without the Saturday', async () => {
    const recorded = readSample('etf_sosovalue_inflow.json');
    const [saturday, friday] = recorded.data.list.map(({ date }: { date: string }) => parseDay(date));
    const provider = withArrivalTime(toInstantMs(saturday, 12), createAnsweringProvider('sosovalue', recorded));
    expect(await createSosovalueSource(undefined).fetch(provider, { from: friday, to: saturday })).toEqual([
      { day: friday, totalMusd: recorded.data.list[1].totalNetInflow / 1e6, fundsMusd: null },
    ]);
  });
});
