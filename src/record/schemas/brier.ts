import { z } from 'zod';
import { COUNT } from '../../platform/validation/fields.ts';

export const BRIER = z.object({
  n: COUNT.describe('Resolved forecasts, HOLD included'),
  model: z.number().min(0).max(1).describe('Mean squared error of P(UP), 0 to 1; lower is better'),
  climatology: z.number().min(0).max(1).describe('The same for the base rate known at the time'),
});
