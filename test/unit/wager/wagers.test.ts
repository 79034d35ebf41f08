import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AccountedWager,
  buildWagerAccounts,
  compareHeadToHead,
  computeProfitMicros,
  MIN_SETTLED_MARKETS,
  type SettledComparison,
} from '../../../src/wager/wagers.ts';

/** Wagers as the book holds them, one a day: a cost only where something was bought, a payout only where it is settled. */
const wagers = fc
  .array(
    fc.record({
      venue: fc.constantFrom('paper', 'polymarket'),
      asset: fc.constantFrom('USDC', 'PAPER-USD'),
      state: fc.constantFrom('DECIDED', 'PLACED', 'WIN', 'LOSS', 'VOID', 'SKIPPED'),
      costMicros: fc.nat(10 ** 12),
      payoutMicros: fc.nat(10 ** 12),
    }),
    { maxLength: 60 },
  )
  .map((all) =>
    all.map(
      ({ state, costMicros, payoutMicros, ...where }, index): AccountedWager => ({
        ...{ ...where, state, day: 20_000 + index },
        costMicros: state === 'SKIPPED' || state === 'DECIDED' ? 0 : costMicros,
        payoutMicros: state === 'WIN' || state === 'VOID' ? payoutMicros : state === 'LOSS' ? 0 : null,
      }),
    ),
  );

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

describe('wager accounts', () => {
  it('count every wager once and all money', () => {
    fc.assert(
      fc.property(wagers, (all) => {
        const accounts = buildWagerAccounts(all);
        for (const { venue, asset, ...account } of accounts) {
          const own = all.filter((wager) => wager.venue === venue && wager.asset === asset);
          const states = (...wanted: string[]) => own.filter(({ state }) => wanted.includes(state));
          const tallies = [account.wins, account.losses, account.voids, account.skipped];
          expect(tallies).toEqual(['WIN', 'LOSS', 'VOID', 'SKIPPED'].map((state) => states(state).length));
          expect(account.open).toBe(states('PLACED', 'DECIDED').length);
          expect(account.stakedMicros + account.openMicros).toBe(sum(own.map(({ costMicros }) => costMicros)));
          expect(account.returnedMicros).toBe(sum(own.map(({ payoutMicros }) => payoutMicros ?? 0)));
          expect(account.profitMicros).toBe(sum(own.map((wager) => computeProfitMicros(wager) ?? 0)));
          expect(Object.values(account).every((value) => Array.isArray(value) || Number.isSafeInteger(value))).toBe(true);
        }
        const keys = accounts.map(({ venue, asset }) => `${venue} ${asset}`);
        expect(new Set(keys)).toEqual(new Set(all.map(({ venue, asset }) => `${venue} ${asset}`)));
        expect(keys).toEqual([...new Set(keys)]);
      }),
    );
  });

  it('accumulate the profit by settled day', () => {
    fc.assert(
      fc.property(wagers, (all) => {
        for (const { venue, asset, profitByDay, profitMicros } of buildWagerAccounts(all)) {
          const settled = all.filter((one) => one.venue === venue && one.asset === asset && ['WIN', 'LOSS', 'VOID'].includes(one.state));
          expect(profitByDay.map(({ day }) => day)).toEqual(settled.map(({ day }) => day));
          const gains = profitByDay.map((point, index) => point.profitMicros - (profitByDay[index - 1]?.profitMicros ?? 0));
          expect(gains).toEqual(settled.map((wager) => wager.payoutMicros! - wager.costMicros));
          expect(profitByDay.at(-1)?.profitMicros ?? 0).toBe(profitMicros);
        }
      }),
    );
  });

  it('are empty without wagers', () => {
    expect(buildWagerAccounts([])).toEqual([]);
  });
});

describe('computeProfitMicros', () => {
  it.each([
    ['WIN', 5_100_000, 10_000_000, 4_900_000],
    ['LOSS', 5_100_000, 0, -5_100_000],
    ['SKIPPED', 0, null, 0],
    ['PLACED', 5_100_000, null, null],
    ['DECIDED', 0, null, null],
  ] as const)('%s with cost %d and payout %s is %s', (state, costMicros, payoutMicros, profit) => {
    expect(computeProfitMicros({ state, costMicros, payoutMicros })).toBe(profit);
  });
});
const markets = (count: number, pModel: number, qMarket: number): SettledComparison[] =>
  Array.from({ length: count }, (_, index) => ({ marketId: `m${index}`, pModel, qMarket, winner: 'YES' }));

describe('the weight of the model', () => {
  it('is 0 before enough markets have settled', () => {
    expect(compareHeadToHead([]).weight).toBe(0);
    expect(compareHeadToHead(markets(MIN_SETTLED_MARKETS - 1, 0.9, 0.5)).weight).toBe(0);
  });

  it('depends on the lower log loss', () => {
    expect(compareHeadToHead(markets(MIN_SETTLED_MARKETS, 0.9, 0.5)).weight).toBe(0.5);
    expect(compareHeadToHead(markets(MIN_SETTLED_MARKETS, 0.4, 0.5)).weight).toBe(0);
    expect(compareHeadToHead(markets(MIN_SETTLED_MARKETS, 0.5, 0.5)).weight).toBe(0);
  });

  it('counts each market once by its first comparison', () => {
    const again = markets(20, 0.9, 0.5);
    const { settledMarkets, weight, modelLogLoss } = compareHeadToHead([...again, ...markets(20, 0.1, 0.5)]);
    expect(settledMarkets).toBe(20);
    expect(weight).toBe(0);
    expect(modelLogLoss).toBeCloseTo(-Math.log(0.9), 12);
  });
});
