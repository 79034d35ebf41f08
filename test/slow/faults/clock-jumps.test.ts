import { afterAll, beforeAll, expect, it } from 'vitest';
import { composeContest } from '../../../src/app/pipeline.ts';
import { audit } from '../../../src/audit/audit.ts';
import { type Chain, createChain, readPendingBlockTime } from '../../../src/chain/client.ts';
import { openRecordPrices } from '../../../src/cli/audit.ts';
import { claimsOf, openAuditChain } from '../../../src/cli/svc/audit-options.ts';
import { isOracleError } from '../../../src/errors.ts';
import { type Day, formatDay, toInstantMs } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { createLiveContext, getStepDueMs, getWindowOpensMs, type PipelineContext } from '../../../src/pipeline/forecaster.ts';
import { catchUp } from '../../../src/pipeline/pipeline.ts';
import { createTrustedTime } from '../../../src/platform/time.ts';
import { CLOCK_JUMPS, createJumpingClock } from '../../support/clock/jumping-clock.ts';
import { atCommand } from '../../support/faults/command-moments.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';
import { serve } from '../../support/http/serve.ts';
import { attestedOnChain, type TestService, testService, today } from '../../support/service/service.ts';

/** Each jump at so many moments of each part of a day, and as often its end. */
const MOMENTS = 6;
/** Of the chain's clock, over midnight and back. */
const CHAIN_JUMPS_MS = [12 * 60_000, -12 * 60_000] as const;
/** Within the retention of events. */
const DAYS = (CLOCK_JUMPS.length * 2 + CHAIN_JUMPS_MS.length) * MOMENTS;
/** A worker that is done needs no more. */
const MAX_REPEATS = 5;

interface Jump {
  name: string;
  aheadMs: number;
  /** Whether the clock jumps in mid-step; else it is wrong from the beginning, and corrected in mid-step. */
  begins: boolean;
  /** From 0 on, of the moments in a part of the day. */
  moment: number;
}

/** A worker whose clock is wrong makes few commands: the clock is corrected at one of the first. */
const getCommand = ({ begins, moment }: Jump, undisturbed: number) =>
  begins ? Math.ceil((undisturbed * (moment + 0.5)) / MOMENTS) : 1 + 2 * moment;

const JUMPS: Jump[] = Array.from({ length: MOMENTS }, (_, moment) => moment).flatMap((moment) =>
  CLOCK_JUMPS.flatMap(([name, aheadMs]) => [true, false].map((begins) => ({ name, aheadMs, begins, moment }))),
);

let database: FaultedDatabase;
let service: TestService;
let chain: Chain;
const clock = createJumpingClock();
const counts = { jumps: 0, waits: 0, runs: 0 };
/** Commands of each part of an undisturbed day. */
let commands: number[] = [];

beforeAll(async () => {
  database = await faultedDatabase();
  service = await testService(DAYS + 1, { MONGODB_URI: database.proxy.uri });
  const { http, infrastructure } = service;
  const { chainId, addresses } = http.chain;
  chain = await createChain({ rpcUrl: infrastructure.rpcUrl, chainId, addresses, confirmations: 1, pollingIntervalMs: 2 });
});
afterAll(async () => {
  await service.stop();
  await database.drop();
});

/** The parts of a worker: its clock may be wrong, those of database and chain are correct. */
function createWorker(): { parts: PipelineContext; runContest(): Promise<unknown> } {
  const time = createTrustedTime({
    now: clock.now,
    async databaseNow() {
      // A round trip, as of the command that it stands for.
      await database.db.command({ ping: 1 });
      return clock.trueNow();
    },
    newestBlockAt: () => readPendingBlockTime(chain),
  });
  const contest = composeContest({ ...service.http, chain, time, now: clock.now });
  return { parts: { ...service.pipeline, time }, runContest: () => contest.run() };
}

/** As the job does; returns whether nothing waits. */
async function runWorker({ parts, runContest }: ReturnType<typeof createWorker>): Promise<boolean> {
  const reports = await catchUp(parts, createLiveContext(parts, clock.now()));
  await runContest();
  const failed = reports.filter(({ outcome }) => 'failed' in outcome);
  expect(failed).toEqual([]);
  const waiting = reports.filter(({ outcome }) => 'waiting' in outcome);
  counts.runs += reports.length;
  counts.waits += waiting.length;
  return waiting.length === 0;
}

/** A chain whose clock has run ahead makes no earlier block, and waits. */
async function setChainTime(ms: number): Promise<void> {
  await service.infrastructure.localChain!.setNextBlockTime(ms).catch((error: unknown) => {
    if (!isOracleError(error, 'INPUT_INVALID')) throw error;
  });
}

/** One part of a day at its correct time: the clock jumps within it, stays wrong for another run, and is corrected. */
async function runPart(trueMs: number, jump: Jump | null, undisturbed = 0): Promise<number> {
  clock.setTrueTime(trueMs);
  await setChainTime(trueMs);
  const worker = createWorker();
  const nth = jump === null ? Number.POSITIVE_INFINITY : getCommand(jump, undisturbed);
  if (jump !== null && !jump.begins) clock.setAhead(jump.aheadMs);
  const made = atCommand(database.proxy, nth, () => {
    counts.jumps += 1;
    clock.setAhead(jump!.begins ? jump!.aheadMs : 0);
  });
  let isDone = await runWorker(worker);
  if (jump?.begins) isDone = await runWorker(worker);
  database.proxy.plan(null);
  clock.setAhead(0);
  for (let repeat = 0; !isDone || (repeat === 0 && jump !== null); repeat++) {
    expect(repeat, 'runs with a correct clock').toBeLessThan(MAX_REPEATS);
    isDone = await runWorker(worker);
  }
  return made.count();
}

/** Signal, commitment, wager and outcomes; with `late` minutes before midnight. */
function getPartTimes(day: Day, late: boolean): number[] {
  const at = (hours: number, minutes: number) => toInstantMs(day, hours, minutes);
  const evening = late
    ? [at(23, 50), at(23, 52), at(23, 54)]
    : (['signal', 'attest', 'wager'] as const).map((step) => getStepDueMs(step, day) + 5_000);
  return [...evening, getWindowOpensMs(day) + 120_000];
}

const isLate = (jump: Jump | null) => jump !== null && Math.abs(jump.aheadMs) < 3_600_000;

async function runDay(day: Day, jump: Jump | null): Promise<number[]> {
  const made: number[] = [];
  for (const [part, ms] of getPartTimes(day, isLate(jump)).entries()) {
    made.push(await runPart(ms, jump, commands[part]));
    expect(await service.pipeline.record.findLastDay(), 'the last forecast').toBe(day);
  }
  return made;
}

/** A late day in whose commitment the chain's clock jumps; returns whether the commitment was in time. */
async function runDayWithChainJump(day: Day, aheadMs: number, moment: number): Promise<boolean> {
  // So late, forecast and commitment are one part.
  const [evening, ...rest] = getPartTimes(day, true);
  clock.setTrueTime(evening);
  await setChainTime(evening);
  let jumped: Promise<void> | undefined;
  atCommand(database.proxy, Math.ceil((commands[0] * (moment + 0.5)) / MOMENTS), () => {
    jumped = setChainTime(evening + aheadMs);
  });
  while (!(await runWorker(createWorker())));
  await jumped;
  database.proxy.plan(null);
  for (const ms of rest) await runPart(ms, null);
  const states = new Set((await service.pipeline.record.listByDay(day)).map(({ state }) => state));
  expect([...states]).toHaveLength(1);
  return states.has('PENDING');
}

async function expectOneEffect(day: Day, late: boolean, inTime = true): Promise<void> {
  const { record, wagers, runs } = service.pipeline;
  const [signalMs] = getPartTimes(day, late);
  const opensAt = new Date(getWindowOpensMs(day));
  const stored = (await record.findDay(day))!;
  expect(stored.missedBecause).toBeNull();
  expect(Math.abs(stored.signalAt.getTime() - signalMs), 'time of the forecast').toBeLessThan(60_000);
  const forecasts = await record.listByDay(day);
  expect(forecasts.map(({ horizonDays, state }) => [horizonDays, state])).toEqual(
    HORIZONS.map((horizon) => [horizon, inTime ? 'PENDING' : 'VOID']),
  );
  for (const { attestation, btcAtSignalCents } of forecasts) {
    expect(attestation!.at < opensAt).toBe(inTime);
    expect(btcAtSignalCents).not.toBeNull();
  }
  expect(await database.direct.db.collection('transactions').countDocuments({ key: `attest:${formatDay(day)}` })).toBe(1);
  const wager = (await wagers.findByDay(day))!;
  expect(wager.decidedAt.getTime()).toBeLessThan(opensAt.getTime());
  expect(await record.listDueForResolution(clock.trueNow())).toEqual([]);
  expect(await wagers.listUnsettled(clock.trueNow())).toEqual([]);
  expect(await runs.listBetween(['signal', 'attest', 'wager', 'resolve'], day + 2, day + 9)).toEqual([]);
}

async function expectWholeRecord(days: number): Promise<void> {
  const { record, wagers } = service.pipeline;
  expect(await record.days.countDocuments()).toBe(days);
  expect(await record.forecasts.countDocuments()).toBe(days * HORIZONS.length);
  expect(await wagers.wagers.countDocuments()).toBe(days);
  expect(await attestedOnChain(service, 'prediction')).toBe(days * HORIZONS.length);
  const revealed = record.known.listAll().filter(({ reveal }) => reveal !== null);
  expect(await attestedOnChain(service, 'resolution')).toBe(revealed.length);
  for (const { reveal, resolution, resolvesAt } of revealed) {
    expect(reveal!.at.getTime()).toBeGreaterThanOrEqual(resolvesAt.getTime());
    expect(resolution!.decidedAt.getTime()).toBeGreaterThanOrEqual(resolvesAt.getTime());
  }
  const events = await service.push.events.after(0, 100_000);
  expect(events.map(({ _id }) => _id)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ type }) => type === 'signal.new').length).toBe(days * HORIZONS.length);
  const reported = await wagers.wagers.countDocuments({ feedbackTxHash: { $ne: null } });
  expect((await service.http.reputation())?.total ?? 0).toBe(reported);
}

async function auditRecord(): Promise<object[]> {
  const { http, infrastructure, pipeline } = service;
  const { eas, schemaRegistry } = http.chain.addresses;
  const served = await serve(service);
  const now = new Date();
  const report = await audit({
    chain: await openAuditChain({ rpcUrl: infrastructure.rpcUrl, eas, schemaRegistry }),
    attester: http.wallets.attester.address,
    prices: await openRecordPrices(pipeline.market.source, { feeds: 'simulated', now }),
    claims: claimsOf(served.url),
    now,
  });
  await served.close();
  return report.differences;
}

it('has each day once, whenever the clock of its worker jumps over midnight', { timeout: 1_800_000 }, async () => {
  const first = today() - DAYS - 1;
  commands = await runDay(first, null);
  for (const [index, jump] of JUMPS.entries()) {
    const day = first + 1 + index;
    try {
      await runDay(day, jump);
      await expectOneEffect(day, isLate(jump));
    } catch (cause) {
      throw new Error(`${formatDay(day)}, after ${JSON.stringify(jump)}: ${(cause as Error).message}`, { cause });
    }
  }
  let day = first + 1 + JUMPS.length;
  let missed = 0;
  for (const aheadMs of CHAIN_JUMPS_MS) {
    for (let moment = 0; moment < MOMENTS; moment++, day++) {
      const inTime = await runDayWithChainJump(day, aheadMs, moment);
      await expectOneEffect(day, true, inTime);
      if (!inTime) missed += 1;
    }
  }
  await expectWholeRecord(day - first);
  expect(await auditRecord()).toEqual([]);
  const { jumps, waits, runs } = counts;
  process.stdout.write(`clock: ${jumps} jumps in ${JUMPS.length} days, ${runs} runs of steps, ${waits} of which waited\n`);
  process.stdout.write(
    `  the chain's clock: ${CHAIN_JUMPS_MS.length * MOMENTS} jumps, after ${missed} of which the commitment was late and the day void\n`,
  );
  process.stdout.write(`  moments: of ${commands.join(' + ')} commands a day; jumps: ${CLOCK_JUMPS.map(([name]) => name).join(', ')}\n`);
});
