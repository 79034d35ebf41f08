import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { renderSelfTests } from '../../page/evidence.ts';
import { SUCCESS, TIME } from '../../platform/validation.ts';
import {
  CONTAMINATION,
  OVERFITTING,
  POLYMARKET_COMPARISON,
  SELF_REPORT,
  SELF_TEST_ENVELOPE,
  type SELF_TEST_ENVELOPE_OBJECT,
  SELF_TEST_STATUS,
  SELF_TESTS,
  type SelfTestName,
  STABILITY,
  WALK_FORWARD,
} from '../../record/schemas/self-tests.ts';
import { explainMissingResult, listSelfTestStatuses, viewSelfTest } from '../../record/self-tests.ts';
import { toTaggedReply } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';
import { prefersHtml, toDocumentReply } from './home.ts';

/** The stored part of a reply: without the envelope. */
type StoredResult<Schema extends z.ZodType> = Omit<z.input<Schema>, keyof SelfTestEnvelope | 'success'>;

type SelfTestEnvelope = Omit<z.input<typeof SELF_TEST_ENVELOPE_OBJECT>, 'success'>;

const STATUS_PATH = '/api/self-test/status';
const DAILY = 'Runs daily at 03:00 UTC and on a fresh start, in a child process; the newest stored result is returned.';
const WEEKLY = 'Runs on Sunday at 15:00 UTC and on a fresh start, in a child process; the newest stored result is returned.';

/** Interface, section 4.1. Served from the store: no request computes a test. */
export function selfTestRoutes(deps: Services): Route[] {
  return [
    route(`GET ${STATUS_PATH}`, 'getSelfTestStatus', {
      units: 0.3,
      tag: 'self-test',
      summary: 'Status of all self-tests, with the weekly report of the service on itself',
      reply: SELF_TEST_STATUS_REPLY,
      alternatives: { 'text/html': { description: 'The status as a page for browsers.' } },
      async handle({ accept }) {
        const { selfTests, now, publicUrl } = deps;
        const [tests, report] = await Promise.all([
          listSelfTestStatuses(selfTests, now()),
          viewSelfTest<{ report: z.input<typeof SELF_REPORT> }>(selfTests, 'self-report', now()),
        ]);
        if (prefersHtml(accept))
          return toDocumentReply(
            publicUrl,
            'Self-tests',
            STATUS_PATH.slice(1),
            renderSelfTests({ tests, codeVersion: selfTests.codeVersion }),
          );
        const body = {
          success: true as const,
          tests,
          overdue: tests.filter(({ overdue }) => overdue).map(({ test }) => test),
          codeVersion: selfTests.codeVersion,
          selfReport: report === null ? null : { ...report.envelope, ...report.result },
          timestamp: now().toISOString(),
        };
        return toTaggedReply(body, { Vary: 'Accept' });
      },
    }),
    route('GET /api/self-test/walk-forward', 'getWalkForward', {
      units: 2,
      tag: 'self-test',
      summary: 'Walk-forward test of the model, fold by fold, with canaries for data leaks',
      description: `19 out-of-sample folds of 180 days, or as many as the history has. ${DAILY}`,
      reply: WALK_FORWARD_REPLY,
      errors: ['STEP_WAITING'],
      handle: () => readStoredResult<StoredResult<typeof WALK_FORWARD_REPLY>>(deps, 'walk-forward'),
    }),
    route('GET /api/self-test/contamination', 'getContamination', {
      tag: 'self-test',
      summary: 'Look-ahead test: before and after the ETF era, by regime, and against planted leaks',
      description: WEEKLY,
      reply: CONTAMINATION_REPLY,
      errors: ['STEP_WAITING'],
      handle: () => readStoredResult<StoredResult<typeof CONTAMINATION_REPLY>>(deps, 'contamination'),
    }),
    route('GET /api/self-test/stability', 'getStability', {
      tag: 'self-test',
      summary: 'Accuracy with all thresholds moved by 10 and 20 percent',
      description: WEEKLY,
      reply: STABILITY_REPLY,
      errors: ['STEP_WAITING'],
      async handle() {
        const { envelope, result } = await requireNewestResult<Pick<z.input<typeof STABILITY_REPLY>, 'report'>>(deps, 'stability');
        // Interface, section 4.1: `result` is a top-level member.
        return toTaggedReply({ success: true as const, ...envelope, result: result.report.result, report: result.report });
      },
    }),
    route('GET /api/self-test/polymarket-comparison', 'getPolymarketComparison', {
      tag: 'self-test',
      summary: 'Accuracy of the prediction market against the oracle, on the same questions',
      description: 'Runs daily at 03:00 UTC and on a fresh start, from the public part of the record.',
      reply: POLYMARKET_COMPARISON_REPLY,
      errors: ['STEP_WAITING'],
      handle: () => readStoredResult<StoredResult<typeof POLYMARKET_COMPARISON_REPLY>>(deps, 'polymarket-comparison'),
    }),
  ];
}

async function readStoredResult<Result extends object>(deps: Services, test: SelfTestName) {
  const { envelope, result } = await requireNewestResult<Result>(deps, test);
  return toTaggedReply({ success: true as const, ...envelope, ...result });
}

async function requireNewestResult<Result extends object>({ selfTests, now }: Services, test: SelfTestName) {
  const published = await viewSelfTest<Result>(selfTests, test, now());
  if (published !== null) return published;
  throw new OracleError('STEP_WAITING', `No result of ${test} yet: ${await explainMissingResult(selfTests, test)}`, {
    suggestedAction: `Retry in a minute; ${STATUS_PATH} has the status of all self-tests.`,
    // Overdue tests start within ten minutes, and at startup.
    retryAfterSeconds: 60,
  });
}

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

const CONTAMINATION_REPLY = z.object({
  ...SELF_TEST_ENVELOPE,
  report: CONTAMINATION.describe('Before and after the ETF era, by regime, and look-ahead checks'),
});

const STABILITY_REPLY = z.object({
  ...SELF_TEST_ENVELOPE,
  result: z
    .enum(['STABLE', 'MODERATE', 'OVERFIT'])
    .nullable()
    .describe('Dependence of accuracy on the exact thresholds, at the worst horizon; null where the history is too short'),
  report: STABILITY.describe('Thresholds moved by 10 and 20 percent, jointly and one at a time'),
});

const POLYMARKET_COMPARISON_REPLY = z.object({
  ...SELF_TEST_ENVELOPE,
  report: POLYMARKET_COMPARISON.describe('Prediction market against oracle on the same questions'),
});
