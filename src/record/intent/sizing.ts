import { roundTo } from '../../platform/round.ts';
import { MIN_SETTLED_MARKETS } from '../../wager/head-to-head.ts';
import { computeContractCosts, KELLY_SHARE, MAX_STAKE_FRACTION, sizeWager } from '../../wager/sizing.ts';
import type { WagerDoc } from '../../wager/wager-book.ts';
import { roundContractPrice } from './decimal.ts';

export interface SizingInputs {
  pModel: number;
  marketPrice: number;
  weight: number;
  bid: number;
  ask: number;
  /** Per contract, as a fraction of its payout; null when the exchange's fee is unknown, and costs exclude it. */
  fee: number | null;
  sizedAt: Date;
}

/** A Kelly stake with all its inputs, rounded as served, so that a client recomputes the same stake. */
export type IntentSizing = ReturnType<typeof computeIntentSizing>;

const SHARE_DIGITS = 8;

export function computeIntentSizing({ sizedAt, ...inputs }: SizingInputs) {
  const { pModel, marketPrice, weight, bid, ask, fee } = inputs;
  const costs = computeContractCosts({ bid, ask, fee: fee ?? 0 });
  const sizing = sizeWager({ pModel, qMarket: marketPrice, weight, ...costs });
  const { pBelieved, side, fullKelly, fraction } = sizing;
  const share = (value: number) => roundTo(value, SHARE_DIGITS);
  const note = formatSizingNote(weight, fraction, fee === null);
  return {
    ...inputs,
    marketPrice: roundContractPrice(marketPrice),
    yesCost: roundContractPrice(costs.yesCost),
    noCost: roundContractPrice(costs.noCost),
    pBelieved: share(pBelieved),
    side,
    fullKelly: share(fullKelly),
    fraction: share(fraction),
    kellyShare: KELLY_SHARE,
    maxFraction: MAX_STAKE_FRACTION,
    sizedAt: sizedAt.toISOString(),
    note,
  };
}

export function computeWagerSizing({ quote, pModel, qMarket: marketPrice, weight, decidedAt: sizedAt }: WagerDoc): IntentSizing | null {
  if (quote === null || pModel === null || marketPrice === null) return null;
  const { bid, ask, fee } = quote;
  return computeIntentSizing({ pModel, marketPrice, weight, bid, ask, fee, sizedAt });
}

function formatSizingNote(weight: number, fraction: number, withoutFee: boolean): string {
  if (weight === 0) {
    return `Stake 0: against this market's prices the model has not had the lower log loss on ${MIN_SETTLED_MARKETS} settled markets yet, so it is not believed (weight 0).`;
  }
  if (fraction === 0) return 'Stake 0: neither side has an edge after costs.';
  const stake = `Stake ${(fraction * 100).toFixed(2)} % of the bankroll: ${KELLY_SHARE * 100} % of Kelly, at most ${MAX_STAKE_FRACTION * 100} %.`;
  return withoutFee ? `${stake} The exchange's fee is not in the costs: with it the stake is smaller.` : stake;
}
