import type { Ledger } from '../../commerce/ledger/ledger.ts';
import { readRevenue } from '../../commerce/ledger/revenue.ts';
import type { LoadShedder } from '../../platform/concurrency/load-shedder.ts';
import type { Config } from '../../platform/config/settings.ts';
import type { Log, LogCounts } from '../../platform/log.ts';
import { findLatestAttestedDay } from '../../record/attestations/history.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import type { SelfTestService } from '../../record/self-test/service.ts';
import { listSelfTestStatuses } from '../../record/self-test/view.ts';
import type { ServiceStatus } from '../../transports/http/service/health/status-schemas.ts';
import type { StateSnapshot } from './metric-definition.ts';
import type { Metrics } from './metrics.ts';
import { type OpenWorkDeps, readOpenWork } from './open-work.ts';
import { createWalletFigures, type WalletFigures, type WalletFiguresDeps } from './wallet-figures.ts';
import type { WorkCounts } from './work-counts.ts';

export interface ComposeMetricsDeps extends Omit<OpenWorkDeps, 'journal' | 'chainId'>, Omit<WalletFiguresDeps, 'journal'> {
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
