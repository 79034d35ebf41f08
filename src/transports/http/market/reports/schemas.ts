import type { z } from 'zod';
import { REPORT_ENVELOPE } from '../../../../market/reports/envelope-fields.ts';
import type { MarketReport } from '../../../../market/reports/report.ts';

/** A market report: its own fields, then the envelope. */
export function buildReportSchema({ fields }: MarketReport): typeof REPORT_ENVELOPE {
  return fields.extend(REPORT_ENVELOPE.shape) as z.ZodObject as typeof REPORT_ENVELOPE;
}
