import type { Collection, Db, Filter } from 'mongodb';
import { type Address, type Hex, hashTypedData, toHex } from 'viem';
import { PUBLIC_CALLER } from './auth/caller.ts';
import { getErrorMessage, isOracleError, OracleError } from './errors.ts';
import { DAY_MS, type Day, formatDay, formatWeek, getLastDayOfWeek, toDay, toInstantMs, toWeek } from './forecast/day.ts';
import { mean } from './forecast/math.ts';
import { brierScore } from './forecast/signal.ts';
import type { Market } from './market/market.ts';
import { BUDGET_INDEX, type BudgetUnit, RangeBudget, type RangeLimits } from './platform/budgets.ts';
import type { Log } from './platform/log.ts';
import { type CollectionIndexes, isDuplicateKey, isFirstWrite } from './platform/mongo.ts';
import { confirmIfUncertain } from './platform/retry.ts';
import type { TrustedTime } from './platform/time.ts';
import { type DayDoc, fromCents, toCents } from './record/forecast-doc.ts';
import type { ForecastRecord } from './record/forecasts.ts';
import { computeStrikeProbability } from './record/market.ts';
import type { ModelStore } from './record/model-card.ts';
import { mayRead } from './record/visibility.ts';
import { buildStrikesAround } from './wager/venue.ts';

type Page = { limit: number; offset: number };

export type Contest = ReturnType<typeof createContest>;

export function createContest(options: ContestOptions) {
  const { db } = options;
  // A round takes commitments for a week.
  const openEntries = (limits: RangeLimits) =>
    new RangeBudget(db.collection<BudgetUnit>('contest_entrants'), { limits, windowMs: 8 * DAY_MS });
  const deps: ContestDeps = {
    ...options,
    rounds: db.collection('contest_rounds'),
    commitments: db.collection('contest_commitments'),
    standings: db.collection('contest_wallet_standings'),
    entrants: openEntries(ENTRY_LIMITS),
    holders: openEntries(HOLDER_LIMITS),
  };
  return {
    getStatus: () => readStatus(deps),
    /** Newest first. */
    listRounds: (page: Page) => listRounds(deps, page),
    /** Ranked wallets first, then those with too few rounds. */
    listStandings: (page: Page) => listStandings(deps, page),
    /** @param address of the client, as the rate limits key it */
    commit: (commitment: SignedCommitment, address: string) => acceptCommitment(deps, commitment, address),
    run: () => runContest(deps),
  };
}

async function readStatus({ rounds, commitments, deployment, now }: ContestDeps) {
  const [undecided, resolved, voided, total] = await Promise.all([
    rounds.find(UNDECIDED, { sort: { _id: 1 } }).toArray(),
    ...(['RESOLVED', 'VOID'] as const).map((state) => rounds.countDocuments({ state })),
    // The database keeps this count: no document is read.
    commitments.estimatedDocumentCount(),
  ]);
  const views = undecided.map((round) => toRoundView(round, now()));
  return {
    open: views.find(({ state }) => state === 'OPEN') ?? null,
    running: views.filter(({ state }) => state === 'RUNNING'),
    counts: { resolved, void: voided, commitments: total },
    domain: buildContestDomain(deployment),
  };
}

async function listRounds({ rounds, now }: ContestDeps, { limit, offset }: Page) {
  const page = await rounds.find().sort({ _id: -1 }).skip(offset).limit(limit).toArray();
  return { rounds: page.map((round) => toRoundView(round, now())), total: await rounds.estimatedDocumentCount() };
}

async function listStandings({ standings }: ContestDeps, { limit, offset }: Page) {
  const page = { projection: { rounds: 0 }, hint: STANDING_ORDER, skip: offset, limit } as const;
  const rows = await standings.find<Omit<StandingDoc, 'rounds'>>({}, page).sort(STANDING_ORDER).toArray();
  const views = rows.map(({ _id: wallet, ranked, points, scoredRounds, brier, oracleBrier, meanDifference }, index) => ({
    rank: ranked ? offset + index + 1 : null,
    ...{ wallet, points, rounds: scoredRounds },
    ...{ brier: roundToMicro(brier), oracleBrier: roundToMicro(oracleBrier), meanDifference: roundToMicro(meanDifference) },
  }));
  return { standings: views, total: await standings.estimatedDocumentCount() };
}

/** A round opens by its time, not when the job runs. The oracle's probabilities show once it is RESOLVED. */
function toRoundView(round: RoundDoc, now: Date) {
  const { state, opensAt, resolvesAt, outcome, pinned } = round;
  return {
    round: round._id,
    state: state === 'OPEN' && now >= opensAt ? ('RUNNING' as const) : state,
    listedAt: round.listedAt.toISOString(),
    deadline: opensAt.toISOString(),
    resolvesAt: resolvesAt.toISOString(),
    decidingDate: formatDay(getDecidingDay(round)),
    listingPrice: round.listing.spotUsd,
    markets: round.markets.map((market) => toMarketView(market, round)),
    close: outcome && fromCents(outcome.closeCents),
    oracleForecastDate: state === 'RESOLVED' ? formatDay(pinned!.day) : null,
    voidBecause: round.voidBecause,
  };
}

function toMarketView({ id, strikeUsd, oracleBps, above }: MarketDoc, round: RoundDoc) {
  const view = { market: id, question: formatMarketQuestion(round, { strikeUsd }), strikeUsd };
  if (round.state !== 'RESOLVED') return { ...view, outcome: null, oracleProbability: null, oracleBrier: null };
  const oracleProbability = oracleBps! / 10_000;
  return {
    ...view,
    outcome: above ? ('YES' as const) : ('NO' as const),
    oracleProbability,
    oracleBrier: roundToMicro(brierScore(oracleProbability, above!)),
  };
}

/** Rounds to six digits; adding 0 turns -0 into 0. */
function roundToMicro(value: number): number {
  return Math.round(value * 1e6) / 1e6 + 0;
}

type SignedCommitment = Commitment & { signature: Hex };

/**
 * Only a newer one replaces that of the same wallet and market, which prevents the replay of an old signature.
 * @throws OracleError NOT_FOUND, CONFLICT, INPUT_INVALID, UNAUTHENTICATED, RATE_LIMITED, CHAIN_UNREACHABLE
 */
async function acceptCommitment(deps: ContestDeps, { signature, ...commitment }: SignedCommitment, address: string) {
  const { wallet, issuedAtMs } = commitment;
  const { round, market } = await findMarket(deps, commitment.market);
  // By the database's clock too: a wallet that enters by a wrong one would take the place of another.
  if ((await deps.time.proveUnreached(round.opensAt.getTime())) === null) throw commitmentsEndedError(round);
  const now = deps.now();
  if (Math.abs(now.getTime() - issuedAtMs) > CLOCK_TOLERANCE_MS) {
    throw new OracleError('INPUT_INVALID', "issuedAtMs differs from the service's clock by more than 5 minutes", {
      field: 'issuedAtMs',
      suggestedAction: 'Sign again with the current time in milliseconds since 1970.',
      details: { serverTimeMs: now.getTime() },
    });
  }
  const digest = hashContestCommitment(buildContestDomain(deps.deployment), commitment);
  if (!(await deps.isSignedBy({ wallet, hash: digest, signature }))) {
    throw new OracleError('UNAUTHENTICATED', 'The signature does not match this wallet and commitment', {
      field: 'signature',
      suggestedAction: 'Sign the typed data of GET /api/svc/clawstake/status with the key of `wallet` and send exactly the signed values.',
    });
  }
  await requireEntry(deps, round, { wallet, address });
  // Checked again: the call to a contract wallet takes time.
  if ((await deps.time.proveUnreached(round.opensAt.getTime())) === null) throw commitmentsEndedError(round);
  const committedAt = deps.now();
  const stored = await storeCommitment(deps, { ...commitment, _id: `${market.id}:${wallet.toLowerCase()}`, signature, committedAt });
  if (stored !== 'stale') return { round, market, committedAt, replaced: stored === 'replaced', digest };
  const rejected = { field: 'issuedAtMs', suggestedAction: 'To replace it, sign again with a later issuedAtMs.' };
  throw new OracleError('CONFLICT', `This wallet has a commitment for ${market.id} with the same or a later issuedAtMs`, rejected);
}

async function findMarket({ rounds }: ContestDeps, id: string): Promise<{ round: RoundDoc; market: MarketDoc }> {
  const roundId = parseRoundId(id);
  const round = roundId === null ? null : await rounds.findOne({ _id: roundId });
  const market = round?.markets.find((one) => one.id === id);
  if (round && market) return { round, market };
  const suggestedAction = 'GET /api/svc/clawstake/markets lists all markets with their ids.';
  throw new OracleError('NOT_FOUND', 'There is no such market', { field: 'market', suggestedAction });
}

/** A wallet enters a round once, with its first commitment, and goes on from any address. Holders of gate tokens have places beside the others. */
async function requireEntry(deps: ContestDeps, { _id, opensAt }: RoundDoc, { wallet, address }: { wallet: Address; address: string }) {
  const at = deps.now();
  const entry = { id: `${_id}:${wallet.toLowerCase()}`, address, at, fields: {} };
  let spent = await deps.entrants.take({ ...entry, group: `${_id} ` });
  if (spent !== null && (await deps.isHolder(wallet))) spent = await deps.holders.take({ ...entry, group: `${_id} holders ` });
  if (spent === null) return;
  const { scope, limit } = spent;
  const whose = scope === 'all' ? '' : scope === 'address' ? ' of one address' : ` of one ${scope}`;
  throw new OracleError('RATE_LIMITED', `Round ${_id} has its ${limit} wallets${whose}`, {
    field: 'wallet',
    suggestedAction: `Commit with a wallet that has entered, or that has a tier, or enter the next round from ${opensAt.toISOString()} on.`,
    // The next round is listed when this one opens.
    retryAfterSeconds: Math.max(1, Math.ceil((opensAt.getTime() - at.getTime()) / 1_000)),
    details: { scope, limit, round: _id, opensAt: opensAt.toISOString() },
  });
}

/** `stale`: the stored one is as new or newer, so that the upsert violates the unique key. */
async function storeCommitment({ commitments }: ContestDeps, { _id, ...fields }: CommitmentDoc): Promise<'created' | 'replaced' | 'stale'> {
  const older: Filter<CommitmentDoc> = { _id, issuedAtMs: { $lt: fields.issuedAtMs } };
  const write = async () =>
    (await commitments.updateOne(older, { $set: fields }, { upsert: true })).upsertedCount === 1 ? 'created' : 'replaced';
  // A lost reply may also have been that of a replacement.
  const readBack = async () => (await commitments.findOne({ _id, signature: fields.signature })) && 'created';
  for (;;) {
    try {
      return await confirmIfUncertain(write, readBack);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // A concurrent first writer may have inserted an older one: retry unless the stored one is not older.
      if ((await commitments.countDocuments(older, { limit: 1 })) === 0) return 'stale';
    }
  }
}

function commitmentsEndedError({ _id, opensAt }: RoundDoc): OracleError {
  const deadline = opensAt.toISOString();
  return new OracleError('CONFLICT', `Commitments for round ${_id} ended at ${deadline}`, {
    field: 'market',
    suggestedAction: 'Commit to a market of the open round: GET /api/svc/clawstake/status names it.',
    details: { round: _id, deadline },
  });
}

/** Earlier versions stored RUNNING from the deadline on. */
const UNDECIDED = { state: { $nin: ['RESOLVED', 'VOID'] satisfies RoundDoc['state'][] } } as const;

/** "Will BTC/USD close above the strike?" */
interface MarketDoc {
  id: string;
  strikeUsd: number;
  /** The oracle's probability. */
  oracleBps: number | null;
  above: boolean | null;
}

/** A round; `_id` is its ISO week, e.g. `2026-W32`. `pinned` and `outcome` are null until it is RESOLVED. */
export interface RoundDoc extends Omit<RoundWeek, 'id'> {
  _id: string;
  /** An OPEN one is running from its deadline on. */
  state: 'OPEN' | 'RESOLVED' | 'VOID';
  listedAt: Date;
  listing: { spotUsd: number };
  markets: MarketDoc[];
  /** Day of the oracle's forecast. */
  pinned: { day: Day } | null;
  outcome: { closeCents: number } | null;
  voidBecause: string | null;
  /** When all standings had the round. */
  rankedAt: Date | null;
}

/** A wallet's newest commitment to a market; `_id` is `<market>:<wallet in lower case>`. */
export interface CommitmentDoc extends Commitment {
  _id: string;
  signature: Hex;
  committedAt: Date;
}

/** A wallet's points and mean squared errors of a round, or of all. */
interface WalletScore {
  points: number;
  brier: number;
  oracleBrier: number;
}

/** A wallet's scored rounds, and what the write that adds one computes of them all. */
export interface StandingDoc extends WalletScore {
  _id: Address;
  rounds: Record<string, WalletScore>;
  scoredRounds: number;
  ranked: boolean;
  /** `oracleBrier` less `brier`: positive where the wallet was better. */
  meanDifference: number;
}

/** Best first. */
const STANDING_ORDER = { ranked: -1, meanDifference: -1, _id: 1 } as const;

export const CONTEST_INDEXES = [
  { collection: 'contest_commitments', indexes: [{ key: { market: 1, wallet: 1 } }] },
  { collection: 'contest_wallet_standings', indexes: [{ key: STANDING_ORDER }] },
  { collection: 'contest_entrants', indexes: [BUDGET_INDEX] },
] satisfies CollectionIndexes[];

interface ContestOptions {
  db: Db;
  record: ForecastRecord;
  models: ModelStore;
  market: Market;
  deployment: ContestDeployment;
  /** Verifies a signature of an EOA or a contract wallet (ERC-1271). @throws OracleError CHAIN_UNREACHABLE */
  isSignedBy(signed: { wallet: Address; hash: Hex; signature: Hex }): Promise<boolean>;
  /** Whether a wallet holds the gate tokens of a tier. @throws OracleError CHAIN_UNREACHABLE */
  isHolder(wallet: Address): Promise<boolean>;
  time: Pick<TrustedTime, 'requireReached' | 'proveUnreached'>;
  now(): Date;
  log: Log;
}

interface ContestDeps extends ContestOptions {
  rounds: Collection<RoundDoc>;
  commitments: Collection<CommitmentDoc>;
  standings: Collection<StandingDoc>;
  /** Wallets that have entered a round, over all processes; `holders` those that took a place of gate token holders. */
  entrants: RangeBudget<BudgetUnit>;
  holders: RangeBudget<BudgetUnit>;
}

type ContestReport = { step: string; round: string | null } & ({ done: string } | { waiting: string } | { failed: string });

/** Steps are idempotent and safe in parallel; one that waits or fails does not block the others. */
async function runContest(deps: ContestDeps): Promise<ContestReport[]> {
  const { rounds, log, now } = deps;
  const reports: ContestReport[] = [];
  const attempt = async (step: string, round: string | null, run: () => Promise<string | null>) => {
    try {
      const done = await run();
      if (done !== null) reports.push({ step, round, done });
    } catch (error) {
      const isWaiting = isOracleError(error) && error.retryable;
      if (!isWaiting) log.error({ err: error, step, round }, 'contest step failed');
      reports.push({ step, round, ...(isWaiting ? { waiting: error.message } : { failed: getErrorMessage(error) }) });
    }
  };
  await attempt('list', null, () => listNextRound(deps));
  const ended = { ...UNDECIDED, resolvesAt: { $lte: now() } };
  for (const round of await rounds.find(ended).sort({ _id: 1 }).toArray())
    await attempt('resolve', round._id, () => decideRound(deps, round));
  for (const round of await rounds.find({ state: 'RESOLVED', rankedAt: null }).sort({ _id: 1 }).toArray())
    await attempt('score', round._id, () => scoreRound(deps, round));
  if (reports.length > 0) log.debug({ reports }, 'contest');
  return reports;
}

/** Lists the round of the next week, once. @throws OracleError PRICE_UNAVAILABLE without a fresh price */
async function listNextRound({ rounds, market, time, now }: ContestDeps): Promise<string | null> {
  const listedAt = now();
  const { id, ...week } = getNextRoundWeek(listedAt.getTime());
  if ((await rounds.findOne({ _id: id })) !== null) return null;
  await time.requireReached(week.opensAt.getTime() - 7 * DAY_MS, `The opening of the round before ${id}`);
  if ((await time.proveUnreached(week.opensAt.getTime())) === null) return null;
  const { lastDay } = await market.coverage();
  // A CSV feed past its end would return an old price, and never a close.
  if (lastDay !== null && lastDay < toDay(listedAt.getTime()) - 1)
    throw new OracleError('PRICE_UNAVAILABLE', `The market data (${market.source}) ends on ${formatDay(lastDay)}`);
  const { priceUsd } = await market.spot(listedAt.getTime());
  const strikes = buildRoundStrikes(priceUsd);
  const markets = strikes.map((strikeUsd) => ({ id: buildMarketId(id, strikeUsd), strikeUsd, oracleBps: null, above: null }));
  const undecided = { state: 'OPEN', pinned: null, outcome: null, voidBecause: null, rankedAt: null } as const;
  const isFirst = await isFirstWrite(
    rounds.insertOne({ _id: id, ...week, listedAt, listing: { spotUsd: priceUsd }, markets, ...undecided }),
  );
  return isFirst ? `listed ${id}` : null;
}

/**
 * By the quorum close, once the oracle's forecast is revealed: the round publishes what follows from it. The deadline pins that forecast;
 * nothing of it is stored before. Of concurrent decisions the first one stands. @throws OracleError PRICE_UNAVAILABLE, STEP_WAITING
 */
async function decideRound(deps: ContestDeps, round: RoundDoc): Promise<string> {
  const { rounds, record, market, models, time, now } = deps;
  const { _id, resolvesAt } = round;
  const decide = (decision: Partial<RoundDoc>) => rounds.updateOne({ _id, ...UNDECIDED }, { $set: decision });
  const voidRound = async (voidBecause: string) => {
    await decide({ state: 'VOID', voidBecause });
    return `void: ${voidBecause}`;
  };
  await time.requireReached(resolvesAt.getTime(), `The end of round ${_id}`);
  const day = await orOverdue(deps, round, findNewestCommittedDay(deps, round));
  if (day === 'overdue') return voidRound('the record of the days before its opening was never completed');
  if (day === null) return voidRound(`the oracle had committed to no forecast in the ${MAX_FORECAST_AGE_DAYS} days before its opening`);
  const close = await orOverdue(deps, round, market.dailyClose(getDecidingDay(round), now().getTime()));
  if (close === 'overdue') return voidRound('no close was agreed on');
  const view = { caller: PUBLIC_CALLER, policy: 'resolution', now: now() } as const;
  if (!(await record.listByDay(day.day)).every((forecast) => mayRead(forecast, view)))
    throw new OracleError('STEP_WAITING', "The oracle's forecasts of the round are not revealed on chain yet");
  const model = await models.get(day.modelVersion!);
  const closeCents = toCents(close.priceUsd);
  const markets = round.markets.map(({ id, strikeUsd }) => {
    const probability = computeStrikeProbability({ day, model, strikeUsd, expiresAt: resolvesAt, at: day.signalAt });
    return { id, strikeUsd, oracleBps: toContestBps(probability), above: closeCents > toCents(strikeUsd) };
  });
  await decide({ state: 'RESOLVED', markets, pinned: { day: day.day }, outcome: { closeCents } });
  return 'resolved';
}

/** `overdue` in place of an error that waits, once the round has waited long enough. */
async function orOverdue<T>({ time, now }: ContestDeps, { _id, resolvesAt }: RoundDoc, read: Promise<T>): Promise<T | 'overdue'> {
  const overdueMs = resolvesAt.getTime() + VOID_AFTER_DAYS * DAY_MS;
  try {
    return await read;
  } catch (error) {
    const isMissing = isOracleError(error, 'STEP_WAITING') || isOracleError(error, 'PRICE_UNAVAILABLE');
    if (!isMissing || now().getTime() < overdueMs) throw error;
    await time.requireReached(overdueMs, `The end of waiting for what decides round ${_id}`);
    return 'overdue';
  }
}

/** The day of the newest forecast committed before the deadline. @throws OracleError STEP_WAITING while that is unknown */
async function findNewestCommittedDay({ record }: ContestDeps, { opensAt }: RoundDoc): Promise<DayDoc | null> {
  const last = toDay(opensAt.getTime() - DAY_MS);
  const genesis = await record.findGenesisDay();
  for (let day = last; day > last - MAX_FORECAST_AGE_DAYS; day--) {
    const found = await record.findDay(day);
    // Days enter the record in order; those before its first never do.
    if (found === null && genesis !== null && day < genesis) continue;
    if (found?.missedBecause) continue;
    const states = (await record.listByDay(day)).map(({ state }) => state);
    if (found === null || states.length === 0 || states.includes('DRAFT'))
      throw new OracleError('STEP_WAITING', `The forecast of ${formatDay(day)} is not settled in the record yet`);
    if (!states.includes('VOID')) return found;
  }
  return null;
}

/** Adds a resolved round to the standing of each of its wallets. */
async function scoreRound({ rounds, commitments, standings, now }: ContestDeps, { _id, markets }: RoundDoc): Promise<string> {
  const scores = new Map<Address, CommitmentScore[]>();
  for (const { id, oracleBps, above } of markets) {
    for (const { wallet, probabilityBps } of await commitments.find({ market: id }).toArray()) {
      const score = scoreCommitment({ walletBps: probabilityBps, oracleBps: oracleBps!, above: above! });
      scores.set(wallet, [...(scores.get(wallet) ?? []), score]);
    }
  }
  const writes = [...scores].map(([wallet, ofWallet]) => ({
    updateOne: { filter: { _id: wallet }, update: buildStandingUpdate(_id, ofWallet), upsert: true },
  }));
  const write = () => standings.bulkWrite(writes, { ordered: false });
  if (writes.length > 0)
    await write().catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      // A concurrent worker inserted a wallet first.
      return write();
    });
  await rounds.updateOne({ _id, rankedAt: null }, { $set: { rankedAt: now() } });
  return 'scored';
}

/**
 * The same result whether a round is added once or twice, and in any order of rounds. A round counts once, by its means: its markets share
 * one close, so that its commitments are not independent.
 */
function buildStandingUpdate(round: string, scores: CommitmentScore[]) {
  const score: WalletScore = {
    points: scores.reduce((sum, { points }) => sum + points, 0),
    brier: mean(scores.map(({ brierWallet }) => brierWallet)),
    oracleBrier: mean(scores.map(({ brierOracle }) => brierOracle)),
  };
  const scoredRounds = { $size: '$all' };
  const means = { points: { $sum: '$all.v.points' }, brier: { $avg: '$all.v.brier' }, oracleBrier: { $avg: '$all.v.oracleBrier' } };
  return [
    { $set: { [`rounds.${round}`]: { $literal: score } } },
    { $set: { all: { $objectToArray: '$rounds' } } },
    { $set: { scoredRounds, ranked: { $gte: [scoredRounds, MIN_RANKED_ROUNDS] }, ...means } },
    { $set: { meanDifference: { $subtract: ['$oracleBrier', '$brier'] } } },
    { $unset: 'all' },
  ];
}

/** Range of committed probabilities in basis points; the oracle's are clipped to it. */
export const MIN_PROBABILITY_BPS = 100;
export const MAX_PROBABILITY_BPS = 9_900;
const BPS = 10_000;
export const POINTS_PER_BRIER = 10_000;
export const MIN_RANKED_ROUNDS = 4;
export const CLOCK_TOLERANCE_MS = 5 * 60_000;
export const MAX_FORECAST_AGE_DAYS = 3;
export const VOID_AFTER_DAYS = 7;
export const STRIKES_EACH_SIDE = 2;
/** Distance between strikes before rounding, as a share of the price: about half a weekly standard deviation. */
const STRIKE_DISTANCE = 0.04;

/**
 * Wallets of a round. A wallet is invented for free, so that only addresses bound them: 25 are a household or a class. Of 1,000 in all,
 * 250 are for ranges with fewer than 3, so that those who fill the rest leave room for everybody else. Wallets that hold gate tokens have 1,000
 * places beside these, without shares: tokens cost money, and one wallet holds them at a time.
 */
export const ENTRY_LIMITS = {
  ...{ address: 25, '/24': 50, '/56': 50, '/48': 100 },
  ...{ all: 1_000, reserve: 250, reservePerRange: 3 },
} as const satisfies RangeLimits;
const HOLDER_LIMITS: RangeLimits = { address: 1_000, '/24': 1_000, '/56': 1_000, '/48': 1_000, all: 1_000 };

/** One ISO week: its start is the deadline of commitments, the close of its Sunday decides. */
interface RoundWeek {
  id: string;
  opensAt: Date;
  resolvesAt: Date;
}

/** The next week after an instant in ms, whose round accepts commitments. */
export function getNextRoundWeek(nowMs: number): RoundWeek {
  const week = getLastDayOfWeek(toWeek(toDay(nowMs))) + 1;
  return { id: formatWeek(week), opensAt: new Date(toInstantMs(week)), resolvesAt: new Date(toInstantMs(getLastDayOfWeek(week) + 1)) };
}

export function getDecidingDay({ resolvesAt }: Pick<RoundWeek, 'resolvesAt'>): Day {
  return toDay(resolvesAt.getTime()) - 1;
}

export function buildRoundStrikes(spotUsd: number): number[] {
  return buildStrikesAround(spotUsd, STRIKE_DISTANCE, STRIKES_EACH_SIDE);
}

/** `<round>-<strike>`, e.g. `2026-W32-62000`. */
export function buildMarketId(roundId: string, strikeUsd: number): string {
  return `${roundId}-${strikeUsd}`;
}

export const MARKET_ID_PATTERN = /^(\d{4}-W\d{2})-\d{1,9}(?:\.\d{1,6})?$/;

export function parseRoundId(market: string): string | null {
  return MARKET_ID_PATTERN.exec(market)?.[1] ?? null;
}

export function formatMarketQuestion(round: Pick<RoundWeek, 'resolvesAt'>, { strikeUsd }: { strikeUsd: number }): string {
  return `Will BTC/USD close above ${strikeUsd.toLocaleString('en-US')} on ${formatDay(getDecidingDay(round))} (UTC)?`;
}

export interface Commitment {
  market: string;
  /** Checksummed. */
  wallet: Address;
  /** P(close above the strike) in basis points. */
  probabilityBps: number;
  /** Time of signing by the wallet's clock, in milliseconds since 1970; the newest of a wallet and market counts. */
  issuedAtMs: number;
}

export const COMMITMENT_TYPES = {
  Commitment: [
    { name: 'market', type: 'string' },
    { name: 'wallet', type: 'address' },
    { name: 'probabilityBps', type: 'uint16' },
    { name: 'issuedAtMs', type: 'uint64' },
  ],
} as const;

export const COMMITMENT_PRIMARY_TYPE = 'Commitment' as const;

interface ContestDeployment {
  chainId: number;
  identityRegistry: Address;
  agentId: number;
}

export type ContestDomain = ReturnType<typeof buildContestDomain>;

/** Binds a signature to one deployment: agents may share chain and registry, but not the agent id. */
export function buildContestDomain({ chainId, identityRegistry, agentId }: ContestDeployment) {
  const salt = toHex(agentId, { size: 32 });
  return { name: 'Bitcoin Signal Oracle Contest', version: '1', chainId, verifyingContract: identityRegistry, salt };
}

export function hashContestCommitment(domain: ContestDomain, { market, wallet, probabilityBps, issuedAtMs }: Commitment): Hex {
  const message = { market, wallet, probabilityBps, issuedAtMs: BigInt(issuedAtMs) };
  return hashTypedData({ domain, types: COMMITMENT_TYPES, primaryType: COMMITMENT_PRIMARY_TYPE, message });
}

interface CommitmentScore {
  /** Squared errors, 0 to 1, lower is better. */
  brierWallet: number;
  brierOracle: number;
  /** 10,000 times the oracle's squared error minus the wallet's, rounded: positive where the wallet was better. */
  points: number;
}

export function scoreCommitment(at: { walletBps: number; oracleBps: number; above: boolean }): CommitmentScore {
  const { walletBps, oracleBps, above } = at;
  const target = above ? BPS : 0;
  // Integers until the last step, so that rounding is the same everywhere.
  const difference = (oracleBps - target) ** 2 - (walletBps - target) ** 2;
  return {
    brierWallet: brierScore(walletBps / BPS, above),
    brierOracle: brierScore(oracleBps / BPS, above),
    // Adding 0 turns -0 into 0.
    points: Math.round((difference * POINTS_PER_BRIER) / BPS ** 2) + 0,
  };
}

export const MAX_POINTS = scoreCommitment({ walletBps: MAX_PROBABILITY_BPS, oracleBps: MIN_PROBABILITY_BPS, above: true }).points;

/** A probability, 0 to 1, in whole basis points clipped to the contest's range. */
export function toContestBps(probability: number): number {
  return Math.min(MAX_PROBABILITY_BPS, Math.max(MIN_PROBABILITY_BPS, Math.round(probability * BPS)));
}

/** Published by the status and in docs/CONTEST.md. */
export const CONTEST_RULES = [
  ['Round', 'one ISO week, Monday 00:00 UTC to Monday 00:00 UTC, listed at the start of the week before with fixed strikes'],
  ['Strikes', `${2 * STRIKES_EACH_SIDE + 1}, about ${STRIKE_DISTANCE * 100} % of the price apart, the middle one nearest to the price`],
  ['Deadline', 'Monday 00:00 UTC, when the week starts'],
  ['Decided by', 'the close of its Sunday (UTC), the agreed median of the venues; a close at the strike is not above it'],
  ['Probability', `${MIN_PROBABILITY_BPS} to ${MAX_PROBABILITY_BPS} basis points, the oracle's is clipped to the same range`],
  [
    'issuedAtMs',
    `within ${CLOCK_TOLERANCE_MS / 60_000} minutes of the service's clock; the newest commitment of a wallet and market counts`,
  ],
  ['Wallets of a round', formatEntryLimits()],
  ['Forecast of the oracle', `the newest committed on chain before the deadline, at most ${MAX_FORECAST_AGE_DAYS} days old`],
  [
    'Points of a market',
    `${POINTS_PER_BRIER} x (squared error of the oracle - squared error of the wallet), between -${MAX_POINTS} and ${MAX_POINTS}; without value`,
  ],
  ['Ranked', `from ${MIN_RANKED_ROUNDS} scored rounds`],
  ['Void', `without a forecast of the oracle, or without an agreed close ${VOID_AFTER_DAYS} days after the end`],
] as const;

function formatEntryLimits(): string {
  const { address, '/24': home, '/48': site, all, reserve, reservePerRange } = ENTRY_LIMITS;
  return `${all}: ${address} of one address, ${home} of a /24 or /56, ${site} of a /48; the last ${reserve} of ranges with fewer than ${reservePerRange}; besides ${HOLDER_LIMITS.all} that have a tier`;
}

export function renderContestMarkdown(): string {
  return ['| What | Rule |', '| --- | --- |', ...CONTEST_RULES.map(([what, rule]) => `| ${what} | ${rule} |`)].join('\n');
}
