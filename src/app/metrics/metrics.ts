import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import { withTimeout } from '../../platform/concurrency/with-timeout.ts';
import type { Log } from '../../platform/log.ts';
import type { EndedRequest } from '../../transports/http/server/security/request-log.ts';
import { shareWhileInFlight } from '../transports/http-app.ts';
import { PROCESS_METRICS } from './definitions/process.ts';
import type { Connections, MetricDefinition, ProcessSnapshot, StateSnapshot } from './metric-definition.ts';
import { createRequestMetrics } from './request-metrics.ts';
import { STATE_METRICS } from './state-metrics.ts';

export interface Metrics {
  contentType: string;
  observeRequest(ended: EndedRequest): void;
  /** Serves the connections of a server, once there is one. */
  observeConnections(read: () => Connections): void;
  /** The exposition of all series. Readers at the same time share one snapshot. */
  render(): Promise<string>;
}

export interface MetricsDeps {
  readState(): Promise<StateSnapshot>;
  readProcess(): Omit<ProcessSnapshot, 'connections'>;
  log: Log;
  stateTimeoutMs?: number;
}

/** Below the 10 seconds that Prometheus waits. */
const STATE_TIMEOUT_MS = 6_000;

/**
 * Series of this process: what it serves, what Node says of it, and the state of the service as every process reads it. Where that cannot
 * be read, its series are left out and the others stay.
 */
export function createMetrics({ readState, readProcess, log, stateTimeoutMs = STATE_TIMEOUT_MS }: MetricsDeps): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const observeRequest = createRequestMetrics(registry);
  const setState = createGauges(registry, STATE_METRICS);
  const setProcess = createGauges(registry, PROCESS_METRICS);
  const readable = new Gauge({
    name: 'oracle_state_readable',
    help: '1 when the state of the service could be read from its database within a few seconds.',
    registers: [registry],
  });
  let wasReadable = true;
  let readConnections: (() => Connections) | null = null;

  async function readStateOrNull(): Promise<StateSnapshot | null> {
    try {
      const late = () => new Error(`The state could not be read within ${stateTimeoutMs} ms`);
      const state = await withTimeout(stateTimeoutMs, readState(), late);
      wasReadable = true;
      return state;
    } catch (error) {
      if (wasReadable) log.error({ err: error }, 'the metrics of the service could not be read: trying again');
      wasReadable = false;
      return null;
    }
  }

  return {
    contentType: registry.contentType,
    observeRequest,
    observeConnections: (read) => {
      readConnections = read;
    },
    render: shareWhileInFlight(async () => {
      const state = await readStateOrNull();
      readable.set(state === null ? 0 : 1);
      setState(state);
      setProcess({ ...readProcess(), connections: readConnections?.() ?? null });
      return registry.metrics();
    }),
  };
}

/** Registers gauges; the returned function sets all of them from a snapshot, and removes them without one. */
function createGauges<Snapshot>(
  registry: Registry,
  definitions: readonly MetricDefinition<Snapshot>[],
): (snapshot: Snapshot | null) => void {
  const gauges = definitions.map(({ name, help, labels = [], read }) => ({
    read,
    gauge: new Gauge({ name, help, labelNames: [...labels], registers: [registry] }),
  }));
  return (snapshot) => {
    for (const { gauge, read } of gauges) {
      const samples = snapshot === null ? [] : read(snapshot);
      // A series that has ended must not keep its last value; one without labels would become 0, which is a measurement.
      gauge.reset();
      if (samples.length === 0) gauge.remove({});
      for (const { labels = {}, value } of samples) gauge.set(labels, value);
    }
  };
}
