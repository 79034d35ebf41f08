export const KELLY_SHARE = 0.25;
/** Maximum stake of one wager, as a fraction of the bankroll. */
export const MAX_STAKE_FRACTION = 0.02;
export type Side = 'YES' | 'NO';

export interface SizingInput {
  pModel: number;
  qMarket: number;
  weight: number;
  /** Costs of a contract that pays 1, fee and spread included. */
  yesCost: number;
  noCost: number;
}

export interface Sizing {
  /** Null without an edge after costs. */
  side: Side | null;
  /** Blended probability of YES: q + w (p - q). */
  pBelieved: number;
  /** Full Kelly fraction of the bankroll; 0 without an edge. */
  fullKelly: number;
  /** Fraction of the bankroll to stake: a quarter of Kelly, at most 2 %. */
  fraction: number;
}

/** Cost of a contract of each side at a quote, fee and spread included. */
export function computeContractCosts(quote: { bid: number; ask: number; fee: number }): Pick<SizingInput, 'yesCost' | 'noCost'> {
  return { yesCost: quote.ask + quote.fee, noCost: 1 - quote.bid + quote.fee };
}

/** Fractional Kelly stake on a binary contract that pays 1. Probabilities and costs are fractions. */
export function sizeWager({ pModel, qMarket, weight, yesCost, noCost }: SizingInput): Sizing {
  const pBelieved = qMarket + weight * (pModel - qMarket);
  const yes = kellyFraction(pBelieved, yesCost);
  const no = kellyFraction(1 - pBelieved, noCost);
  const full = Math.max(yes, no);
  if (!(full > 0)) return { side: null, pBelieved, fullKelly: 0, fraction: 0 };
  return { side: yes >= no ? 'YES' : 'NO', pBelieved, fullKelly: full, fraction: Math.min(KELLY_SHARE * full, MAX_STAKE_FRACTION) };
}

/** Side with the larger expected payout per unit of stake by the model alone; null when neither costs less than it pays. */
export function findFavouredSide({ pModel, yesCost, noCost }: Pick<SizingInput, 'pModel' | 'yesCost' | 'noCost'>): Side | null {
  const yes = yesCost < 1 ? pModel / yesCost : -1;
  const no = noCost < 1 ? (1 - pModel) / noCost : -1;
  if (Math.max(yes, no) < 0) return null;
  return yes >= no ? 'YES' : 'NO';
}

/** Contracts of one order: at least `min`, in multiples of `step`. */
export interface OrderSizes {
  min: number;
  step: number;
}

/** Contracts of the smallest wager that costs at least the minimum stake and that the venue takes. */
export function countMinimumContracts(
  { minStakeMicros, unitCostMicros }: { minStakeMicros: number; unitCostMicros: number },
  { min, step }: OrderSizes = { min: 1, step: 1 },
): number {
  return Math.ceil(Math.max(Math.ceil(minStakeMicros / unitCostMicros), min) / step) * step;
}

/** Kelly fraction of a contract that costs `cost` and pays 1 with probability `p`; not positive without an edge. */
function kellyFraction(p: number, cost: number): number {
  return cost > 0 && cost < 1 ? (p - cost) / (1 - cost) : 0;
}
