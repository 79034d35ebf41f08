import { Counter, Histogram, type Registry } from '@prometheus-io/client';
import type { EndedRequest } from '../../transports/http/server/security/request-log.ts';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts and times requests by their declared path: as many series as there are operations, whatever clients send. */
export function createRequestMetrics(registry: Registry): (ended: EndedRequest) => void {
  const registers = [registry];
  const requests = new Counter({
    name: 'oracle_http_requests_total',
    help: 'Requests that ended, by declared path, status and tier of the caller.',
    labelNames: ['method', 'route', 'status', 'tier'],
    registers,
  });
  const durations = new Histogram({
    name: 'oracle_http_request_seconds',
    help: 'Seconds from the request to the end of its answer, by declared path. Streams last as long as they are open.',
    labelNames: ['method', 'route'],
    buckets: SECONDS,
    registers,
  });
  return ({ method, route, status, tier, ms }) => {
    requests.inc({ method, route, status: String(status), tier });
    durations.observe({ method, route }, ms / 1_000);
  };
}
