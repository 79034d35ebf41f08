import type { Collection, Db } from 'mongodb';
import type { Attester } from '../chain/eas/attester.ts';
import { type Day, formatDay } from '../forecast/day.ts';
import type { FeedCoverage } from '../market/feed.ts';
import type { PipelineDeps, StepContext } from '../pipeline/deps.ts';
import { getStepDueMs, getWindowOpensMs } from '../pipeline/schedule/step-times.ts';
import { runStep } from '../pipeline/step-registry.ts';
import type { StepName } from '../pipeline/step-run-store.ts';
import { damagedPartError } from '../platform/data-dir/entries.ts';
import { isOracleError, OracleError } from '../platform/errors.ts';
import { createReplayTime } from '../platform/time/trusted-time.ts';
import type { ForecastRecord } from '../record/forecast-record.ts';
import type { LocalChain } from './local-chain/local-chain.ts';

export interface ReplayRange {
  from: Day;
  to: Day;
}

const SECOND_MS = 1_000;
/** Upper bound of the outcome steps, whose transactions take a block each, at most a second apart. */
const HOUR_MS = 3_600_000;
const PUBLISH_EVERY_DAYS = 100;
/** Until then readers may see figures of some days before. */
const ADVANCE_REVISIONS_EVERY_DAYS = 10;

interface ReplayPlan extends ReplayRange {
  _id: 'replay';
  /** Last complete day. */
  through: Day | null;
}

/** The last `days` days with an open window, within the feed's coverage; null for none. */
export function computeReplayRange(coverage: FeedCoverage, today: Day, days: number): ReplayRange | null {
  if (days === 0) return null;
  const to = Math.min(today - 1, coverage.lastDay ?? today - 1);
  return { from: Math.max(coverage.firstDay, to - days + 1), to };
}

export interface ReplayOptions {
  db: Db;
  pipeline: PipelineDeps;
  /** Requested range; an interrupted replay keeps its own. */
  range: ReplayRange | null;
  chain: Pick<LocalChain, 'setNextBlockTime' | 'readLastBlockMs'>;
  /** Publishes the events of the days so far, which would fill the memory at the end of a long replay. */
  publish?(): Promise<unknown>;
  onProgress(progress: { done: number; total: number; day: Day }): void;
  signal: AbortSignal;
}

/** At their own dates, with the chain's clock. Requires an empty record. @throws OracleError STEP_WAITING, SHUTTING_DOWN, DATA_DIR_DAMAGED */
export async function replayDays(options: ReplayOptions): Promise<ReplayRange | null> {
  const plans = options.db.collection<ReplayPlan>('replay');
  const plan = await findOrCreatePlan(plans, options);
  if (plan === null) return null;
  const total = plan.to - plan.from + 1;
  const runs = options.pipeline.runs.batched();
  const batched = { ...options, pipeline: { ...options.pipeline, runs } };
  const complete = async (day: Day) => {
    await plans.updateOne({ _id: 'replay' }, { $set: { through: day } });
    if ((day - plan.from) % PUBLISH_EVERY_DAYS === PUBLISH_EVERY_DAYS - 1) await options.publish?.();
    options.onProgress({ done: day - plan.from + 1, total, day });
  };
  const first = plan.through === null ? plan.from : plan.through + 1;
  for (let from = first; from <= plan.to; from += ADVANCE_REVISIONS_EVERY_DAYS) {
    const last = Math.min(from + ADVANCE_REVISIONS_EVERY_DAYS - 1, plan.to);
    await advanceRevisionsOnceAfter(options.pipeline, async () => {
      let dayBefore = Promise.resolve();
      const store = async (day: Day) => {
        await runs.flush();
        if (day < last) await complete(day);
      };
      for (let day = from; day <= last; day++) {
        options.signal.throwIfAborted();
        const position = { isFirst: day === first, isLast: day === plan.to, dayBefore };
        await replayDay(batched, day, position).catch(async (error) => {
          await runs.flush();
          throw error;
        });
        dayBefore = store(day);
        // Awaited by the next day, or here.
        dayBefore.catch(() => undefined);
      }
      await dayBefore;
    });
    // A replay that is complete has advanced the revisions: nothing else would after a kill.
    await complete(last);
  }
  return { from: plan.from, to: plan.to };
}

/** Whether a replay is incomplete: until it is complete, no step of today may run. */
export async function isReplayUnfinished(db: Db): Promise<boolean> {
  const plan = await db.collection<ReplayPlan>('replay').findOne({ _id: 'replay' });
  return plan !== null && plan.through !== plan.to;
}

/** Whether past days remain to be replayed: on a first start, and after an interrupted one. */
export async function hasDaysToReplay(db: Db, record: Pick<ForecastRecord, 'findGenesisDay'>, range: ReplayRange | null): Promise<boolean> {
  return (range !== null && (await record.findGenesisDay()) === null) || isReplayUnfinished(db);
}

async function findOrCreatePlan(plans: Collection<ReplayPlan>, { range, pipeline, chain }: ReplayOptions): Promise<ReplayPlan | null> {
  const known = await plans.findOne({ _id: 'replay' });
  if (known !== null) return known;
  if (range === null || (await pipeline.record.findGenesisDay()) !== null) return null;
  requireDatable(await chain.readLastBlockMs(), range.from, getStepDueMs('attest', range.from));
  // With a clock ahead, days that are not over would be replayed.
  await pipeline.time.describe();
  const plan: ReplayPlan = { _id: 'replay', ...range, through: null };
  await plans.insertOne(plan);
  return plan;
}

/** An incomplete replay is continued, so the revisions need not advance with each of its days. */
function advanceRevisionsOnceAfter({ record, wagers }: PipelineDeps, work: () => Promise<void>): Promise<void> {
  return record.revision.advanceOnceAfter(() => wagers.revision.advanceOnceAfter(work));
}

/** Of the days that a call replays. */
interface DayPosition {
  isFirst: boolean;
  isLast: boolean;
  /** Fulfilled once the day before is stored as complete: no block of this day may be mined earlier. */
  dayBefore: Promise<void>;
}

/** Steps without effect on each other run concurrently: those of wagers and the next day's signal do not use the chain. */
async function replayDay(options: ReplayOptions, day: Day, position: DayPosition): Promise<void> {
  if (position.isFirst) await signalDay(options, day);
  await runAll([commitAndResolveDay(options, day, position), ...(position.isLast ? [] : [signalDay(options, day + 1)])]);
}

async function commitAndResolveDay(options: ReplayOptions, day: Day, position: DayPosition): Promise<void> {
  await runAll([commitDay(options, day, position), runStepsAt(options, getStepDueMs('wager', day), day, ['wager'])]);
  const opensMs = getWindowOpensMs(day);
  const resolve = async () => {
    const atOpening = { fromMs: opensMs, throughMs: opensMs + HOUR_MS - SECOND_MS };
    await runAll([advanceChainTime(options, day, atOpening), runStepsAt(options, opensMs, day, ['open-window'])]);
    await runStepsAt(options, opensMs, day, ['resolve']);
  };
  await runAll([resolve(), runStepsAt(options, opensMs, day, ['settle'])]);
  await runStepsAt(options, opensMs, day, ['reputation']);
}

function signalDay(options: ReplayOptions, day: Day): Promise<void> {
  return runStepsAt(options, getStepDueMs('signal', day), day, ['signal']);
}

async function commitDay(options: ReplayOptions, day: Day, { isFirst, dayBefore }: DayPosition): Promise<void> {
  // By an interrupted replay.
  const isCommitted = isFirst && !(await options.pipeline.record.listUnattestedDays()).includes(day);
  const dueMs = getStepDueMs('attest', day);
  const beforeOpening = { fromMs: dueMs, throughMs: getWindowOpensMs(day) - SECOND_MS };
  const chainReady = runAll([dayBefore, ...(isCommitted ? [] : [advanceChainTime(options, day, beforeOpening)])]);
  await runAll([chainReady, runStepsAt(attestingAfter(chainReady, options), dueMs, day, ['attest'])]);
}

/** What a step reads and stores before its transaction need not wait for the chain. */
function attestingAfter(ready: Promise<void>, { pipeline, ...options }: ReplayOptions): ReplayOptions {
  const attestPredictions: Attester['attestPredictions'] = async (...commitment) => {
    await ready;
    return pipeline.attester.attestPredictions(...commitment);
  };
  return { ...options, pipeline: { ...pipeline, attester: { ...pipeline.attester, attestPredictions } } };
}

/** Waits for all, so that nothing goes on after an error. */
async function runAll(work: Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(work);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

async function runStepsAt({ pipeline }: ReplayOptions, ms: number, day: Day, steps: readonly StepName[]): Promise<void> {
  const now = new Date(ms);
  const context: StepContext = { now, replayed: true, time: createReplayTime(now) };
  for (const step of steps) {
    const outcome = await runStep(pipeline, step, day, context);
    if ('done' in outcome) continue;
    const reason = 'waiting' in outcome ? outcome.waiting : outcome.failed;
    throw new OracleError('STEP_WAITING', `The replay of ${formatDay(day)} stopped at ${step}: ${reason}`);
  }
}

/** A chain past `throughMs` is rejected: a commitment after the opening of its outcome window would void the day. */
async function advanceChainTime(
  { chain }: ReplayOptions,
  day: Day,
  { fromMs, throughMs }: { fromMs: number; throughMs: number },
): Promise<void> {
  try {
    await chain.setNextBlockTime(fromMs);
  } catch (error) {
    if (!isOracleError(error, 'INPUT_INVALID')) throw error;
    const last = await chain.readLastBlockMs();
    requireDatable(last, day, throughMs);
    await chain.setNextBlockTime(last);
  }
}

/** Block times never decrease: a chain created without a history, or for fewer days, may be past `throughMs`. */
function requireDatable(lastBlockMs: number, day: Day, throughMs: number): void {
  if (lastBlockMs <= throughMs) return;
  const at = new Date(lastBlockMs).toISOString();
  throw damagedPartError(`The local chain is already at ${at}: ${formatDay(day)} cannot be replayed on it`);
}
