import type { z } from 'zod';
import { formatDay } from '../../forecast/day.ts';
import { plainText } from '../plain-text.ts';
import type { SelfTestDesk } from './desk.ts';
import { newestDueDay, nextDueAt, SELF_TEST_STEPS, selfTestInstant } from './due.ts';
import type { ENVELOPE, SELF_TEST_STANDING } from './schemas/envelope.ts';
import { RESULT_FORMAT, SELF_TESTS, type SelfTestDoc, type SelfTestFailure, type SelfTestName } from './self-test.ts';
import { failureOf } from './store.ts';

/** For so long after its time a test may still be under way. */
const GRACE_MS = 15 * 60_000;
const MAX_REASON = 200;

/** What stands around a result. */
export type SelfTestEnvelope = Omit<z.input<typeof ENVELOPE>, 'success'>;

/** The newest result of a test, with what everybody should know of it; null before the first. */
export async function toldSelfTest<Result extends object>(
  desk: SelfTestDesk,
  test: SelfTestName,
  now: Date,
): Promise<{ envelope: SelfTestEnvelope; result: Result } | null> {
  const [done, newest, times] = await Promise.all([desk.store.newestDone<Result>(test), desk.store.newest(test), timesOf(desk, test, now)]);
  if (done === null) return null;
  const failed = newest === null ? null : failureOf(newest);
  const failure = failed === null ? null : { at: failed.at.toISOString(), reason: told(failed), codeVersion: failed.codeVersion };
  const envelope = { ...envelopeOf(done), nextDueAt: times.nextDueAt, overdue: times.isOverdue(done.day), failure };
  return { envelope, result: done.result as Result };
}

function envelopeOf({ test, verdict, day, dueAt, ranAt, firstRanAt, firstDay, lastDay, ...doc }: SelfTestDoc) {
  const { late, durationMs, codeVersion, dataDigest, source, simulated, replayed, seed } = doc;
  return {
    ...{ test, state: 'done' as const, verdict: verdict ?? '', date: formatDay(day) },
    ...{ dueAt: dueAt.toISOString(), ranAt: ranAt.toISOString(), firstRanAt: firstRanAt.toISOString() },
    ...{ late, durationMs, codeVersion, dataDigest },
    ...{ firstDay: dateOrNull(firstDay), lastDay: dateOrNull(lastDay), source, simulated, replayed, seed },
  };
}

/** Why a test has no result that could be told, in words. */
export async function whyUntold({ store, waitsFor }: SelfTestDesk, test: SelfTestName): Promise<string> {
  const newest = await store.newest(test);
  const failure = newest === null ? null : failureOf(newest);
  return failure === null ? ((await waitsFor(SELF_TEST_STEPS[test])) ?? 'it has not been run yet') : told(failure);
}

function told({ reason }: SelfTestFailure): string {
  return plainText(reason, MAX_REASON);
}

/** How every test stands, whether it was ever run or not. */
export function standings(desk: SelfTestDesk, now: Date): Promise<z.input<typeof SELF_TEST_STANDING>[]> {
  return Promise.all(SELF_TESTS.map((test) => standingOf(desk, test, now)));
}

async function standingOf(desk: SelfTestDesk, test: SelfTestName, now: Date): Promise<z.input<typeof SELF_TEST_STANDING>> {
  const [newest, done, times] = await Promise.all([desk.store.newest(test), desk.store.newestVerdict(test), timesOf(desk, test, now)]);
  const failure = newest === null ? null : failureOf(newest);
  const isThere = newest !== null && newest.format === RESULT_FORMAT;
  const state = failure !== null ? 'failed' : isThere ? 'done' : 'waiting';
  return {
    test,
    path: pathOf(test),
    state,
    verdict: done?.verdict ?? null,
    lastRunAt: (failure?.at ?? newest?.ranAt)?.toISOString() ?? null,
    dueAt: times.dueAt,
    nextDueAt: times.nextDueAt,
    overdue: times.isOverdue(done?.day ?? null),
    late: newest?.late ?? null,
    durationMs: newest?.durationMs ?? null,
    reason: state === 'done' ? null : failure === null ? await desk.waitsFor(SELF_TEST_STEPS[test]) : told(failure),
    codeVersion: failure?.codeVersion ?? newest?.codeVersion ?? null,
  };
}

/** The report of the service on itself stands beside how the tests are doing. */
function pathOf(test: SelfTestName): string {
  return `/api/self-test/${test === 'self-report' ? 'status' : test}`;
}

async function timesOf(desk: SelfTestDesk, test: SelfTestName, now: Date) {
  const step = SELF_TEST_STEPS[test];
  const lastCovered = await desk.lastCovered();
  const dueDay = newestDueDay(step, now.getTime(), lastCovered);
  const dueMs = selfTestInstant(step, dueDay);
  const nextMs = nextDueAt(step, now.getTime(), lastCovered);
  return {
    dueAt: new Date(dueMs).toISOString(),
    nextDueAt: nextMs === null ? null : new Date(nextMs).toISOString(),
    isOverdue: (doneDay: number | null) => (doneDay ?? -1) < dueDay && now.getTime() >= missedFrom(desk, doneDay, dueMs) + GRACE_MS,
  };
}

/** A service that has just begun has missed nothing: what came due before it was there could not be run. */
function missedFrom({ runsSince }: SelfTestDesk, doneDay: number | null, dueMs: number): number {
  return doneDay === null ? Math.max(dueMs, runsSince()?.getTime() ?? Number.POSITIVE_INFINITY) : dueMs;
}

function dateOrNull(day: number | null): string | null {
  return day === null ? null : formatDay(day);
}
