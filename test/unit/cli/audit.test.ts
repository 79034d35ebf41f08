import { describe, expect, it } from 'vitest';
import { openRecordPrices } from '../../../src/cli/audit.ts';
import { parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { openSimulatedFeed } from '../../../src/market/simulated.ts';

const day = parseDay('2026-03-01');
const now = new Date(toInstantMs(day + 1));

describe('openRecordPrices', () => {
  it('returns the closes of the same seed, to the cent, up to the last finished day', async () => {
    const prices = await openRecordPrices('simulated (seed 7)', { feeds: 'auto', now });
    expect(prices).toMatchObject({ source: 'simulated (seed 7)', toleranceBps: 0, endsOn: null });
    const { days, values } = await openSimulatedFeed({ seed: 7 }).observations('btcClose', now.getTime());
    expect(await prices.closes([day - 1, day, day + 1])).toEqual(new Map([day - 1, day].map((one) => [one, values[one - days[0]]])));
    expect(await prices.history()).toEqual({ firstDay: days[0], closes: Float64Array.from(values) });
  });

  it('rejects CSV files other than those the record was made from', async () => {
    const asked = openRecordPrices('csv:history', { feeds: 'csv:/elsewhere/other', now });
    await expect(asked).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'FEEDS',
      suggestedAction: expect.stringContaining('--prices'),
    });
    await expect(openRecordPrices('csv:history', { feeds: 'auto', now })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(openRecordPrices('csv:history', { feeds: 'csv:/nowhere/history', now })).rejects.toMatchObject({ code: 'FEED_INVALID' });
  });
});
