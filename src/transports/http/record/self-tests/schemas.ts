import { z } from 'zod';
import { SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { CONTAMINATION } from '../../../../record/self-test/schemas/contamination.ts';
import { SELF_TEST_ENVELOPE, SELF_TEST_STATUS } from '../../../../record/self-test/schemas/envelope.ts';
import { OVERFITTING } from '../../../../record/self-test/schemas/overfitting.ts';
import { POLYMARKET_COMPARISON } from '../../../../record/self-test/schemas/polymarket-comparison.ts';
import { SELF_REPORT } from '../../../../record/self-test/schemas/self-report.ts';
import { STABILITY } from '../../../../record/self-test/schemas/stability.ts';
import { WALK_FORWARD } from '../../../../record/self-test/schemas/walk-forward.ts';
import { SELF_TESTS } from '../../../../record/self-test/self-test-doc.ts';

export const SELF_TEST_STATUS_REPLY = z.object({
  success: SUCCESS,
  tests: z.array(SELF_TEST_STATUS).describe('Status of every self-test, run or not'),
  overdue: z.array(z.enum(SELF_TESTS)).describe('Tests with an overdue result; empty when all are current'),
  codeVersion: z.string().describe('Version of the responding software, and digest of its computing code'),
  selfReport: z
    .object({ ...SELF_TEST_ENVELOPE, report: SELF_REPORT.describe('What was due, what ran, and what was late, missed or failed') })
    .omit({ success: true })
    .nullable()
    .describe('Newest weekly report of the service on itself, of Sunday 15:00 UTC; null before the first'),
  timestamp: TIME.describe('Response time'),
});

export const WALK_FORWARD_REPLY = z.object({
  ...SELF_TEST_ENVELOPE,
  report: WALK_FORWARD.describe('All folds, their total, and the canaries for data leaks'),
  overfitting: OVERFITTING.describe('Overfitting: PBO, deflated Sharpe ratio and the ledger of all trials'),
});

export const CONTAMINATION_REPLY = z.object({
  ...SELF_TEST_ENVELOPE,
  report: CONTAMINATION.describe('Before and after the ETF era, by regime, and look-ahead checks'),
});

export const STABILITY_REPLY = z.object({
  ...SELF_TEST_ENVELOPE,
  result: z
    .enum(['STABLE', 'MODERATE', 'OVERFIT'])
    .nullable()
    .describe('Dependence of accuracy on the exact thresholds, at the worst horizon; null where the history is too short'),
  report: STABILITY.describe('Thresholds moved by 10 and 20 percent, jointly and one at a time'),
});

export const POLYMARKET_COMPARISON_REPLY = z.object({
  ...SELF_TEST_ENVELOPE,
  report: POLYMARKET_COMPARISON.describe('Prediction market against oracle on the same questions'),
});
