import type { Job } from 'agenda';
import { getActiveTrace } from '../../platform/tracing/active-trace.ts';
import { inEntry } from '../../platform/tracing/span.ts';
import { formatTraceparent, parseTraceparent } from '../../platform/tracing/traceparent.ts';

/** Members of a job's data that name the request that has queued it. */
export interface JobCause {
  traceparent?: string;
  requestId?: string;
}

/** Empty outside of requests: a job that queues the next one would never end its trace. */
export function toJobCause(): JobCause {
  const trace = getActiveTrace();
  if (trace?.requestId === undefined || trace.jobId !== undefined) return {};
  return { traceparent: formatTraceparent(trace), requestId: trace.requestId };
}

/** Runs a job in the trace of the request that has queued it, else in a new one; its lines of the log have its id. */
export function inJobTrace<T>({ attrs: { name, _id, data } }: Job<unknown>, run: () => Promise<T>): Promise<T> {
  const { traceparent, requestId } = (data ?? {}) as JobCause;
  const fields = { jobId: _id === undefined ? name : String(_id), requestId };
  return inEntry({ name: `job ${name}`, kind: 'consumer', parent: parseTraceparent(traceparent), fields }, run);
}
