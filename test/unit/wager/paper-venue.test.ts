import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildPaperQuote, buildPaperStrikes } from '../../../src/wager/paper-venue.ts';
import { between } from '../../support/record/arbitraries.ts';

const at = new Date('2026-01-07T21:42:00Z');

describe('weekly strikes', () => {
  it('surround the spot price and expire with the close of a Friday more than a day away', () => {
    const strikes = buildPaperStrikes(91_234, at);
    expect(strikes.map(({ strikeUsd }) => strikeUsd)).toEqual([
      86_000, 87_000, 88_000, 89_000, 90_000, 91_000, 92_000, 93_000, 94_000, 95_000, 96_000,
    ]);
    expect(new Set(strikes.map(({ expiresAt }) => expiresAt.toISOString()))).toEqual(new Set(['2026-01-10T00:00:00.000Z']));
    expect(buildPaperStrikes(91_234, new Date('2026-01-08T21:42:00Z'))[0].expiresAt.toISOString()).toBe('2026-01-17T00:00:00.000Z');
  });

  it('are about one percent apart, on either side of a power of ten', () => {
    for (const spot of [0.07, 5.2, 990, 9_999, 64_000, 104_000, 250_000]) {
      const strikes = buildPaperStrikes(spot, at).map(({ strikeUsd }) => strikeUsd);
      const step = strikes[6] - strikes[5];
      expect(step / spot).toBeGreaterThan(0.006);
      expect(step / spot).toBeLessThan(0.016);
      expect(Math.abs(strikes[5] - spot)).toBeLessThanOrEqual(step * 0.501);
    }
  });

  it('exist at any price and never reach zero', () => {
    fc.assert(
      fc.property(between(0.01, 1e7), (spot) => {
        const strikes = buildPaperStrikes(spot, at);
        expect(strikes.length).toBeGreaterThan(4);
        for (const { strikeUsd } of strikes) expect(strikeUsd).toBeGreaterThan(0);
      }),
    );
  });
});

describe('paper quotes', () => {
  const quoteAt = (strikeUsd: number) => {
    const market = { id: `m:${strikeUsd}`, question: '', strikeUsd, expiresAt: new Date('2026-01-10T00:00:00Z') };
    return buildPaperQuote(market, { spotUsd: 90_000, dailyVolatility: 0.02 }, at);
  };

  it('are deterministic and near one half at the money', () => {
    expect(quoteAt(90_000)).toEqual(quoteAt(90_000));
    expect(quoteAt(90_000).bid).toBeGreaterThan(0.3);
    expect(quoteAt(90_000).ask).toBeLessThan(0.7);
  });

  it('stay inside 0 and 1 with the bid below the ask at any strike', () => {
    fc.assert(
      fc.property(between(1_000, 1e6), (strike) => {
        const { bid, ask } = quoteAt(strike);
        expect(bid).toBeGreaterThan(0);
        expect(ask).toBeLessThan(1);
        expect(bid).toBeLessThan(ask);
      }),
    );
  });

  it("decrease with the strike beyond the crowd's error", () => {
    expect(quoteAt(80_000).bid).toBeGreaterThan(quoteAt(100_000).ask);
  });
});
