import type { Collection, Db, Filter } from 'mongodb';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { type Day, formatDay, formatDayOrNull, getWeekday, toDay, toInstantMs } from '../forecast/day.ts';
import { insertOrFind } from '../platform/mongo.ts';
import { sanitizeText } from '../platform/validation.ts';
import {
  type CrowdPin,
  compareWeekly,
  computeCrowdAccuracy,
  isSettledPin,
  listPins,
  type MarketComparison,
  type SettledPin,
} from './crowd.ts';
import {
  type POLYMARKET_COMPARISON,
  RESULT_FORMAT,
  type SELF_TEST_STATUS,
  SELF_TESTS,
  type SelfTestDoc,
  type SelfTestFailure,
  type SelfTestName,
} from './schemas/self-tests.ts';

/** A test may run this long after its due time before it is overdue. */
const GRACE_MS = 15 * 60_000;
const MAX_REASON_CHARS = 200;

export async function viewSelfTest<Result extends object>(service: SelfTestService, test: SelfTestName, now: Date) {
  const [done, newest, times] = await Promise.all([
    service.store.findNewestResult<Result>(test),
    service.store.findNewestRun(test),
    computeDueTimes(service, test, now),
  ]);
  if (done === null) return null;
  const failed = getSelfTestFailure(newest);
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
  const failure = getSelfTestFailure(await store.findNewestRun(test));
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
  const failure = getSelfTestFailure(newest);
  const state = failure !== null ? 'failed' : newest?.format === RESULT_FORMAT ? 'done' : 'waiting';
  return {
    test,
    // The self-report is served beside the status of the tests.
    path: `/api/self-test/${test === 'self-report' ? 'status' : test}`,
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

async function computeDueTimes(service: SelfTestService, test: SelfTestName, now: Date) {
  const step = SELF_TEST_STEPS[test];
  const lastCovered = await service.getLastCoveredDay();
  const dueDay = getNewestDueDay(step, now.getTime(), lastCovered);
  const dueMs = getSelfTestDueMs(step, dueDay);
  const nextMs = getNextDueMs(step, now.getTime(), lastCovered);
  return {
    dueAt: new Date(dueMs).toISOString(),
    nextDueAt: nextMs === null ? null : new Date(nextMs).toISOString(),
    isOverdue(doneDay: number | null) {
      // A test without a result is overdue only from the start of this process.
      const runningSinceMs = service.getRunningSince()?.getTime() ?? Number.POSITIVE_INFINITY;
      const missedFromMs = doneDay === null ? Math.max(dueMs, runningSinceMs) : dueMs;
      return (doneDay ?? -1) < dueDay && now.getTime() >= missedFromMs + GRACE_MS;
    },
  };
}

export const BACKTEST_TIME = { hours: 3, minutes: 0 } as const;

/** Due time of the weekly tests, UTC, on Sunday. */
export const DIAGNOSTICS_TIME = { hours: 15, minutes: 0 } as const;

/** The pipeline step of each test: `backtest` daily, `diagnostics` weekly (interface, section 1). */
export const SELF_TEST_STEPS = {
  'walk-forward': 'backtest',
  'polymarket-comparison': 'backtest',
  contamination: 'diagnostics',
  stability: 'diagnostics',
  'self-report': 'diagnostics',
} as const satisfies Record<SelfTestName, 'backtest' | 'diagnostics'>;

export type SelfTestStep = (typeof SELF_TEST_STEPS)[SelfTestName];

const SUNDAY = 6;
const PERIOD_DAYS = { backtest: 1, diagnostics: 7 } as const satisfies Record<SelfTestStep, number>;

/** In milliseconds since 1970; the day of `diagnostics` must be a Sunday. */
export function getSelfTestDueMs(step: SelfTestStep, day: Day): number {
  const { hours, minutes } = step === 'backtest' ? BACKTEST_TIME : DIAGNOSTICS_TIME;
  return toInstantMs(day, hours, minutes);
}

/** `lastCovered` is the last day of a feed that ends, whose tests end with the first due time after it; null for a live feed. */
export function getNewestDueDay(step: SelfTestStep, nowMs: number, lastCovered: Day | null): Day {
  const today = toDay(nowMs);
  const begun = getDueDayOnOrBefore(step, nowMs >= getSelfTestDueMs(step, today) ? today : today - 1);
  return lastCovered === null ? begun : Math.min(begun, getLastDueDay(step, lastCovered));
}

export function getNextDueMs(step: SelfTestStep, nowMs: number, lastCovered: Day | null): number | null {
  const day = getNewestDueDay(step, nowMs, null) + PERIOD_DAYS[step];
  return lastCovered !== null && day > getLastDueDay(step, lastCovered) ? null : getSelfTestDueMs(step, day);
}

/** The first due day that covers all data of a feed that ends. */
function getLastDueDay(step: SelfTestStep, lastCovered: Day): Day {
  return getDueDayOnOrBefore(step, lastCovered + PERIOD_DAYS[step]);
}

function getDueDayOnOrBefore(step: SelfTestStep, day: Day): Day {
  return step === 'backtest' ? day : day - ((getWeekday(day) - SUNDAY + 7) % 7);
}

export function formatSelfTestId(test: SelfTestName, day: Day): string {
  return `${test}:${formatDay(day)}`;
}

export interface SelfTestService {
  store: SelfTestStore;
  codeVersion: string;
  getLastCoveredDay(): Promise<Day | null>;
  /** Start of this process; null during startup. A test that never ran is not overdue before it. */
  getRunningSince(): Date | null;
  explainWaiting(step: SelfTestStep): Promise<string | null>;
}

const TEST_DAY_INDEX = { test: 1, day: 1 } as const;

export const SELF_TEST_INDEXES = [{ collection: 'self_tests', indexes: [{ key: TEST_DAY_INDEX, unique: true }] }];

export type SelfTestRun = Omit<SelfTestDoc, 'result'>;

/** Runs of the self-tests: one per test and due day, never deleted. */
export class SelfTestStore {
  readonly #runs: Collection<SelfTestDoc>;

  constructor(db: Db) {
    this.#runs = db.collection('self_tests');
  }

  findRun(test: SelfTestName, day: Day): Promise<SelfTestRun | null> {
    return this.#runs.findOne({ _id: formatSelfTestId(test, day) }, { projection: { result: 0 } });
  }

  findNewestResult<Result extends object>(test: SelfTestName): Promise<SelfTestDoc<Result> | null> {
    const newest = this.#runs.findOne(buildPublishableFilter(test), { sort: { day: -1 }, hint: TEST_DAY_INDEX });
    return newest as Promise<SelfTestDoc<Result> | null>;
  }

  findNewestDoneRun(test: SelfTestName): Promise<SelfTestRun | null> {
    return this.#runs.findOne(buildPublishableFilter(test), { sort: { day: -1 }, hint: TEST_DAY_INDEX, projection: { result: 0 } });
  }

  findNewestRun(test: SelfTestName): Promise<SelfTestRun | null> {
    return this.#runs.findOne({ test }, { sort: { day: -1 }, hint: TEST_DAY_INDEX, projection: { result: 0 } });
  }

  listBetween(test: SelfTestName, from: Day, to: Day): Promise<SelfTestRun[]> {
    return this.#runs
      .find({ test, day: { $gte: from, $lte: to } }, { sort: { day: 1 }, hint: TEST_DAY_INDEX, projection: { result: 0 } })
      .toArray();
  }

  /** Compare-and-set; a failure is noted beside the result that it does not replace. */
  async saveRun(run: SelfTestDoc): Promise<SelfTestRun> {
    const stored: SelfTestRun = await insertOrFind(this.#runs, run);
    if (stored === run) return run;
    if (isUpToDate(stored, run)) return stored;
    const { _id, state, ranAt, codeVersion, dataDigest, firstRanAt, late } = stored;
    // A recomputed result keeps the lateness of the first.
    const successor = state === 'done' ? { ...run, firstRanAt, late } : run;
    const unchanged = { _id, state, ranAt, codeVersion, dataDigest };
    // A failed run is replaced by any run; a result only by one of other code or other data.
    if (state === 'failed' || run.state === 'done') await this.#runs.replaceOne(unchanged, successor);
    else await this.#runs.updateOne(unchanged, { $set: { failure: getSelfTestFailure(run) } });
    return (await this.findRun(run.test, run.day)) as SelfTestRun;
  }
}

function buildPublishableFilter(test: SelfTestName): Filter<SelfTestDoc> {
  return { test, state: 'done', format: RESULT_FORMAT };
}

/** Determines a result: same basis, same result. */
type SelfTestBasis = Pick<SelfTestRun, 'codeVersion' | 'dataDigest' | 'format'>;

export function isUpToDate(run: SelfTestRun, { codeVersion, dataDigest, format }: SelfTestBasis): boolean {
  const sameBasis = run.codeVersion === codeVersion && run.dataDigest === dataDigest && run.format === format;
  return run.state === 'done' && run.failure === null && sameBasis;
}

export function getSelfTestFailure(run: SelfTestRun | null): SelfTestFailure | null {
  if (run === null) return null;
  const { state, ranAt: at, reason, codeVersion, failure } = run;
  return state === 'failed' ? { at, reason: reason ?? 'unknown', codeVersion } : failure;
}

type PolymarketComparison = z.output<typeof POLYMARKET_COMPARISON>;

const OWN_QUOTES_NOTE =
  'NOT A REAL MARKET: these quotes are made by the paper venue of this service, from its own volatility forecast. Matching or beating them proves nothing.';
const GATED_NOTE = 'It covers days up to `throughDate`, whose forecasts are public. Later days would disclose an unresolved forecast.';
const FIRST_PRICE_NOTE =
  "Each market counts once, by its first pinned price, beside the model's probability of the same strike at the same time.";

export function composePolymarketComparison(context: Context, now: Date) {
  const { known } = context.record;
  const [all, through] = [listPins(known), known.getLastPublicDay(now)];
  const days = all.filter(({ day, venue }) => day <= through && context.venue.sameBook.includes(venue));
  return { report: buildComparisonReport(days, through, context.crowd.compareWagers(now)), days };
}

function buildComparisonReport(pins: readonly CrowdPin[], through: Day, headToHead: MarketComparison): PolymarketComparison {
  const settled = pins.filter(isSettledPin);
  // The oracle's probability in place of the price, scored by the same rules.
  const byOracle = settled.map((pin) => ({ ...pin, pMarket: pin.pOracle }));
  const { verdict, ...weekly } = compareWeekly(pins, through).totals;
  const { venue, quotesAreOurs, throughDate, wagers, ...weight } = headToHead;
  return {
    verdict: quotesAreOurs ? `against quotes of our own paper venue, which proves nothing: ${verdict}` : verdict,
    venue,
    quotesAreOurs,
    throughDate: formatDay(through),
    accuracy: { market: toAccuracyReport(settled), oracle: toAccuracyReport(byOracle) },
    weekly,
    weight,
    notes: [...(quotesAreOurs ? [OWN_QUOTES_NOTE] : []), FIRST_PRICE_NOTE, GATED_NOTE],
  };
}

function toAccuracyReport(pins: readonly SettledPin[]) {
  const { reliability, ...report } = computeCrowdAccuracy(pins);
  return report;
}
