import { AsyncLocalStorage } from 'node:async_hooks';
import { formatTraceparent, type TraceParent } from './traceparent.ts';

/** What the lines of the log are searched by, besides the trace. */
export interface TraceFields {
  /** `X-Request-Id` of the HTTP request that everything here is done for. */
  requestId?: string | undefined;
  /** Id of the scheduled job in the collection `jobs`, or of the job of agent commerce. */
  jobId?: string | undefined;
  /** Key of the transaction in the journal. */
  txKey?: string | undefined;
}

export interface ActiveTrace extends TraceParent, TraceFields {}

const storage = new AsyncLocalStorage<ActiveTrace>();

export function getActiveTrace(): ActiveTrace | undefined {
  return storage.getStore();
}

export function runInTrace<T>(trace: ActiveTrace, work: () => T): T {
  return storage.run(trace, work);
}

/** Mixed into every line of the log; empty outside of a trace. */
export function getTraceLogFields(): { traceId?: string } & TraceFields {
  const trace = storage.getStore();
  if (trace === undefined) return {};
  const { traceId, requestId, jobId, txKey } = trace;
  return { traceId, requestId, jobId, txKey };
}

/** Header of a request that the active trace causes; none outside of a trace. Only for receivers that a client has registered. */
export function getTraceHeaders(): { traceparent?: string } {
  const trace = storage.getStore();
  return trace === undefined ? {} : { traceparent: formatTraceparent(trace) };
}
