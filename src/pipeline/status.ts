import { type Chain, readChainHealth } from '../chain/client.ts';
import type { WalletFunds } from '../chain/contracts.ts';
import type { Context } from '../context.ts';
import { isOracleError, OracleError, toPublicReason } from '../errors.ts';
import { type Day, formatDay, toDay } from '../forecast/day.ts';
import type { ProviderHealth } from '../market/live/provider.ts';
import type { HorizonFigures } from '../record/figures.ts';
import { RECORD_LAG_SECONDS } from '../record/projection.ts';
import type { PublicStatus } from '../record/visibility.ts';
import type { PipelineContext } from './forecaster.ts';
import type { Schedule } from './schedule.ts';
import { isPublicStep, toPublicStepReason } from './step-runs.ts';

/** What the status shows besides the context. */
interface StatusParts {
  version: string;
  feedReason: string | null;
  readiness(): Promise<ReadinessCheck[]>;
  /** Gas balances. @throws OracleError CHAIN_UNREACHABLE */
  walletFunds(): Promise<WalletFunds[]>;
  /** Whether payments can be settled and received. */
  payments(): Promise<{ name: string; ok: boolean; detail: string }[]>;
  schedule(): Schedule | null;
}

/** The operator's status page. It holds no secret and nothing of an unresolved forecast. */
export async function readServiceStatus(context: PipelineContext, parts: StatusParts) {
  // In parallel: each read of an unreachable chain takes its full timeout.
  const [checks, market, chain, wallets, payments, record, runs, wagering, nextRuns] = await Promise.all([
    parts.readiness(),
    readMarketStatus(context, parts.feedReason),
    readChainStatus(context),
    readWalletStatus(parts),
    parts.payments(),
    readRecordStatus(context),
    readStepStatus(context),
    readWageringStatus(context),
    parts.schedule()?.listNextRuns() ?? [],
  ]);
  return {
    version: parts.version,
    role: context.config.ROLE,
    time: context.now().toISOString(),
    uptimeSeconds: Math.round(process.uptime()),
    memoryMb: Math.round(process.memoryUsage.rss() / 2 ** 20),
    ready: checks.every(({ ok }: ReadinessCheck) => ok),
    checks,
    market,
    chain,
    wallets,
    payments,
    record,
    steps: runs.filter(isPublicStep).map((run) => ({ ...run, reason: toPublicStepReason(run) })),
    wagering,
    schedule: nextRuns.map(({ job, nextRunAt }) => ({ job, nextRunAt: nextRunAt?.toISOString() ?? null })),
  };
}

async function readMarketStatus({ market, now }: PipelineContext, feedReason: string | null) {
  const nowMs = now().getTime();
  const [{ firstDay, lastDay }, { series }, providers] = await Promise.all([
    market.coverage(),
    market.health(nowMs),
    market.providerHealth(),
  ]);
  return {
    kind: market.kind,
    source: market.source,
    reason: feedReason,
    note: lastDay !== null && lastDay < toDay(nowMs) ? formatEndOfData(lastDay) : null,
    coverage: { from: formatDay(firstDay), to: lastDay === null ? null : formatDay(lastDay) },
    series: series.map(({ lastObservedDay, ...rest }) => ({
      ...rest,
      lastObserved: lastObservedDay === null ? null : formatDay(lastObservedDay),
    })),
    providers: providers.map(toProviderStatus),
  };
}

export function formatEndOfData(lastDay: Day): string {
  return `the market data ends on ${formatDay(lastDay)}: no later day is forecast, and what is still open stays open`;
}

/** Without its error, which may name a file of the operator. */
function toProviderStatus({ lastOkAtMs, lastFailureAtMs, lastLeftOutAtMs, ...rest }: ProviderHealth) {
  const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return { ...rest, lastOkAt: time(lastOkAtMs), lastFailureAt: time(lastFailureAtMs), lastLeftOutAt: time(lastLeftOutAtMs) };
}

async function readChainStatus({ chain, config }: PipelineContext) {
  const { chainId, confirmations, addresses } = chain;
  const common = { chainId, local: config.chainMode !== 'real', confirmations, contracts: addresses };
  try {
    const { blockNumber, at } = await readChainHealth(chain);
    return { ...common, blockNumber, blockTime: at.toISOString(), error: null };
  } catch (error) {
    return { ...common, blockNumber: null, blockTime: null, error: toPublicReason(error) };
  }
}

async function readWalletStatus({ walletFunds }: StatusParts): Promise<WalletFunds[] | null> {
  try {
    return await walletFunds();
  } catch (error) {
    if (isOracleError(error, 'CHAIN_UNREACHABLE')) return null;
    throw error;
  }
}

async function readRecordStatus({ record, figures, crowd, now }: PipelineContext) {
  const horizons = await figures.getHorizons();
  const days = record.known.listDays();
  const [genesis, lastDay] = [days[0]?.day ?? null, days.at(-1)?.day ?? null];
  const wagers = crowd.get(record.known.getLastPublicDay(now()));
  return {
    firstDay: genesis === null ? null : formatDay(genesis),
    lastDay: lastDay === null ? null : formatDay(lastDay),
    days: genesis === null || lastDay === null ? 0 : lastDay - genesis + 1,
    replayedDays: Math.max(...horizons.map(({ replayed }) => replayed)),
    forecasts: countByState(horizons),
    wagers: wagers.outcomes,
  };
}

function countByState(horizons: readonly HorizonFigures[]): Record<PublicStatus, number> {
  const sum = (field: 'pending' | 'wins' | 'losses' | 'holds' | 'voids') =>
    horizons.reduce((total, { summary }) => total + summary[field], 0);
  return { PENDING: sum('pending'), WIN: sum('wins'), LOSS: sum('losses'), HOLD: sum('holds'), VOID: sum('voids') };
}

/** The operator's reason for a pause is not served. */
async function readWageringStatus({ placeWagers, wagerSwitch }: PipelineContext) {
  const { paused, since } = await wagerSwitch.getState();
  return { on: placeWagers && !paused, paused, since: since?.toISOString() ?? null };
}

export async function readStepStatus({ runs }: PipelineContext) {
  const latest = await runs.listLatest();
  return latest.map(({ step, day, state, reason, ranAt, attempts, replayed }) => ({
    step,
    date: formatDay(day),
    state,
    reason,
    ranAt: ranAt.toISOString(),
    attempts,
    replayed,
  }));
}

type ReadinessCheck = Awaited<ReturnType<typeof runCheck>>;

/** Base produces a block every 2 s; a local chain produces none while idle. */
const MAX_BLOCK_AGE_MS = 5 * 60_000;

/** A failed check with a message that is safe to serve. */
class NotReadyError extends Error {}

/**
 * @param setup current step of the start; null once it is complete
 * @param checkSigners null while all wallets sign by keys of this process
 */
export function checkReadiness(
  context: Context,
  setup: () => string | null,
  checkSigners: (() => Promise<string>) | null,
): Promise<ReadinessCheck[]> {
  const { database, record, time } = context;
  return Promise.all([
    runCheck('setup', async () => {
      const left = setup();
      if (left !== null) throw new NotReadyError(left);
      return 'complete';
    }),
    runCheck('database', async () => {
      await database.ping();
      return 'answers';
    }),
    runCheck('record', async () => {
      if (record.known.isStale) throw new NotReadyError(`changes of the last ${RECORD_LAG_SECONDS} s or more are not known`);
      return 'follows its changes';
    }),
    runCheck('clock', () => time.describe()),
    runCheck('chain', () => describeNewestBlock(context.chain, context.config.chainMode !== 'real', context.now())),
    runCheck('price', () => checkPrice(context)),
    ...(checkSigners === null ? [] : [runCheck('signers', checkSigners)]),
  ]);
}

async function runCheck(name: string, check: () => Promise<string>) {
  try {
    return { name, ok: true, detail: await check() };
  } catch (error) {
    // `/ready` is public: driver and node messages may hold credentials or addresses and are not served.
    const isOwn = error instanceof NotReadyError || isOracleError(error);
    return { name, ok: false, detail: isOwn ? error.message : 'does not answer' };
  }
}

/** A stalled node still answers RPC calls, so the age of its newest block is checked. @throws OracleError CHAIN_UNREACHABLE */
export async function describeNewestBlock(chain: Chain, isLocal: boolean, now: Date): Promise<string> {
  const { blockNumber, at } = await readChainHealth(chain);
  const ageMs = now.getTime() - at.getTime();
  if (isLocal || Math.abs(ageMs) <= MAX_BLOCK_AGE_MS) return `block ${blockNumber}`;
  if (ageMs < 0)
    throw stalledError(`block ${blockNumber} is ${Math.round(-ageMs / 60_000)} minutes ahead of the local clock, which is wrong`);
  throw stalledError(
    `block ${blockNumber} is ${Math.round(ageMs / 60_000)} minutes old: the RPC endpoint is stalled, or the clock is wrong`,
  );
}

function stalledError(message: string): OracleError {
  return new OracleError('CHAIN_UNREACHABLE', message, { suggestedAction: 'Set CHAIN_RPC_URL to another endpoint, or repair NTP.' });
}

/** A feed that ends is never stale; a live feed must have a current price. */
async function checkPrice({ market, now }: Context): Promise<string> {
  const { lastDay } = await market.coverage();
  if (lastDay !== null) return `history until ${formatDay(lastDay)}`;
  const { observedAtMs, source } = await market.spot(now().getTime());
  return `${source}, ${new Date(observedAtMs).toISOString()}`;
}
