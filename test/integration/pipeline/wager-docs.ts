import { type Day, formatDay } from '../../../src/forecast/day.ts';
import type { PipelineParts } from '../../../src/pipeline/parts.ts';
import { MICROS } from '../../../src/wager/venue.ts';
import type { WagerDoc } from '../../../src/wager/wagers.ts';

function wagerDoc(day: Day): WagerDoc {
  return {
    _id: formatDay(day),
    day,
    state: 'SKIPPED',
    replayed: false,
    venue: 'paper',
    asset: 'PAPER-USD',
    market: null,
    quote: null,
    pModel: null,
    qMarket: null,
    pBelieved: null,
    weight: 0,
    side: null,
    contracts: 0,
    costMicros: 0,
    limitCostMicros: 0,
    decidedAt: new Date(),
    skippedBecause: null,
    placedAt: null,
    winner: null,
    payoutMicros: null,
    settledAt: null,
    feedbackTxHash: null,
    feedbackAt: null,
  };
}

/** A wager of ten contracts on the first market there is, decided and not placed. */
export async function decidedWager({ venue }: PipelineParts, day: Day): Promise<WagerDoc> {
  const [market] = await venue.markets(new Date());
  const quote = await venue.quote(market, new Date());
  return {
    ...wagerDoc(day),
    state: 'DECIDED',
    market,
    quote,
    pModel: 0.9,
    qMarket: 0.5,
    side: 'YES',
    contracts: 10,
    limitCostMicros: MICROS,
  };
}

/** A wager that was won or lost and is not reported. */
export function settledWager(day: Day, state: 'WIN' | 'LOSS'): WagerDoc {
  const market = { id: `m:${day}`, question: '', strikeUsd: 1, expiresAt: new Date(0) };
  return { ...wagerDoc(day), state, market, pModel: 0.6, qMarket: 0.5, side: 'YES', winner: state === 'WIN' ? 'YES' : 'NO' };
}
