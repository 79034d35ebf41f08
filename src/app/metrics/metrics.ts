import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import type { EndedRequest } from '../../transports/http/server/security/request-log.ts';
import { shareWhileInFlight } from '../transports/http-app.ts';
import { METRICS } from './definitions.ts';
import type { MetricsSnapshot } from './metric-definition.ts';
import { createRequestMetrics } from './request-metrics.ts';

export interface Metrics {
  contentType: string;
  observeRequest(ended: EndedRequest): void;
  /** The exposition of all series. Readers at the same time share one snapshot. */
  render(): Promise<string>;
}

/** Series of this process: what it serves, what Node says of it, and the state of the service as every process reads it. */
export function createMetrics(readSnapshot: () => Promise<MetricsSnapshot>): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const observeRequest = createRequestMetrics(registry);
  const gauges = METRICS.map(({ name, help, labels = [], read }) => ({
    read,
    gauge: new Gauge({ name, help, labelNames: [...labels], registers: [registry] }),
  }));
  return {
    contentType: registry.contentType,
    observeRequest,
    render: shareWhileInFlight(async () => {
      const snapshot = await readSnapshot();
      for (const { gauge, read } of gauges) {
        const samples = read(snapshot);
        // A series that has ended must not keep its last value; one without labels would become 0, which is a measurement.
        gauge.reset();
        if (samples.length === 0) gauge.remove({});
        for (const { labels = {}, value } of samples) gauge.set(labels, value);
      }
      return registry.metrics();
    }),
  };
}
