import type { z } from 'zod';
import { ENVELOPE } from '../../market/reports/envelope-fields.ts';
import type { MarketReport } from '../../market/reports/report.ts';

/** A market report as it is served: its own fields first, then what every report tells. */
export function reportReply({ fields }: MarketReport): typeof ENVELOPE {
  return fields.extend(ENVELOPE.shape) as z.ZodObject as typeof ENVELOPE;
}
