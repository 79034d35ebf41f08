import { describe, expect, it } from 'vitest';
import { instantOf, parseDay } from '../../../src/forecast/day.ts';
import { openFeed } from '../../../src/market/open.ts';
import { csvFolder, dailyCsv } from './csv/support.ts';

describe('openFeed', () => {
  it('opens a simulation, of the seed that is asked for', async () => {
    const { feed, reason } = await openFeed('simulated', { seed: 9 });
    expect([feed.kind, feed.source, reason]).toEqual(['simulated', 'simulated (seed 9)', null]);
    const at = instantOf(parseDay('2020-05-05'), 7);
    const other = await openFeed('simulated', { seed: 10 });
    expect(await feed.spot(at)).not.toEqual(await other.feed.spot(at));
  });

  it('opens a folder', async () => {
    const folder = csvFolder({ 'btc_daily.csv': dailyCsv('close_median', 17_000, 17_100) });
    const { feed, reason } = await openFeed(`csv:${folder}`);
    expect([feed.kind, reason]).toEqual(['csv', null]);
  });

  it('falls back from auto to the simulation and says so', async () => {
    const { feed, reason } = await openFeed('auto');
    expect(feed.kind).toBe('simulated');
    expect(reason).toMatch(/SIMULATED/);
  });

  it.each([
    ['live', /live feeds are not available in this version/],
    ['csv:', /csv: needs a folder/],
    ['yahoo', /"yahoo" names no feed/],
  ])('refuses %s, naming the settings there are', async (setting, message) => {
    await expect(openFeed(setting)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'FEEDS',
      message: expect.stringMatching(message),
      suggestedAction: 'Set FEEDS to auto, simulated or csv:<folder>.',
    });
  });
});
