import type { z } from 'zod';
import { REPORT_ENVELOPE } from '../../../../market/reports/envelope-fields.ts';
import type { MarketReport } from '../../../../market/reports/report.ts';

/** A market report as it is served: its own fields first, then what every report tells. */
export function buildReportSchema({ fields }: MarketReport): typeof REPORT_ENVELOPE {
  return fields.extend(REPORT_ENVELOPE.shape) as z.ZodObject as typeof REPORT_ENVELOPE;
}
