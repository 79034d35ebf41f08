import type { Collection, Db } from 'mongodb';
import type { Attester } from '../chain/eas/eas.ts';
import { isOracleError, OracleError } from '../errors.ts';
import { type Day, formatDay, HOUR_MS, SECOND_MS } from '../forecast/day.ts';
import type { FeedCoverage } from '../market/feed.ts';
import { getStepDueMs, getWindowOpensMs, type PipelineContext } from '../pipeline/forecaster.ts';
import { runStep } from '../pipeline/pipeline.ts';
import type { StepName } from '../pipeline/step-runs.ts';
import { runAll } from '../platform/concurrency.ts';
import { damagedPartError } from '../platform/data-dir.ts';
import { createReplayTime } from '../platform/time.ts';
import type { ForecastRecord } from '../record/forecasts.ts';
import type { LocalChain } from './local-chain/local-chain.ts';

export interface ReplayRange {
  from: Day;
  to: Day;
}

/** Upper bound of the outcome steps, whose transactions take a block each, at most a second apart. */
const PUBLISH_EVERY_DAYS = 100;
/** At its end the record in memory has them all, also in a process that does not follow it. */
const BATCH_DAYS = 30;

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

interface ReplayOptions {
  db: Db;
  pipeline: PipelineContext;
  /** Requested range; an interrupted replay keeps its own. */
  range: ReplayRange | null;
  chain: Pick<LocalChain, 'setNextBlockTime' | 'readLastBlockMs'>;
  /** Publishes the events of the days so far, which would fill the memory at the end of a long replay. */
  publish?(): Promise<unknown>;
  onProgress(progress: { done: number; total: number; day: Day }): void;
  signal: AbortSignal;
}

/** At their own dates, with the chain's clock. An existing record is left as it is. @throws OracleError STEP_WAITING, SHUTTING_DOWN, DATA_DIR_DAMAGED */
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
  for (let from = first; from <= plan.to; from += BATCH_DAYS) {
    const last = Math.min(from + BATCH_DAYS - 1, plan.to);
    await options.pipeline.record.known.deferring(async () => {
      const begun: BegunStep[] = [];
      let commitment: BegunStep | undefined;
      try {
        for (let day = from; day <= last; day++) {
          options.signal.throwIfAborted();
          const position = { isFirst: day === first, endsReplay: day === plan.to, endsBatch: day === last };
          commitment = await replayDay(batched, day, { ...position, commitment, begun });
          await runs.flush();
          if (day < last) await complete(day);
        }
      } catch (error) {
        await runs.flush();
        for (const step of begun) await step.abandon(error);
        throw error;
      }
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

interface NewReplay extends Pick<ReplayOptions, 'db' | 'range'> {
  record: Pick<ForecastRecord, 'findGenesisDay'>;
  chain: Pick<LocalChain, 'readLastBlockMs'>;
}

/** Whether past days remain to be replayed: on a first start, and after an interrupted one. */
export async function hasDaysToReplay(options: NewReplay): Promise<boolean> {
  const plan = await options.db.collection<ReplayPlan>('replay').findOne({ _id: 'replay' });
  return plan === null ? (await findNewRange(options)) !== null : plan.through !== plan.to;
}

/**
 * First day of a record that a replay of the whole range would have begun earlier, null before the first day; undefined where the range is
 * replayed, or has been. A replay is part of the first start alone.
 */
export async function findLaterBeginning(options: NewReplay): Promise<Day | null | undefined> {
  const { db, range, record } = options;
  if (range === null || (await hasDaysToReplay(options))) return undefined;
  const plan = await db.collection<ReplayPlan>('replay').findOne({ _id: 'replay' });
  const begins = plan?.from ?? (await record.findGenesisDay());
  return begins === null || begins > range.from ? begins : undefined;
}

async function findOrCreatePlan(plans: Collection<ReplayPlan>, { db, range, pipeline, chain }: ReplayOptions): Promise<ReplayPlan | null> {
  const known = await plans.findOne({ _id: 'replay' });
  if (known !== null) return known;
  const days = await findNewRange({ db, range, record: pipeline.record, chain });
  if (days === null) return null;
  // With a clock ahead, days that are not over would be replayed.
  await pipeline.time.describe();
  const plan: ReplayPlan = { _id: 'replay', ...days, through: null };
  await plans.insertOne(plan);
  return plan;
}

/** Of an empty record: the days whose commitment the chain can still date. One that was begun without a history, or for fewer days, is past the others. */
async function findNewRange({ range, record, chain }: NewReplay): Promise<ReplayRange | null> {
  if (range === null || (await record.findGenesisDay()) !== null) return null;
  const lastBlockMs = await chain.readLastBlockMs();
  let { from } = range;
  while (from <= range.to && getStepDueMs('attest', from) < lastBlockMs) from += 1;
  return from > range.to ? null : { from, to: range.to };
}

/** Of the days that a call replays. */
interface DayPosition {
  isFirst: boolean;
  endsReplay: boolean;
  /** The next day begins only once this one is stored. */
  endsBatch: boolean;
  /** Where it has begun during the day before. */
  commitment: BegunStep | undefined;
  /** Receives the steps that begin. */
  begun: BegunStep[];
}

/**
 * Steps without effect on each other run concurrently: those of wagers and the next day's signal do not use the chain, and what a step reads
 * and stores before its transaction need not wait for the transactions before it. Resolves to the commitment of the next day.
 */
async function replayDay(options: ReplayOptions, day: Day, position: DayPosition): Promise<BegunStep | undefined> {
  if (position.isFirst) await signalDay(options, day);
  const opensMs = getWindowOpensMs(day);
  const begin = (step: StepName, of: Day, ms: number): BegunStep => {
    const begun = beginStep(options, step, of, ms);
    position.begun.push(begun);
    return begun;
  };
  const commitment = position.commitment ?? begin('attest', day, getStepDueMs('attest', day));
  const resolution = begin('resolve', day, opensMs);
  const commitAndResolve = async () => {
    await commitDay(options, day, commitment, position);
    await runAll([resolveDay(options, day, resolution), runStepAt(options, 'open-window', day, opensMs)]);
  };
  const wagerAndSettle = async () => {
    await runStepAt(options, 'wager', day, getStepDueMs('wager', day));
    await runStepAt(options, 'settle', day, opensMs);
  };
  const nextSignal = position.endsReplay ? Promise.resolve() : signalDay(options, day + 1);
  let next: BegunStep | undefined;
  const beginNext = async () => {
    await runAll([commitment.done, nextSignal]);
    if (!position.endsBatch) next = begin('attest', day + 1, getStepDueMs('attest', day + 1));
  };
  await runAll([commitAndResolve(), wagerAndSettle(), beginNext()]);
  await runStepAt(options, 'reputation', day, opensMs);
  return next;
}

function signalDay(options: ReplayOptions, day: Day): Promise<void> {
  return runStepAt(options, 'signal', day, getStepDueMs('signal', day));
}

function commitDay(options: ReplayOptions, day: Day, commitment: BegunStep, { isFirst }: DayPosition): Promise<void> {
  return commitment.sendAfter(async () => {
    // By an interrupted replay.
    const isCommitted = isFirst && !(await options.pipeline.record.listUnattestedDays()).includes(day);
    const beforeOpening = { fromMs: getStepDueMs('attest', day), throughMs: getWindowOpensMs(day) - SECOND_MS };
    if (!isCommitted) await advanceChainTime(options, day, beforeOpening);
  });
}

function resolveDay(options: ReplayOptions, day: Day, resolution: BegunStep): Promise<void> {
  const opensMs = getWindowOpensMs(day);
  const atOpening = { fromMs: opensMs, throughMs: opensMs + HOUR_MS - SECOND_MS };
  return resolution.sendAfter(() => advanceChainTime(options, day, atOpening));
}

/** A step that has begun, and whose transaction waits. */
interface BegunStep {
  done: Promise<void>;
  /** Sends the transaction after `prepare`, without which the step fails; resolves once the step is done. */
  sendAfter(prepare: () => Promise<void>): Promise<void>;
  /** Fails a step that waits, and resolves once it has ended. */
  abandon(reason: unknown): Promise<void>;
}

function beginStep(options: ReplayOptions, step: StepName, day: Day, ms: number): BegunStep {
  const ready = Promise.withResolvers<void>();
  const done = runStepAt(sendingAfter(ready.promise, options), step, day, ms);
  // Awaited later, if at all.
  for (const promise of [ready.promise, done]) promise.catch(() => undefined);
  return {
    done,
    async sendAfter(prepare) {
      await prepare().then(ready.resolve, ready.reject);
      await ready.promise;
      await done;
    },
    async abandon(reason) {
      ready.reject(reason);
      await done.catch(() => undefined);
    },
  };
}

function sendingAfter(ready: Promise<void>, { pipeline, ...options }: ReplayOptions): ReplayOptions {
  const { attestPredictions, attestResolutions } = pipeline.attester;
  const attester: Attester = {
    ...pipeline.attester,
    attestPredictions: (...commitment) => ready.then(() => attestPredictions(...commitment)),
    attestResolutions: (...outcomes) => ready.then(() => attestResolutions(...outcomes)),
  };
  return { ...options, pipeline: { ...pipeline, attester } };
}

async function runStepAt({ pipeline }: ReplayOptions, step: StepName, day: Day, ms: number): Promise<void> {
  const now = new Date(ms);
  const outcome = await runStep(pipeline, step, day, { now, replayed: true, time: createReplayTime(now) });
  if ('done' in outcome) return;
  const reason = 'waiting' in outcome ? outcome.waiting : outcome.failed;
  throw new OracleError('STEP_WAITING', `The replay of ${formatDay(day)} stopped at ${step}: ${reason}`);
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

/** Block times never decrease: by a block of another program, a chain may be past `throughMs`. */
function requireDatable(lastBlockMs: number, day: Day, throughMs: number): void {
  if (lastBlockMs <= throughMs) return;
  const at = new Date(lastBlockMs).toISOString();
  throw damagedPartError(`The local chain is already at ${at}: ${formatDay(day)} cannot be replayed on it`);
}
