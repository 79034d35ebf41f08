import type { Ledger } from '../../commerce/ledger/ledger.ts';
import { readRevenue } from '../../commerce/ledger/revenue.ts';
import type { Config } from '../../platform/config/settings.ts';
import type { LogLineCounts } from '../../platform/log.ts';
import { findLatestAttestedDay } from '../../record/attestations/history.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import type { SelfTestService } from '../../record/self-test/service.ts';
import { listSelfTestStatuses } from '../../record/self-test/view.ts';
import type { ServiceStatus } from '../../transports/http/service/health/status-schemas.ts';
import type { MetricsSnapshot } from './metric-definition.ts';
import type { Metrics } from './metrics.ts';
import { type OpenWorkDeps, readOpenWork } from './open-work.ts';

export interface ComposeMetricsDeps extends OpenWorkDeps {
  config: Pick<Config, 'METRICS_PORT'>;
  record: ForecastRecord;
  selfTests: SelfTestService;
  ledger: Ledger;
  logLines: LogLineCounts;
  status(): Promise<ServiceStatus>;
  now(): Date;
}

/** Null unless `METRICS_PORT` is set: the library is loaded by processes that serve metrics alone. */
export async function composeMetrics(deps: ComposeMetricsDeps): Promise<Metrics | null> {
  if (deps.config.METRICS_PORT === undefined) return null;
  const { createMetrics } = await import('./metrics.ts');
  return createMetrics(() => readSnapshot(deps, deps.now()));
}

async function readSnapshot(deps: ComposeMetricsDeps, now: Date): Promise<MetricsSnapshot> {
  const { status, record, selfTests, ledger, logLines } = deps;
  const [read, work, attested, tests, { byChannel }] = await Promise.all([
    status(),
    readOpenWork(deps, now),
    findLatestAttestedDay(record),
    listSelfTestStatuses(selfTests, now),
    readRevenue(ledger, now),
  ]);
  return { status: read, work, attestedDay: attested, selfTests: tests, sales: byChannel, logLines, nowMs: now.getTime() };
}
