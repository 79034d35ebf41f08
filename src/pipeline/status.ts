import { type Chain, chainHealth } from '../chain/client.ts';
import type { WalletFunds } from '../chain/wallet-funds.ts';
import { isOracleError, reasonOf } from '../errors.ts';
import { type Day, dayOf, formatDay } from '../forecast/day.ts';
import type { ProviderHealth } from '../market/live/provider.ts';
import type { Market } from '../market/market.ts';
import type { PipelineParts } from './parts.ts';
import { type ReadinessCheck, type ReadinessParts, readiness } from './readiness.ts';
import type { Schedule } from './schedule.ts';
import { publicReason } from './step-runs.ts';

export interface StatusParts {
  version: string;
  role: 'all' | 'api' | 'worker';
  /** Why this feed and not another one, or null. */
  feedReason: string | null;
  chain: Chain;
  localChain: boolean;
  /** What wallets have for gas. @throws OracleError CHAIN_UNREACHABLE */
  walletFunds(): Promise<WalletFunds[]>;
  pipeline: PipelineParts;
  readiness: ReadinessParts;
  /** null where no jobs run. */
  schedule(): Schedule | null;
  now(): Date;
}

/** Everything an operator wants on one page. Nothing secret and nothing of an unresolved forecast goes in. */
export async function statusOf(parts: StatusParts) {
  // At once: where the chain is silent each of them waits its whole time.
  const [checks, market, chain, wallets, record, runs, wagering, nextRuns] = await Promise.all([
    readiness(parts.readiness),
    marketStatus(parts.pipeline.market, parts),
    chainStatus(parts),
    walletStatus(parts),
    recordStatus(parts),
    stepStatus(parts.pipeline),
    wageringStatus(parts.pipeline),
    parts.schedule()?.nextRuns() ?? [],
  ]);
  return {
    version: parts.version,
    role: parts.role,
    time: parts.now().toISOString(),
    uptimeSeconds: Math.round(process.uptime()),
    memoryMb: Math.round(process.memoryUsage.rss() / 2 ** 20),
    ready: checks.every(({ ok }: ReadinessCheck) => ok),
    checks,
    market,
    chain,
    wallets,
    record,
    steps: runs.map((run) => ({ ...run, reason: publicReason(run) })),
    wagering,
    schedule: nextRuns.map(({ job, nextRunAt }) => ({ job, nextRunAt: nextRunAt?.toISOString() ?? null })),
  };
}

async function marketStatus(market: Market, { feedReason, now }: StatusParts) {
  const nowMs = now().getTime();
  const [{ firstDay, lastDay }, { series }, providers] = await Promise.all([market.coverage(), market.health(nowMs), market.providers()]);
  return {
    kind: market.kind,
    source: market.source,
    reason: feedReason,
    note: lastDay !== null && lastDay < dayOf(nowMs) ? endOfData(lastDay) : null,
    coverage: { from: formatDay(firstDay), to: lastDay === null ? null : formatDay(lastDay) },
    series: series.map(({ lastObservedDay, ...rest }) => ({
      ...rest,
      lastObserved: lastObservedDay === null ? null : formatDay(lastObservedDay),
    })),
    providers: providers.map(providerStatus),
  };
}

/** Of a feed that ends, once it has. */
export function endOfData(lastDay: Day): string {
  return `the market data ends on ${formatDay(lastDay)}: no later day is forecast, and what is still open stays open`;
}

function providerStatus({ lastOkAtMs, lastFailureAtMs, ...rest }: ProviderHealth) {
  const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return { ...rest, lastOkAt: time(lastOkAtMs), lastFailureAt: time(lastFailureAtMs) };
}

async function chainStatus({ chain, localChain }: StatusParts) {
  const { chainId, confirmations, addresses } = chain;
  const common = { chainId, local: localChain, confirmations, contracts: addresses };
  try {
    const { blockNumber, at } = await chainHealth(chain);
    return { ...common, blockNumber, blockTime: at.toISOString(), error: null };
  } catch (error) {
    return { ...common, blockNumber: null, blockTime: null, error: reasonOf(error) };
  }
}

/** Null when the chain does not answer, which `chain` says why. */
async function walletStatus({ walletFunds }: StatusParts): Promise<WalletFunds[] | null> {
  try {
    return await walletFunds();
  } catch (error) {
    if (isOracleError(error, 'CHAIN_UNREACHABLE')) return null;
    throw error;
  }
}

async function recordStatus({ pipeline: { record, wagers }, now }: StatusParts) {
  const [genesis, lastDay, forecasts, replayed, tally] = await Promise.all([
    record.genesis(),
    record.lastDay(),
    record.countByState(),
    record.days.countDocuments({ replayed: true }),
    record.lastDayTold(now()).then((through) => wagers.tally(through)),
  ]);
  return {
    firstDay: genesis === null ? null : formatDay(genesis),
    lastDay: lastDay === null ? null : formatDay(lastDay),
    days: genesis === null || lastDay === null ? 0 : lastDay - genesis + 1,
    replayedDays: replayed,
    forecasts,
    wagers: tally,
  };
}

/** Why the operator holds wagers back is his own. */
async function wageringStatus({ placeWagers, wagerSwitch }: PipelineParts) {
  const { paused, since } = await wagerSwitch.state();
  return { on: placeWagers && !paused, paused, since: since?.toISOString() ?? null };
}

/** The newest run of every step. */
export async function stepStatus({ runs }: Pick<PipelineParts, 'runs'>) {
  const latest = await runs.latest();
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
