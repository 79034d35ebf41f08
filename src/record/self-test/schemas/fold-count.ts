import { z } from 'zod';
import { HORIZONS } from '../../../forecast/model.ts';
import { COUNT } from '../../../platform/validation/fields.ts';

export const HORIZON_DAYS = z.literal(HORIZONS).describe('Days ahead');

export const FOLD_COUNT = {
  folds: COUNT.describe('Folds of 180 days that are complete at every horizon'),
  expectedFolds: COUNT.describe('Folds of the whole history at the release of this version'),
  note: z.string().nullable().describe('Why there are fewer folds; null otherwise'),
};
