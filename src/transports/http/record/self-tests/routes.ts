import type { z } from 'zod';
import { OracleError } from '../../../../platform/errors.ts';
import type { SELF_REPORT } from '../../../../record/self-test/schemas/self-report.ts';
import type { SelfTestName } from '../../../../record/self-test/self-test-doc.ts';
import { explainMissingResult, listSelfTestStatuses, type SelfTestEnvelope, viewSelfTest } from '../../../../record/self-test/view.ts';
import type { HttpDeps } from '../../deps.ts';
import { toTaggedReply } from '../../server/replies/tagged-reply.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import * as schemas from './schemas.ts';

type SelfTestDeps = Pick<HttpDeps, 'selfTests' | 'now'>;

/** The stored part of a reply: without the envelope. */
type StoredResult<Schema extends z.ZodType> = Omit<z.input<Schema>, keyof SelfTestEnvelope | 'success'>;

const STATUS_PATH = '/api/self-test/status';
/** Overdue tests start within ten minutes, and at startup. */
const RETRY_AFTER_SECONDS = 60;
const DAILY = 'Runs daily at 03:00 UTC and on a fresh start, in a child process; the newest stored result is returned.';
const WEEKLY = 'Runs on Sunday at 15:00 UTC and on a fresh start, in a child process; the newest stored result is returned.';

/** Interface, section 4.1. Served from the store: no request computes a test. */
export function selfTestRoutes(deps: SelfTestDeps): Route[] {
  return [
    route(`GET ${STATUS_PATH}`, 'getSelfTestStatus', {
      units: 0.3,
      tag: 'self-test',
      summary: 'Status of all self-tests, with the weekly report of the service on itself',
      reply: schemas.SELF_TEST_STATUS_REPLY,
      handle: () => readSelfTestStatus(deps),
    }),
    route('GET /api/self-test/walk-forward', 'getWalkForward', {
      units: 2,
      tag: 'self-test',
      summary: 'Walk-forward test of the model, fold by fold, with canaries for data leaks',
      description: `19 out-of-sample folds of 180 days, or as many as the history has. ${DAILY}`,
      reply: schemas.WALK_FORWARD_REPLY,
      errors: ['STEP_WAITING'],
      handle: () => readStoredResult<StoredResult<typeof schemas.WALK_FORWARD_REPLY>>(deps, 'walk-forward'),
    }),
    route('GET /api/self-test/contamination', 'getContamination', {
      tag: 'self-test',
      summary: 'Look-ahead test: before and after the ETF era, by regime, and against planted leaks',
      description: WEEKLY,
      reply: schemas.CONTAMINATION_REPLY,
      errors: ['STEP_WAITING'],
      handle: () => readStoredResult<StoredResult<typeof schemas.CONTAMINATION_REPLY>>(deps, 'contamination'),
    }),
    route('GET /api/self-test/stability', 'getStability', {
      tag: 'self-test',
      summary: 'Accuracy with all thresholds moved by 10 and 20 percent',
      description: WEEKLY,
      reply: schemas.STABILITY_REPLY,
      errors: ['STEP_WAITING'],
      handle: () => readStability(deps),
    }),
    route('GET /api/self-test/polymarket-comparison', 'getPolymarketComparison', {
      tag: 'self-test',
      summary: 'Accuracy of the prediction market against the oracle, on the same questions',
      description: 'Runs daily at 03:00 UTC and on a fresh start, from the public part of the record.',
      reply: schemas.POLYMARKET_COMPARISON_REPLY,
      errors: ['STEP_WAITING'],
      handle: () => readStoredResult<StoredResult<typeof schemas.POLYMARKET_COMPARISON_REPLY>>(deps, 'polymarket-comparison'),
    }),
  ];
}

async function readSelfTestStatus({ selfTests, now }: SelfTestDeps): Promise<Reply<z.input<typeof schemas.SELF_TEST_STATUS_REPLY>>> {
  const [tests, report] = await Promise.all([
    listSelfTestStatuses(selfTests, now()),
    viewSelfTest<{ report: z.input<typeof SELF_REPORT> }>(selfTests, 'self-report', now()),
  ]);
  return toTaggedReply({
    success: true as const,
    tests,
    overdue: tests.filter(({ overdue }) => overdue).map(({ test }) => test),
    codeVersion: selfTests.codeVersion,
    selfReport: report === null ? null : { ...report.envelope, ...report.result },
    timestamp: now().toISOString(),
  });
}

async function readStoredResult<Result extends object>(deps: SelfTestDeps, test: SelfTestName) {
  const { envelope, result } = await requireNewestResult<Result>(deps, test);
  return toTaggedReply({ success: true as const, ...envelope, ...result });
}

/** Interface, section 4.1: `result` is a top-level member. */
async function readStability(deps: SelfTestDeps): Promise<Reply<z.input<typeof schemas.STABILITY_REPLY>>> {
  const { envelope, result } = await requireNewestResult<Pick<z.input<typeof schemas.STABILITY_REPLY>, 'report'>>(deps, 'stability');
  return toTaggedReply({ success: true as const, ...envelope, result: result.report.result, report: result.report });
}

async function requireNewestResult<Result extends object>({ selfTests, now }: SelfTestDeps, test: SelfTestName) {
  const published = await viewSelfTest<Result>(selfTests, test, now());
  if (published !== null) return published;
  throw new OracleError('STEP_WAITING', `No result of ${test} yet: ${await explainMissingResult(selfTests, test)}`, {
    suggestedAction: `Retry in a minute; ${STATUS_PATH} has the status of all self-tests.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
