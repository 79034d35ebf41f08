import { describe, expect, it } from 'vitest';
import { type Day, toInstantMs } from '../../../src/forecast/day.ts';
import { type Feed, getSignalTimeMs } from '../../../src/market/feed.ts';
import { SERIES_IDS } from '../../../src/market/series.ts';

const HOUR = 3_600_000;

/** What every feed must do, shown around `day`, a day well inside its coverage. */
export function describeFeedContract(name: string, open: () => Promise<Feed>, day: Day): void {
  describe(`${name} keeps the feed contract`, () => {
    it('returns columns of equal length with ascending dates and non-decreasing availability', async () => {
      const feed = await open();
      for (const id of SERIES_IDS) {
        const { days, values, availableAt } = await feed.observations(id, getSignalTimeMs(day));
        expect([values.length, availableAt.length]).toEqual([days.length, days.length]);
        for (let i = 1; i < days.length; i++) {
          if (days[i] <= days[i - 1] || availableAt[i] < availableAt[i - 1]) expect.fail(`${id}: entry ${i} is out of order`);
        }
        expect(values.every(Number.isFinite)).toBe(true);
      }
    });

    it('returns nothing before it is available', async () => {
      const feed = await open();
      for (const atMs of [toInstantMs(day), toInstantMs(day) - 1, getSignalTimeMs(day), toInstantMs(day, 12)]) {
        for (const id of SERIES_IDS) {
          const known = await feed.observations(id, atMs);
          expect(known.availableAt.at(-1) ?? atMs).toBeLessThanOrEqual(atMs);
        }
      }
    });

    it('returns the close of a day from the next midnight', async () => {
      const feed = await open();
      const last = async (atMs: number) => (await feed.observations('btcClose', atMs)).days.at(-1);
      expect(await last(toInstantMs(day + 1) - 1)).toBe(day - 1);
      expect(await last(toInstantMs(day + 1))).toBe(day);
    });

    it('has a close of every day since the first', async () => {
      const feed = await open();
      const { firstDay } = await feed.coverage();
      const { days } = await feed.observations('btcClose', toInstantMs(day + 1));
      expect([days[0], days.length]).toEqual([firstDay, day - firstDay + 1]);
    });

    it('is independent of earlier queries', async () => {
      const [patient, hasty] = [await open(), await open()];
      const instants = [toInstantMs(day - 400, 3), getSignalTimeMs(day - 30), toInstantMs(day, 9)];
      for (const atMs of instants.toReversed()) await hasty.spot(atMs);
      for (const atMs of instants) {
        expect(await patient.spot(atMs)).toEqual(await hasty.spot(atMs));
        for (const id of SERIES_IDS) expect(await patient.observations(id, atMs)).toEqual(await hasty.observations(id, atMs));
      }
    });

    it('does not modify returned arrays on later queries', async () => {
      const feed = await open();
      const early = await feed.observations('btcClose', toInstantMs(day - 100));
      const copy = early.values.slice();
      await feed.observations('btcClose', toInstantMs(day));
      expect(early.values).toEqual(copy);
    });

    it('returns a spot price not after the instant, and closes of finished days only', async () => {
      const feed = await open();
      for (const atMs of [toInstantMs(day), toInstantMs(day) + 7 * HOUR, getSignalTimeMs(day)]) {
        const spot = await feed.spot(atMs);
        expect(spot.observedAtMs).toBeLessThanOrEqual(atMs);
        expect(spot.priceUsd).toBeGreaterThan(0);
      }
      const running = await feed.dailyCloses(day, toInstantMs(day + 1) - 1);
      expect(running.every((close) => close.priceUsd === null && close.reason)).toBe(true);
      const finished = await feed.dailyCloses(day, toInstantMs(day + 1));
      expect(finished.every((close) => close.priceUsd !== null && close.priceUsd > 0)).toBe(true);
    });

    it('returns latest versions with the dates of the first', async () => {
      const feed = await open();
      for (const id of SERIES_IDS) {
        const [first, latest] = [
          await feed.observations(id, getSignalTimeMs(day)),
          await feed.observations(id, getSignalTimeMs(day), 'latest'),
        ];
        expect(latest.days.length).toBeGreaterThanOrEqual(first.days.length);
        expect(latest.availableAt.at(-1) ?? 0).toBeLessThanOrEqual(getSignalTimeMs(day));
      }
    });

    it('returns a next change after the instant', async () => {
      const feed = await open();
      for (const atMs of [toInstantMs(day), toInstantMs(day, 12) - 1, getSignalTimeMs(day)]) {
        for (const what of [...SERIES_IDS, 'spot'] as const) expect(await feed.nextChangeAt(what, atMs), what).toBeGreaterThan(atMs);
      }
    });

    it('returns fund flows as valid observations without future values', async () => {
      const feed = await open();
      for (const { days, values, availableAt } of Object.values(await feed.fundFlows(getSignalTimeMs(day)))) {
        expect([values.length, availableAt.length]).toEqual([days.length, days.length]);
        expect(values.every(Number.isFinite)).toBe(true);
        expect(availableAt.at(-1) ?? 0).toBeLessThanOrEqual(getSignalTimeMs(day));
      }
    });

    it('returns no strike received after the instant', async () => {
      const strikes = await (await open()).strikes(getSignalTimeMs(day));
      expect(strikes.filter(({ receivedAtMs }) => receivedAtMs > getSignalTimeMs(day))).toEqual([]);
    });
  });
}

/** What a feed must do that publishes by the rules of `SERIES` alone and has no providers. */
export function describeScheduledFeed(name: string, open: () => Promise<Feed>, day: Day): void {
  describe(`${name} keeps its schedule`, () => {
    it('changes no value before the announced next change', async () => {
      const feed = await open();
      for (const atMs of [toInstantMs(day), toInstantMs(day, 12) - 1, getSignalTimeMs(day)]) {
        for (const id of SERIES_IDS) {
          const nextMs = await feed.nextChangeAt(id, atMs);
          expect(await feed.observations(id, Math.min(nextMs - 1, toInstantMs(day + 1) - 1)), id).toEqual(
            await feed.observations(id, atMs),
          );
        }
        const nextPriceMs = await feed.nextChangeAt('spot', atMs);
        expect(await feed.spot(nextPriceMs - 1)).toEqual(await feed.spot(atMs));
      }
    });

    it('has neither strikes nor providers', async () => {
      const feed = await open();
      expect(await feed.strikes(getSignalTimeMs(day))).toEqual([]);
      expect(await feed.providerHealth()).toEqual([]);
    });
  });
}
