import { formatPercent } from '../../math/format-percent.ts';
import type { HorizonOverfitting } from './horizon-overfitting.ts';
import type { LedgerRow } from './trial-ledger.ts';

/**
 * Up to this probability of backtest overfitting, better variants stay better. Noise alone gives one half with so large a variance that
 * values much above this limit do not differ from it.
 */
const MAX_PBO = 0.05;
/** Share of 95 % intervals above zero without an effect. */
const ONE_SIDED_LEVEL = 0.025;
/** Deflated Sharpe ratio that counts as more than luck. */
const MIN_DEFLATED_SHARPE = 0.95;

export function formatOverfittingVerdict(horizons: readonly HorizonOverfitting[], ledger: readonly LedgerRow[]): string {
  const measured = horizons.filter(({ pbo }) => pbo !== null);
  if (measured.length === 0) return 'Too few days out of sample to tell anything';
  return `${formatTrials(ledger)} ${formatChoice(measured)} ${formatDeflatedSharpe(measured)}`;
}

function formatTrials(ledger: readonly LedgerRow[]): string {
  const again = ledger.filter(({ recomputable }) => recomputable);
  const counted = ledger.reduce((sum, { trials }) => sum + trials, 0) - again.length;
  const better = again.flatMap(({ id, figures }) =>
    figures.flatMap(({ brierSkill, horizonDays }) => ((brierSkill?.low ?? 0) > 0 ? [`${id} at ${horizonDays} days`] : [])),
  );
  const found = better.length === 0 ? 'none has' : `only ${better.join(', ')} ${better.length === 1 ? 'has' : 'have'}`;
  const chance = (again.length * again[0].figures.length * ONE_SIDED_LEVEL).toFixed(0);
  return `Of the ${again.length} variants recomputed here ${found} a Brier skill against the base rate with a 95 % interval above zero, where about ${chance} of as many would by chance; the other ${counted} trials were counted, not recomputed.`;
}

function formatChoice(horizons: readonly HorizonOverfitting[]): string {
  const shares = horizons.map(({ horizonDays, pbo }) => `${formatPercent(pbo!.probability, 0)} at ${horizonDays} days`).join(', ');
  const variants = horizons[0].pbo!.variants;
  const where = (holds: boolean) => formatHorizons(horizons.filter(({ pbo }) => pbo!.probability <= MAX_PBO === holds));
  const meanings = [
    where(true) === '' ? '' : `${where(true)} the better variants stay the better ones`,
    where(false) === '' ? '' : `${where(false)} choosing among them by their past cannot be told from choosing at random`,
  ].filter((meaning) => meaning !== '');
  return `The variant, of ${variants}, that was best in one half of the record is no better than the median one in the other half in so many of the splits: ${shares}. Noise alone gives about 50 %, with a standard deviation of about 20 points from record to record: ${meanings.join(', ')}.`;
}

const LIST = new Intl.ListFormat('en-GB');

/** `at 2, 3 and 7 days`; empty without horizons. */
function formatHorizons(horizons: readonly HorizonOverfitting[]): string {
  return horizons.length === 0 ? '' : `at ${LIST.format(horizons.map(({ horizonDays }) => `${horizonDays}`))} days`;
}

function formatDeflatedSharpe(horizons: readonly HorizonOverfitting[]): string {
  const shares = horizons.map(
    ({ horizonDays, deflatedSharpe }) => `${formatProbability(deflatedSharpe?.probability)} at ${horizonDays} days`,
  );
  const more = horizons.filter(({ deflatedSharpe }) => (deflatedSharpe?.probability ?? 0) >= MIN_DEFLATED_SHARPE);
  const meaning =
    more.length === 0
      ? 'following the calls rather than holding bitcoin at the same risk cannot be told from luck'
      : `that is more than luck at ${more.map(({ horizonDays }) => horizonDays).join(' and ')} days, which is to be taken for a leak until proven otherwise`;
  return `After ${horizons[0].deflatedSharpe!.trials} trials the deflated Sharpe ratio is ${shares.join(', ')}: ${meaning}.`;
}

function formatProbability(probability: number | null | undefined): string {
  return probability === null || probability === undefined ? 'not defined' : probability.toFixed(2);
}
