import { z } from 'zod';
import { COUNT, PROBABILITY } from '../../../platform/validation/fields.ts';
import { DIFFERENCE } from '../../schemas/statistics.ts';
import { FOLD_COUNT, HORIZON_DAYS } from './fold-count.ts';

const BRIER = z.number().min(0).max(1);
const SHARPE = z.number().nullable();

const PBO = z.object({
  blocks: COUNT.describe('Parts of equal length of the sample'),
  blockDays: COUNT.describe('Days per part'),
  splits: COUNT.describe('Ways to choose half of the parts'),
  probability: PROBABILITY.describe(
    'Share of splits in which the best variant of one half ranks at or below the median in the other; noise alone gives about one half, with a standard deviation of about 0.2 between records',
  ),
  variants: COUNT.describe('Compared variants, by Brier score'),
  chosen: z
    .array(z.object({ id: z.string().describe('The variant'), share: PROBABILITY.describe('Share of the splits') }))
    .describe('The five variants that were most often the best of their half'),
});

const DEFLATED_SHARPE = z.object({
  days: COUNT.describe('Daily returns'),
  followedSharpe: SHARPE.describe('Sharpe ratio of the daily return of following every call, without costs; null without calls'),
  heldSharpe: SHARPE.describe('Sharpe ratio of holding bitcoin'),
  excessSharpe: SHARPE.describe('Sharpe ratio of the excess over holding bitcoin at the same risk; null when both are the same'),
  excessSkewness: SHARPE.describe('Skewness of the excess return; 0 is symmetric'),
  excessKurtosis: SHARPE.describe('Kurtosis of the excess return; 3 is normal'),
  trials: COUNT.describe('Discounted trials'),
  variantDeviation: z.number().min(0).describe('Standard deviation of that ratio among the variants'),
  independentDeviation: z.number().min(0).describe('Its value among independent trials without skill'),
  expectedBest: z.number().describe('Expected best ratio of that many trials without skill, by the larger deviation'),
  probability: PROBABILITY.nullable().describe('Deflated Sharpe ratio: P(true ratio > `expectedBest`); null when there is none'),
});

const HORIZON = z.object({
  horizonDays: HORIZON_DAYS,
  folds: COUNT.describe('Complete folds of this horizon'),
  days: COUNT.describe('Days out of sample'),
  modelBrier: BRIER.nullable().describe("Brier score of the model's P(up), lower is better; null without days"),
  modelRank: z.int().min(1).nullable().describe('Rank of the model among the variants, 1 is best; null without days'),
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
  id: z.string().describe('Stable name; the first is the model itself'),
  change: z.string().describe('Difference from the model'),
  trials: COUNT.describe('Trials that the row represents'),
  recomputable: z.boolean().describe('Whether this code can refit it'),
  figures: z
    .array(
      z.object({
        horizonDays: HORIZON_DAYS,
        brier: BRIER.nullable().describe('Brier score of P(up) over all folds; null without a fold'),
        brierSkill: z
          .object(DIFFERENCE)
          .nullable()
          .describe('Brier skill against the base rate known at the time; positive is better; null without a fold'),
        accuracy: PROBABILITY.nullable().describe('Share of days on which the likelier direction came true; null without a fold'),
        excessSharpe: SHARPE.describe('Daily Sharpe ratio of following rather than holding at the same risk; null when both are the same'),
      }),
    )
    .describe('Out-of-sample results by horizon; empty when it cannot be refitted'),
});

export const OVERFITTING = z.object({
  ...FOLD_COUNT,
  verdict: z.string().describe('Verdict as a sentence'),
  trials: COUNT.describe('Discounted trials before the model was fixed'),
  horizons: z.array(HORIZON).describe('By horizon'),
  ledger: z.array(TRIAL).describe('All trials; their counts add up to `trials`'),
});
