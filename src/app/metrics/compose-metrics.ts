import type { Config } from '../../platform/config/settings.ts';
import type { ServiceStatus } from '../../transports/http/service/health/status-schemas.ts';
import type { Metrics } from './metrics.ts';
import { type OpenWorkDeps, readOpenWork } from './open-work.ts';

export interface ComposeMetricsDeps extends OpenWorkDeps {
  config: Pick<Config, 'METRICS_PORT'>;
  status(): Promise<ServiceStatus>;
  now(): Date;
}

/** Null unless `METRICS_PORT` is set: the library is loaded by processes that serve metrics alone. */
export async function composeMetrics({ config, status, now, ...work }: ComposeMetricsDeps): Promise<Metrics | null> {
  if (config.METRICS_PORT === undefined) return null;
  const { createMetrics } = await import('./metrics.ts');
  return createMetrics(async () => {
    const at = now();
    const [read, open] = await Promise.all([status(), readOpenWork(work, at)]);
    return { status: read, work: open, nowMs: at.getTime() };
  });
}
