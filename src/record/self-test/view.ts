import type { z } from 'zod';
import { formatDay } from '../../forecast/day.ts';
import { formatDayOrNull } from '../../market/numbers.ts';
import { sanitizeText } from '../sanitize-text.ts';
import { getNewestDueDay, getNextDueMs, getSelfTestDueMs, SELF_TEST_STEPS } from './due-times.ts';
import type { SELF_TEST_ENVELOPE_OBJECT, SELF_TEST_STATUS } from './schemas/envelope.ts';
import { RESULT_FORMAT, SELF_TESTS, type SelfTestDoc, type SelfTestFailure, type SelfTestName } from './self-test-doc.ts';
import type { SelfTestService } from './service.ts';
import { getSelfTestFailure } from './store.ts';

/** A test may run this long after its due time before it is overdue. */
const GRACE_MS = 15 * 60_000;
const MAX_REASON_CHARS = 200;

export type SelfTestEnvelope = Omit<z.input<typeof SELF_TEST_ENVELOPE_OBJECT>, 'success'>;

export async function viewSelfTest<Result extends object>(service: SelfTestService, test: SelfTestName, now: Date) {
  const [done, newest, times] = await Promise.all([
    service.store.findNewestResult<Result>(test),
    service.store.findNewestRun(test),
    computeDueTimes(service, test, now),
  ]);
  if (done === null) return null;
  const failed = newest === null ? null : getSelfTestFailure(newest);
  const failure =
    failed === null ? null : { at: failed.at.toISOString(), reason: formatFailureReason(failed), codeVersion: failed.codeVersion };
  const envelope = { ...toEnvelope(done), nextDueAt: times.nextDueAt, overdue: times.isOverdue(done.day), failure };
  return { envelope, result: done.result as Result };
}

function toEnvelope({ test, verdict, day, dueAt, ranAt, firstRanAt, firstDay, lastDay, ...doc }: SelfTestDoc) {
  const { late, durationMs, codeVersion, dataDigest, source, simulated, replayed, seed } = doc;
  return {
    test,
    state: 'done' as const,
    verdict: verdict ?? '',
    date: formatDay(day),
    dueAt: dueAt.toISOString(),
    ranAt: ranAt.toISOString(),
    firstRanAt: firstRanAt.toISOString(),
    late,
    durationMs,
    codeVersion,
    dataDigest,
    firstDay: formatDayOrNull(firstDay),
    lastDay: formatDayOrNull(lastDay),
    source,
    simulated,
    replayed,
    seed,
  };
}

export async function explainMissingResult({ store, explainWaiting }: SelfTestService, test: SelfTestName): Promise<string> {
  const newest = await store.findNewestRun(test);
  const failure = newest === null ? null : getSelfTestFailure(newest);
  return failure === null ? ((await explainWaiting(SELF_TEST_STEPS[test])) ?? 'it has not run yet') : formatFailureReason(failure);
}

function formatFailureReason({ reason }: SelfTestFailure): string {
  return sanitizeText(reason, MAX_REASON_CHARS);
}

export function listSelfTestStatuses(service: SelfTestService, now: Date): Promise<z.input<typeof SELF_TEST_STATUS>[]> {
  return Promise.all(SELF_TESTS.map((test) => buildSelfTestStatus(service, test, now)));
}

async function buildSelfTestStatus(service: SelfTestService, test: SelfTestName, now: Date): Promise<z.input<typeof SELF_TEST_STATUS>> {
  const [newest, done, times] = await Promise.all([
    service.store.findNewestRun(test),
    service.store.findNewestDoneRun(test),
    computeDueTimes(service, test, now),
  ]);
  const failure = newest === null ? null : getSelfTestFailure(newest);
  const isThere = newest !== null && newest.format === RESULT_FORMAT;
  const state = failure !== null ? 'failed' : isThere ? 'done' : 'waiting';
  return {
    test,
    path: buildResultPath(test),
    state,
    verdict: done?.verdict ?? null,
    lastRunAt: (failure?.at ?? newest?.ranAt)?.toISOString() ?? null,
    dueAt: times.dueAt,
    nextDueAt: times.nextDueAt,
    overdue: times.isOverdue(done?.day ?? null),
    late: newest?.late ?? null,
    durationMs: newest?.durationMs ?? null,
    reason: state === 'done' ? null : failure === null ? await service.explainWaiting(SELF_TEST_STEPS[test]) : formatFailureReason(failure),
    codeVersion: failure?.codeVersion ?? newest?.codeVersion ?? null,
  };
}

/** The self-report is served beside the status of the tests. */
function buildResultPath(test: SelfTestName): string {
  return `/api/self-test/${test === 'self-report' ? 'status' : test}`;
}

async function computeDueTimes(service: SelfTestService, test: SelfTestName, now: Date) {
  const step = SELF_TEST_STEPS[test];
  const lastCovered = await service.getLastCoveredDay();
  const dueDay = getNewestDueDay(step, now.getTime(), lastCovered);
  const dueMs = getSelfTestDueMs(step, dueDay);
  const nextMs = getNextDueMs(step, now.getTime(), lastCovered);
  return {
    dueAt: new Date(dueMs).toISOString(),
    nextDueAt: nextMs === null ? null : new Date(nextMs).toISOString(),
    isOverdue: (doneDay: number | null) => (doneDay ?? -1) < dueDay && now.getTime() >= getMissedFromMs(service, doneDay, dueMs) + GRACE_MS,
  };
}

/** A test without a result is overdue only from the start of this process. */
function getMissedFromMs({ getRunningSince }: SelfTestService, doneDay: number | null, dueMs: number): number {
  return doneDay === null ? Math.max(dueMs, getRunningSince()?.getTime() ?? Number.POSITIVE_INFINITY) : dueMs;
}
