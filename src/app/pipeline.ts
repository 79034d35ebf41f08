import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { createGateReader } from '../auth/tiers.ts';
import { createGasCostReader, isSignedBy } from '../chain/contracts.ts';
import { createAttester, listAttestedUids } from '../chain/eas/eas.ts';
import { createReporter } from '../chain/erc8004.ts';
import type { JournalRow, StoredReceipt } from '../chain/journal.ts';
import { followMined } from '../chain/wallet.ts';
import { followPayments, Ledger } from '../commerce/ledger.ts';
import { type Contest, createContest } from '../contest.ts';
import type { Context } from '../context.ts';
import { isReplayUnfinished } from '../dev/replay.ts';
import { OracleError } from '../errors.ts';
import { createDayBaselines } from '../forecast/baselines.ts';
import { type Day, toDay } from '../forecast/day.ts';
import { createMoveReferences } from '../forecast/move-scores.ts';
import { selectWeeklyStrikes } from '../market/feed.ts';
import type { Market } from '../market/market.ts';
import { Forecaster, type PipelineContext } from '../pipeline/forecaster.ts';
import { computeInProcess, type SelfTestDeps, SingleFlightQueue } from '../pipeline/self-test-process.ts';
import { StepRunStore, toPublicStepReason } from '../pipeline/step-runs.ts';
import type { ForecastRecord } from '../record/forecasts.ts';
import { openReportStores } from '../record/reports.ts';
import { type SelfTestService, SelfTestStore } from '../record/self-tests.ts';
import { toExchangeListing } from '../record/trade-intent.ts';
import { PaperVenue, type QuoteReference } from '../wager/paper-venue.ts';
import { type PolymarketStrike, PolymarketVenue } from '../wager/polymarket.ts';
import type { TradingAccount } from '../wager/polymarket-exchange.ts';
import { MICROS } from '../wager/venue.ts';
import { WagerSwitch } from '../wager/wagers.ts';
import type { ServiceCore, Venues } from './core.ts';
import type { EventPublishing } from './events.ts';

export function composePipeline(core: ServiceCore, push: EventPublishing, version: string): PipelineContext {
  const { config, log, db, chain, wallets } = core;
  return {
    ...core,
    baselines: createDayBaselines(),
    moveReferences: createMoveReferences(),
    forecaster: new Forecaster(core.models, config.MODEL_CHAMPION),
    attester: createAttester(chain, wallets.attester),
    reporter: createReporter({ chain, wallet: wallets.reporter, agentId: async () => core.agentId }),
    placeWagers: config.WAGERS !== 'off' && config.WAGER_KILL_SWITCH === 'off',
    minStakeMicros: config.WAGER_MIN_STAKE_USD * MICROS,
    wagerSwitch: new WagerSwitch(db),
    findHoldReason: async () => ((await isReplayUnfinished(db)) ? 'the replay of past days is not finished; npm start finishes it' : null),
    reports: openReportStores(db),
    selfTests: composeSelfTests(core, version),
    runs: new StepRunStore(db, log),
    publishChanges: () => push.publish(),
    followChain: composeChainFollower(core),
  };
}

export function composeContest(context: Context): Contest {
  const { chain, agentId } = context;
  const readGate = createGateReader(chain);
  return createContest({
    ...context,
    deployment: { chainId: chain.chainId, identityRegistry: chain.addresses.identityRegistry, agentId },
    isSignedBy: (signed) => isSignedBy(chain, signed),
    isHolder: async (wallet) => (await readGate(wallet)).tier !== 'public',
  });
}

/** Their steps send them again, with the data that are right by then: what they do not want any more frees its nonce later. */
const SENT_BY_STEPS = ['attest', 'resolve', 'feedback'];
const STEPS_TURN_MS = 15 * 60_000;

const getPurpose = ({ key }: JournalRow) => key.split(':', 1)[0]!;

/**
 * Follows what was mined until it is final. What a reorganisation took off the chain is open again: its step, or its wallet, sends it once more.
 * A prediction that comes too late by then is void.
 */
function composeChainFollower(deps: ServiceCore): () => Promise<void> {
  const { chain, db, journal, log, now } = deps;
  const ledger = new Ledger(db);
  return async () => {
    const parts = [
      () => followMined({ chain, journal, now, onLost: (row, receipt) => takeBack(deps, row, receipt) }),
      () => resumeLost(deps),
      () => followPayments({ chain, ledger, log, now }),
    ];
    const errors: unknown[] = [];
    for (const part of parts) await part().catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw errors[0];
  };
}

async function resumeLost({ chain, journal, wallets, log, now }: ServiceCore): Promise<void> {
  for (const row of await journal.listLost(chain.chainId)) {
    const wallet = wallets[row.role as keyof typeof wallets] ?? null;
    const isStepsTurn = SENT_BY_STEPS.includes(getPurpose(row)) && now().getTime() - row.lost!.at.getTime() < STEPS_TURN_MS;
    if (wallet === null || isStepsTurn) continue;
    const warn = (error: unknown) => log.warn({ err: error, txKey: row.key }, 'a lost transaction is not sent again yet');
    await wallet.resume(row).catch(warn);
  }
}

async function takeBack({ chain, record, wagers, log }: ServiceCore, row: JournalRow, receipt: StoredReceipt): Promise<void> {
  const { key, state } = row;
  const { hash, blockNumber, at } = receipt;
  log.error({ txKey: key, txHash: hash, blockNumber, state }, 'a reorganisation took a transaction out of its block');
  const gone = { uids: listAttestedUids(receipt, chain.addresses.eas), blockNumber };
  const purpose = getPurpose(row);
  if (purpose === 'attest') await record.rewindPredictions(gone);
  if (purpose === 'resolve') await record.rewindReveals(gone);
  if (purpose === 'feedback') await wagers.rewindFeedback({ hash, at });
}

/** Dependencies of the self-tests, which run in a child process that ends with this one. */
function composeSelfTests({ shutdown, db, chain, wallets, now }: ServiceCore, version: string): SelfTestDeps {
  return {
    store: new SelfTestStore(db),
    compute: (input, names) => computeInProcess({ input, names }, { signal: shutdown.signal }),
    queue: new SingleFlightQueue(),
    codeVersion: computeCodeVersion(version),
    startedAt: now(),
    gasCosts: createGasCostReader(db, { chainId: chain.chainId, addresses: [wallets.attester.address, wallets.reporter.address] }),
  };
}

/** Read access to stored self-tests. `getStartupStep` returns null once the start is complete. */
export function composeSelfTestService({ selfTests, market, runs }: PipelineContext, getStartupStep: () => string | null): SelfTestService {
  const { store, codeVersion, startedAt } = selfTests;
  return {
    store,
    codeVersion,
    getLastCoveredDay: async () => (await market.coverage()).lastDay,
    getRunningSince: () => (getStartupStep() === null ? startedAt : null),
    async explainWaiting(step) {
      const run = (await runs.listLatest()).find((one) => one.step === step);
      if (run !== undefined && run.state !== 'done') return toPublicStepReason(run);
      return getStartupStep();
    },
  };
}

const ROOT = resolve(import.meta.dirname, '../..');
const HASHED_FOLDER = 'src/forecast';

/** In the project's folder the digest equals `find src/forecast -name '*.ts' | LC_ALL=C sort | xargs sha256sum | sha256sum`. */
export function computeCodeVersion(version: string): string {
  return `${version}+sha256:${hashFiles(listSourceFiles())}`;
}

/** Paths as `find` prints them, in byte order. */
function listSourceFiles(): string[] {
  return readdirSync(join(ROOT, HASHED_FOLDER), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${HASHED_FOLDER}/${path.split(sep).join('/')}`)
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function hashFiles(paths: readonly string[]): string {
  const list = createHash('sha256');
  for (const path of paths) {
    const content = readFileSync(join(ROOT, path));
    list.update(`${createHash('sha256').update(content).digest('hex')}  ${path}\n`);
  }
  return list.digest('hex');
}

export function composeVenues(base: Omit<ServiceCore, 'crowd' | 'viewFor' | 'venueMarkets' | keyof Venues>): Venues {
  const { config, db, record, market } = base;
  const paper = new PaperVenue({
    db,
    openingBalanceMicros: config.PAPER_BANKROLL_USD * MICROS,
    reference: createReferenceReader(record),
    close: async (day, at) => (await market.dailyClose(day, at.getTime())).priceUsd,
  });
  const polymarket = createPolymarketVenues(base);
  const venue = config.WAGERS === 'polymarket' ? polymarket[0] : paper;
  return { venue, otherVenues: [paper, ...polymarket].filter((other) => other !== venue), paper };
}

/** Polymarket in the configured mode first, then the other mode, which may hold open wagers. */
function createPolymarketVenues({
  config,
  log,
  db,
  market,
  now,
}: Parameters<typeof composeVenues>[0]): [PolymarketVenue, ...PolymarketVenue[]] {
  const wagerSwitch = new WagerSwitch(db);
  const open = (account: TradingAccount | null) =>
    new PolymarketVenue({
      db,
      host: config.POLYMARKET_HOST,
      account,
      dryRunBalanceMicros: config.PAPER_BANKROLL_USD * MICROS,
      maxStakeUsd: config.WAGER_MAX_STAKE_USD,
      maxOpenUsd: config.WAGER_MAX_OPEN_USD,
      killSwitch: config.WAGER_KILL_SWITCH === 'on',
      isPaused: async () => (await wagerSwitch.getState()).paused,
      strikes: (at) => listPolymarketStrikes(market, at),
      now,
      log,
    });
  const { POLYMARKET_PRIVATE_KEY: privateKey, POLYMARKET_SIGNATURE_TYPE: signatureType, POLYMARKET_FUNDER: funder } = config;
  const dryRunVenue = open(null);
  if (privateKey === undefined) return [dryRunVenue];
  const liveVenue = open({ privateKey, signatureType, funder });
  return config.POLYMARKET_DRY_RUN ? [dryRunVenue, liveVenue] : [liveVenue, dryRunVenue];
}

async function listPolymarketStrikes(market: Market, at: Date): Promise<PolymarketStrike[]> {
  const strikes = selectWeeklyStrikes(await market.strikes(at.getTime()), at.getTime());
  return strikes.flatMap((strike) => {
    const listing = toExchangeListing(strike);
    if (strike.venue !== 'polymarket' || listing === null) return [];
    const { question, strikeUsd, expiresAtMs } = strike;
    return [{ conditionId: listing.conditionId, question, strikeUsd, expiresAt: new Date(expiresAtMs), listing }];
  });
}

/** Keeps the last one: a stored day never changes. */
function createReferenceReader(record: ForecastRecord): (at: Date) => Promise<QuoteReference> {
  let latest: { day: Day; reference: QuoteReference } | undefined;
  return async (at) => {
    const day = toDay(at.getTime());
    if (latest?.day === day) return latest.reference;
    const stored = await record.findDay(day);
    if (!stored?.price || !stored.variance) throw new OracleError('STEP_WAITING', 'The paper venue quotes once the day has its forecast');
    latest = { day, reference: { spotUsd: stored.price.cents / 100, dailyVolatility: Math.sqrt(stored.variance.v94) } };
    return latest.reference;
  };
}
