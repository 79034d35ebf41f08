import { z } from 'zod';
import { COUNT, PROBABILITY } from '../../../platform/validation/fields.ts';
import { DIFFERENCE } from '../../schemas/statistics.ts';
import { FOLD_COUNT, HORIZON_DAYS } from './fold-count.ts';

const BRIER = z.number().min(0).max(1);
const SHARPE = z.number().nullable();

const PBO = z.object({
  blocks: COUNT.describe('Parts of equal length that the days are cut into'),
  blockDays: COUNT.describe('Days of each'),
  splits: COUNT.describe('Ways to take half of the parts'),
  probability: PROBABILITY.describe(
    'Share of the splits in which the variant that was best in one half is at or below the median in the other; noise alone gives about one half, with a standard deviation of about 0.2 from record to record',
  ),
  variants: COUNT.describe('Variants that were compared, by their Brier score'),
  chosen: z
    .array(z.object({ id: z.string().describe('The variant'), share: PROBABILITY.describe('Share of the splits') }))
    .describe('The five variants that were most often the best of their half'),
});

const DEFLATED_SHARPE = z.object({
  days: COUNT.describe('Daily returns'),
  followedSharpe: SHARPE.describe(
    'Mean over standard deviation of the daily return of following every call, without costs; null without calls',
  ),
  heldSharpe: SHARPE.describe('The same of holding bitcoin'),
  excessSharpe: SHARPE.describe(
    'The same of what following earned beyond as much held bitcoin as moves as much; null where the two are the same',
  ),
  excessSkewness: SHARPE.describe('Skewness of that; 0 is symmetric'),
  excessKurtosis: SHARPE.describe('Kurtosis of that; 3 is normal'),
  trials: COUNT.describe('Trials that are discounted for'),
  variantDeviation: z.number().min(0).describe('Standard deviation of that ratio among the variants'),
  independentDeviation: z.number().min(0).describe('What it would be among trials without skill that have nothing in common'),
  expectedBest: z.number().describe('Ratio that the best of so many trials without skill would show, by the larger of the two'),
  probability: PROBABILITY.nullable().describe(
    'Deflated Sharpe ratio: probability that the true ratio is above that; null where there is none',
  ),
});

const HORIZON = z.object({
  horizonDays: HORIZON_DAYS,
  folds: COUNT.describe('Complete folds of this horizon'),
  days: COUNT.describe('Days out of sample'),
  modelBrier: BRIER.nullable().describe('Mean squared error of P(up) of the model, lower is better; null without days'),
  modelRank: z.int().min(1).nullable().describe('Its place among the variants, 1 is best; null without days'),
  best: z
    .object({ id: z.string().describe('The variant'), brier: BRIER.describe('Its Brier score') })
    .nullable()
    .describe('The best variant on all days, known only in hindsight; null without days'),
  pbo: PBO.nullable().describe(
    'Probability of backtest overfitting by combinatorially symmetric cross-validation (Bailey, Borwein, Lopez de Prado, Zhu 2015); null with fewer than 480 days',
  ),
  deflatedSharpe: DEFLATED_SHARPE.nullable().describe(
    'Deflated Sharpe ratio (Bailey, Lopez de Prado 2014) of following every call for its horizon with an equal part of the capital; ratios per day, not annualised; null with fewer than 480 days',
  ),
});

const TRIAL = z.object({
  id: z.string().describe('Name that does not change; the first is the model itself'),
  change: z.string().describe('What is different from the model'),
  trials: COUNT.describe('Trials that the row stands for'),
  recomputable: z.boolean().describe('Whether this code can fit it again'),
  figures: z
    .array(
      z.object({
        horizonDays: HORIZON_DAYS,
        brier: BRIER.nullable().describe('Mean squared error of P(up) over all folds; null without a fold'),
        brierSkill: z
          .object(DIFFERENCE)
          .nullable()
          .describe('1 - that / the same of the base rate that the model knew at the time; above zero it is better; null without a fold'),
        accuracy: PROBABILITY.nullable().describe('Share of days on which the likelier direction came true; null without a fold'),
        excessSharpe: SHARPE.describe('Ratio per day of following rather than holding at the same risk; null where they are the same'),
      }),
    )
    .describe('What it did out of sample, by horizon; empty for what cannot be fitted again'),
});

export const OVERFITTING = z.object({
  ...FOLD_COUNT,
  verdict: z.string().describe('What the figures say, in words'),
  trials: COUNT.describe('Trials before the model was fixed, which are discounted for'),
  horizons: z.array(HORIZON).describe('By horizon'),
  ledger: z.array(TRIAL).describe('Everything that was tried; the trials of its rows add up to `trials`'),
});
