import type { HorizonOverfitting } from '../overfitting.ts';

/** A probability of backtest overfitting from here on means that the past does not tell the better variant from the worse. */
const CHOICE_IS_CHANCE = 0.5;
/** What a deflated Sharpe ratio has to reach to count as more than luck. */
const MORE_THAN_LUCK = 0.95;

/** What the figures say, in words. */
export function overfittingVerdict(horizons: readonly HorizonOverfitting[]): string {
  const told = horizons.filter(({ pbo }) => pbo !== null);
  if (told.length === 0) return 'Too few days out of sample to tell anything';
  return `${choiceInWords(told)} ${luckInWords(told)}`;
}

function choiceInWords(horizons: readonly HorizonOverfitting[]): string {
  const shares = horizons.map(({ horizonDays, pbo }) => `${percent(pbo!.probability)} at ${horizonDays} days`).join(', ');
  const variants = horizons[0].pbo!.variants;
  const chance = horizons.filter(({ pbo }) => pbo!.probability >= CHOICE_IS_CHANCE).map(({ horizonDays }) => horizonDays);
  const meaning =
    chance.length === horizons.length
      ? 'differences between the variants are noise, and choosing among them by their past would have been overfitting'
      : chance.length === 0
        ? 'the better variants tend to stay the better ones'
        : `at ${chance.join(' and ')} days choosing among them by their past would have been overfitting`;
  return `The variant, of ${variants}, that was best in one half of the record is no better than the median one in the other half in so many of the splits: ${shares}; ${meaning}.`;
}

function luckInWords(horizons: readonly HorizonOverfitting[]): string {
  const shares = horizons.map(({ horizonDays, deflatedSharpe }) => `${inWords(deflatedSharpe?.probability)} at ${horizonDays} days`);
  const more = horizons.filter(({ deflatedSharpe }) => (deflatedSharpe?.probability ?? 0) >= MORE_THAN_LUCK);
  const meaning =
    more.length === 0
      ? 'following the calls rather than holding bitcoin at the same risk cannot be told from luck'
      : `that is more than luck at ${more.map(({ horizonDays }) => horizonDays).join(' and ')} days, which is to be taken for a leak until proven otherwise`;
  return `After ${horizons[0].deflatedSharpe!.trials} trials the deflated Sharpe ratio is ${shares.join(', ')}: ${meaning}.`;
}

function inWords(probability: number | null | undefined): string {
  return probability === null || probability === undefined ? 'not defined' : probability.toFixed(2);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
