import { type Day, instantOf } from '../../../../src/forecast/day.ts';
import { type CrowdPin, pinOf } from '../../../../src/record/crowd/pins.ts';
import type { Side } from '../../../../src/wager/sizing.ts';
import { undecidedWager, type WagerDoc } from '../../../../src/wager/wagers.ts';

export interface PricedOptions {
  day: Day;
  /** Day whose close decides the market. */
  decidingDay: Day;
  strikeUsd?: number;
  venue?: string;
  qMarket?: number;
  pModel?: number;
  winner?: Side | null;
}

/** A wager of a day whose market was priced, without a stake. */
export function pricedWager({
  day,
  decidingDay,
  strikeUsd = 100_000,
  venue = 'polymarket',
  qMarket = 0.5,
  pModel = 0.5,
  winner = null,
}: PricedOptions): WagerDoc {
  const pinnedAt = new Date(instantOf(day, 21, 42));
  return {
    ...undecidedWager({ name: venue, asset: 'USDC' }, day, pinnedAt),
    market: { id: `${decidingDay}:${strikeUsd}`, question: 'Above?', strikeUsd, expiresAt: new Date(instantOf(decidingDay + 1)) },
    quote: { bid: fourDigits(qMarket - 0.01), ask: fourDigits(qMarket + 0.01), fee: 0, at: pinnedAt },
    qMarket,
    pModel,
    winner,
  };
}

const fourDigits = (price: number) => Number(price.toFixed(4));

export function crowdPin(options: PricedOptions): CrowdPin {
  return pinOf(pricedWager(options), 99_000);
}
