import { describe, expect, it } from 'vitest';
import { openRecordPrices } from '../../../../src/cli/commands/audit-prices.ts';
import { parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated/feed.ts';

const day = parseDay('2026-03-01');
const now = new Date(toInstantMs(day + 1));

describe('the prices that a record is audited by', () => {
  it('are those of its own seed, to the cent, as far as days are over', async () => {
    const prices = await openRecordPrices('simulated (seed 7)', { feeds: 'auto', now });
    expect(prices).toMatchObject({ source: 'simulated (seed 7)', toleranceBps: 0, endsOn: null });
    const { days, values } = await openSimulatedFeed({ seed: 7 }).observations('btcClose', now.getTime());
    expect(await prices.closes([day - 1, day, day + 1])).toEqual(new Map([day - 1, day].map((one) => [one, values[one - days[0]]])));
    expect(await prices.history()).toEqual({ firstDay: days[0], closes: Float64Array.from(values) });
  });

  it('are those of the files it was made from, and of no others', async () => {
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
