import { type Day, toDay, toInstantMs } from '../../../../src/forecast/day.ts';
import type { PipelineContext } from '../../../../src/pipeline/forecaster.ts';
import { MICROS } from '../../../../src/wager/venue.ts';
import { buildUndecidedWager, type WagerDoc } from '../../../../src/wager/wagers.ts';

const wagerDoc = (day: Day): WagerDoc => buildUndecidedWager({ name: 'paper', asset: 'PAPER-USD' }, day, new Date());

/** A wager of ten contracts on the first market, decided and not placed. */
export async function decidedWager({ venue }: PipelineContext, day: Day): Promise<WagerDoc> {
  const [market] = await venue.listMarkets(new Date());
  const quote = await venue.getQuote(market, new Date());
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

/** A placed wager of ten YES contracts on a strike below yesterday's close. */
export async function expiredWager({ venue }: PipelineContext, day: Day): Promise<WagerDoc> {
  const expiresAt = new Date(toInstantMs(toDay(Date.now())));
  const market = { id: `paper:${day}`, question: 'Will BTC/USD close above 1?', strikeUsd: 1, expiresAt };
  const wager: WagerDoc = { ...wagerDoc(day), state: 'PLACED', market, pModel: 0.9, qMarket: 0.5, side: 'YES', contracts: 10 };
  const { costMicros } = await venue.placeOrder({
    clientOrderId: wager._id,
    market,
    side: 'YES',
    contracts: 10,
    limitCostMicros: MICROS,
    at: new Date(),
  });
  return { ...wager, costMicros };
}

/** A settled wager that is not reported. */
export function settledWager(day: Day, state: 'WIN' | 'LOSS' | 'VOID'): WagerDoc {
  const market = { id: `m:${day}`, question: '', strikeUsd: 1, expiresAt: new Date(0) };
  const decision = { market, quote: { bid: 0.49, ask: 0.51, fee: 0, at: new Date(0) }, pModel: 0.6, qMarket: 0.5, pBelieved: 0.55 };
  const stake = { side: 'YES', contracts: 10, costMicros: 5.1 * MICROS, placedAt: new Date(0) } as const;
  const payout = { WIN: 10, LOSS: 0, VOID: 5 }[state];
  const winner = ({ WIN: 'YES', LOSS: 'NO', VOID: null } as const)[state];
  const settlement = { winner, payoutMicros: payout * MICROS, settledAt: new Date(0) };
  return { ...wagerDoc(day), state, ...decision, ...stake, ...settlement };
}
