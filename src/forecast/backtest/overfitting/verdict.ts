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
const MIN_DEFLATED_SHARPE = 0.95;

export function formatOverfittingVerdict(horizons: readonly HorizonOverfitting[], ledger: readonly LedgerRow[]): string {
  const measured = horizons.filter(({ pbo }) => pbo !== null);
  if (measured.length === 0) return 'Too few out-of-sample days for a result';
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
  return `Of the ${again.length} recomputed variants ${found} a Brier skill against the base rate with a 95 % interval above zero; by chance about ${chance} would. The other ${counted} trials are only counted.`;
}

function formatChoice(horizons: readonly HorizonOverfitting[]): string {
  const shares = horizons.map(({ horizonDays, pbo }) => `${formatPercent(pbo!.probability, 0)} at ${horizonDays} days`).join(', ');
  const variants = horizons[0].pbo!.variants;
  const where = (holds: boolean) => formatHorizons(horizons.filter(({ pbo }) => pbo!.probability <= MAX_PBO === holds));
  const meanings = [
    where(true) === '' ? '' : `${where(true)} better variants stay better`,
    where(false) === '' ? '' : `${where(false)} selection by the past does not differ from chance`,
  ].filter((meaning) => meaning !== '');
  return `The best of ${variants} variants in one half of the record ranks at or below the median in the other half in this share of the splits: ${shares}. Noise gives about 50 %, with a standard deviation of about 20 points between records: ${meanings.join(', ')}.`;
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
      ? 'following the calls instead of holding bitcoin at the same risk does not differ from luck'
      : `more than luck at ${more.map(({ horizonDays }) => horizonDays).join(' and ')} days, which suggests a leak`;
  return `After ${horizons[0].deflatedSharpe!.trials} trials the deflated Sharpe ratio is ${shares.join(', ')}: ${meaning}.`;
}

function formatProbability(probability: number | null | undefined): string {
  return probability === null || probability === undefined ? 'not defined' : probability.toFixed(2);
}
