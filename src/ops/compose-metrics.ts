import { type Ledger, readRevenue } from '../commerce/ledger.ts';
import type { ServiceStatus } from '../http/schemas/health.ts';
import type { LoadShedder } from '../platform/load-shedder.ts';
import type { Log, LogCounts } from '../platform/log.ts';
import { findLatestAttestedDay } from '../record/attestations.ts';
import type { ForecastRecord } from '../record/forecasts.ts';
import { listSelfTestStatuses, type SelfTestService } from '../record/self-tests.ts';
import type { Config } from '../settings.ts';
import {
  createWalletFigures,
  type OpenWorkDeps,
  readOpenWork,
  type StateSnapshot,
  type WalletFigures,
  type WalletFiguresDeps,
  type WorkCounts,
} from './metric-definitions.ts';
import type { Metrics } from './metrics.ts';

interface ComposeMetricsDeps extends Omit<OpenWorkDeps, 'journal' | 'chainId'>, Omit<WalletFiguresDeps, 'journal'> {
  config: Pick<Config, 'METRICS_PORT'>;
  journal: OpenWorkDeps['journal'] & WalletFiguresDeps['journal'];
  record: ForecastRecord;
  selfTests: SelfTestService;
  ledger: Ledger;
  loadShedder: Pick<LoadShedder, 'running' | 'waiting' | 'limit' | 'delayMs'>;
  log: Log;
  logCounts: LogCounts;
  workCounts: WorkCounts;
  status(): Promise<ServiceStatus>;
}

/** Null unless `METRICS_PORT` is set: the library is loaded by processes that serve metrics alone. */
export async function composeMetrics(deps: ComposeMetricsDeps): Promise<Metrics | null> {
  if (deps.config.METRICS_PORT === undefined) return null;
  const { createMetrics } = await import('./metrics.ts');
  const readWallets = createWalletFigures(deps);
  const { log, logCounts, workCounts: work, loadShedder } = deps;
  return createMetrics({
    readState: () => readState(deps, readWallets, deps.now()),
    readProcess: () => {
      const { running, waiting, limit, delayMs } = loadShedder;
      return { log: logCounts, work, requests: { running, waiting, limit, delayMs } };
    },
    log,
  });
}

async function readState(deps: ComposeMetricsDeps, readWallets: () => Promise<WalletFigures | null>, now: Date): Promise<StateSnapshot> {
  const { status, record, selfTests, ledger, chain } = deps;
  const [read, work, attestedDay, tests, { byChannel }, wallets] = await Promise.all([
    status(),
    readOpenWork({ ...deps, chainId: chain.chainId }, now),
    findLatestAttestedDay(record),
    listSelfTestStatuses(selfTests, now),
    readRevenue(ledger, now),
    readWallets(),
  ]);
  return { status: read, work, attestedDay, selfTests: tests, sales: byChannel, wallets, nowMs: now.getTime() };
}
