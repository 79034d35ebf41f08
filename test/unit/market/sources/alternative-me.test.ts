import { describe, expect, it } from 'vitest';
import { toDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { alternativeMeFearGreed } from '../../../../src/market/sources/alternative-me.ts';
import { describeWithShared } from '../../../support/record/shared.ts';
import { readSample } from './recorded-answers.ts';
import { createAnsweringProvider, TODAY } from './test-providers.ts';

const range = { from: TODAY - 2, to: TODAY };
const row = (day: number, value: unknown, hours = 0) => ({ value, timestamp: String(toInstantMs(day, hours) / 1_000) });
const body = (...data: unknown[]) => ({ name: 'Fear and Greed Index', data, metadata: { error: null } });
const fetchFrom = (...bodies: unknown[]) => alternativeMeFearGreed.fetch(createAnsweringProvider('alternative-me', ...bodies), range);

describe('alternativeMeFearGreed', () => {
  it('dates each value by its UTC day', async () => {
    expect(await fetchFrom(body(row(TODAY, '61'), row(TODAY - 1, '58', 5), row(TODAY - 2, '0')))).toEqual([
      { day: TODAY, value: 61, providerAtMs: toInstantMs(TODAY) },
      { day: TODAY - 1, value: 58, providerAtMs: toInstantMs(TODAY - 1, 5) },
      { day: TODAY - 2, value: 0, providerAtMs: toInstantMs(TODAY - 2) },
    ]);
  });

  it('requests as many values as a range until today can have', async () => {
    const provider = createAnsweringProvider('alternative-me', body(row(TODAY - 1, '61'), row(TODAY - 3, '44')));
    await alternativeMeFearGreed.fetch(provider, range);
    expect(provider.asked.map(({ query }) => query?.limit)).toEqual([5]);
  });

  it('requests the whole history when the newest values do not cover the range', async () => {
    const provider = createAnsweringProvider(
      'alternative-me',
      body(row(TODAY, '61')),
      body(row(TODAY, '61'), row(TODAY - 1, '58'), row(TODAY - 2, '50')),
    );
    expect(await alternativeMeFearGreed.fetch(provider, range)).toHaveLength(3);
    expect(provider.asked.map(({ query }) => query?.limit)).toEqual([5, 0]);
  });

  it('returns the later of two values of a day', async () => {
    const fetched = await fetchFrom(body(row(TODAY - 1, '58', 1), row(TODAY - 1, '57'), row(TODAY - 2, '50')));
    expect(fetched.map(({ day, value }) => [day, value])).toEqual([
      [TODAY - 1, 58],
      [TODAY - 2, 50],
    ]);
  });

  it.each([
    ['a value in words', body(row(TODAY, 'Fear')), 'data.0.value'],
    ['an empty value', body(row(TODAY, '')), 'data.0.value'],
    ['a value that is no string', body(row(TODAY, 61)), 'data.0.value'],
    ['a value beyond the scale', body(row(TODAY, '101')), 'data.0.value'],
    ['a date in words', body({ value: '61', timestamp: '2026-03-10' }), 'data.0.timestamp'],
    ['an error', { data: [], metadata: { error: 'too many' } }, 'metadata.error'],
    ['no data', { metadata: { error: null } }, 'data'],
    ['days after tomorrow only', body(row(TODAY + 2, '61')), 'date'],
  ])('throws FEED_INVALID for %s', async (_, answer, field) => {
    await expect(fetchFrom(answer)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      field,
      message: expect.stringContaining(`alternative.me: ${field} `),
    });
  });

  it('throws FEED_UNAVAILABLE for an empty list', async () => {
    await expect(fetchFrom(body())).rejects.toMatchObject({ code: 'FEED_UNAVAILABLE' });
  });
});

describeWithShared('the index as recorded', () => {
  it('parses the recorded response', async () => {
    const recorded = readSample('fng_alternative_me.json');
    const to = toDay(Number(recorded.data[0].timestamp) * 1_000);
    const values = await alternativeMeFearGreed.fetch(createAnsweringProvider('alternative-me', recorded), { from: to - 1, to });
    expect(values.map(({ value }) => String(value))).toEqual(recorded.data.map(({ value }: { value: string }) => value));
  });
});
