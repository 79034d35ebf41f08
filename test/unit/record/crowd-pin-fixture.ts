import { type Day, toInstantMs } from '../../../src/forecast/day.ts';
import { type CrowdPin, toCrowdPin } from '../../../src/record/crowd.ts';
import type { Side } from '../../../src/wager/sizing.ts';
import { buildUndecidedWager, type WagerDoc } from '../../../src/wager/wagers.ts';

export interface PricedOptions {
  day: Day;
  /** Day whose close decides the market. */
  decidingDay: Day;
  strikeUsd?: number;
  venue?: string;
  qMarket?: number;
  pModel?: number;
  winner?: Side | null;
  settledAt?: Date | null;
}

/** A wager of a day whose market was priced, without a stake. */
export function buildPricedWager({
  day,
  decidingDay,
  strikeUsd = 100_000,
  venue = 'polymarket',
  qMarket = 0.5,
  pModel = 0.5,
  winner = null,
  settledAt = null,
}: PricedOptions): WagerDoc {
  const pinnedAt = new Date(toInstantMs(day, 21, 42));
  return {
    ...buildUndecidedWager({ name: venue, asset: 'USDC' }, day, pinnedAt),
    market: { id: `${decidingDay}:${strikeUsd}`, question: 'Above?', strikeUsd, expiresAt: new Date(toInstantMs(decidingDay + 1)) },
    quote: { bid: roundToFourDigits(qMarket - 0.01), ask: roundToFourDigits(qMarket + 0.01), fee: 0, at: pinnedAt },
    qMarket,
    pModel,
    winner,
    settledAt,
  };
}

const roundToFourDigits = (price: number) => Number(price.toFixed(4));

export function buildTestPin(options: PricedOptions): CrowdPin {
  return toCrowdPin(buildPricedWager(options), 99_000);
}
