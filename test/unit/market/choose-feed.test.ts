import { describe, expect, it } from 'vitest';
import { parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import type { Feed } from '../../../src/market/feed.ts';
import { chooseFeed } from '../../../src/market/market.ts';
import { buildDailyCsv, createCsvFolder } from './csv/csv-folder.ts';

const offline = { seed: 2, isLiveReachable: async () => false };
const online = { seed: 2, isLiveReachable: async () => true };

describe('the FEEDS setting', () => {
  it('opens a simulated feed with the configured seed', async () => {
    const open = async (seed: number) => (await chooseFeed('simulated', { ...online, seed })).selectFeed(null).feed as Feed;
    const feed = await open(9);
    expect([feed.kind, feed.source]).toEqual(['simulated', 'simulated (seed 9)']);
    const at = toInstantMs(parseDay('2020-05-05'), 7);
    expect(await feed.spot(at)).not.toEqual(await (await open(10)).spot(at));
  });

  it('opens a CSV folder with its coverage', async () => {
    const folder = createCsvFolder({ 'btc_daily.csv': buildDailyCsv('close_median', 17_000, 17_100) });
    const choice = await chooseFeed(`csv:${folder}`, online);
    const { feed, reason } = choice.selectFeed(null);
    expect([feed?.kind, reason]).toEqual(['csv', null]);
    expect(choice.coverage).toEqual(await feed?.coverage());
  });

  it('returns no feed for live data, reachable or not', async () => {
    for (const options of [online, offline])
      expect((await chooseFeed('live', options)).selectFeed(null)).toEqual({ feed: null, reason: null });
  });

  it('auto: selects live data if reachable, otherwise a simulation with a reason', async () => {
    expect((await chooseFeed('auto', online)).selectFeed(null)).toEqual({ feed: null, reason: null });
    const { feed, reason } = (await chooseFeed('auto', offline)).selectFeed(null);
    expect(feed?.kind).toBe('simulated');
    expect(reason).toMatch(/no live data could be reached within 3 s: the market is SIMULATED/);
  });

  it('auto: keeps the feed of an existing record', async () => {
    const kept = (await chooseFeed('auto', online)).selectFeed('simulated (seed 2)');
    expect(kept.feed?.kind).toBe('simulated');
    expect(kept.reason).toMatch(/was made from the SIMULATED market/);
    expect((await chooseFeed('auto', online)).selectFeed('live')).toEqual({ feed: null, reason: null });
    const waiting = (await chooseFeed('auto', offline)).selectFeed('live');
    expect(waiting).toMatchObject({ feed: null, reason: expect.stringMatching(/steps wait for live data/) });
  });

  it('auto: rejects a record made from CSV files', async () => {
    const choice = await chooseFeed('auto', online);
    expect(() => choice.selectFeed('csv:mine')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        suggestedAction: expect.stringMatching(/FEEDS=csv:<folder>, with the folder named "mine"/),
      }),
    );
  });

  it.each([
    ['csv:', /csv: needs a folder/],
    ['yahoo', /"yahoo" is not a feed/],
  ])('rejects %s with the valid settings', async (setting, message) => {
    await expect(chooseFeed(setting, online)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'FEEDS',
      message: expect.stringMatching(message),
      suggestedAction: 'Set FEEDS to auto, live, simulated or csv:<folder>.',
    });
  });
});
