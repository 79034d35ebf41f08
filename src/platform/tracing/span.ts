import { isOracleError } from '../errors.ts';
import { type ActiveTrace, getActiveTrace, runInTrace, type TraceFields } from './active-trace.ts';
import { getTracer, type OtelSpanStart, type SpanAttributes, sampleAsRoot, startOtelSpan, toTraceParent } from './otel.ts';
import { createSpanId, createTraceId, type TraceParent } from './traceparent.ts';

/** Names and attributes have no values of forecasts, no tokens, and nothing of a URL but its declared path. */
export interface SpanStart extends OtelSpanStart {
  /** Replaces the active trace for this span. */
  parent?: TraceParent | undefined;
  /** Whether a client has sent `parent`: the sampler decides as for work without one. */
  isFromClient?: boolean;
  fields?: TraceFields | undefined;
}

export interface EntryStart extends OtelSpanStart {
  /** Null: a new trace. */
  parent: TraceParent | null;
  /** As for a span. */
  isFromClient?: boolean;
  fields: TraceFields;
}

export interface SpanEnd {
  /** Replaces the name. */
  name?: string;
  attributes?: SpanAttributes;
  /** Marks a failure; a code, never a message. */
  errorType?: string | undefined;
}

export interface OpenSpan {
  trace: ActiveTrace;
  run<T>(work: () => T): T;
  end(end?: SpanEnd): void;
}

/** Where work comes into the process: a request or a job. Inherits nothing of the trace that happens to be active. */
export function enterTrace({ parent, isFromClient = false, fields, ...start }: EntryStart): OpenSpan {
  return openSpan(start, isFromClient && parent !== null ? decideSampling(start, parent) : parent, fields);
}

/** Runs work as a span of the active trace, or of `parent`. A failure is recorded by its code. */
export async function inSpan<T>({ parent, isFromClient = false, fields, ...start }: SpanStart, work: () => Promise<T>): Promise<T> {
  if (getTracer() === null && parent === undefined && fields === undefined) return work();
  const decided = isFromClient && parent !== undefined ? decideSampling(start, parent) : parent;
  return runSpan(openSpan(start, decided, { ...pickFields(getActiveTrace()), ...fields }), work);
}

/** As `inSpan`, for an entry. */
export function inEntry<T>(start: EntryStart, work: () => Promise<T>): Promise<T> {
  return runSpan(enterTrace(start), work);
}

async function runSpan<T>(span: OpenSpan, work: () => Promise<T>): Promise<T> {
  try {
    const result = await span.run(work);
    span.end();
    return result;
  } catch (error) {
    span.end({ errorType: isOracleError(error) ? error.code : 'INTERNAL' });
    throw error;
  }
}

/** @param parent null: a new trace; undefined: the active one */
function openSpan(start: OtelSpanStart, parent: TraceParent | null | undefined, fields: TraceFields): OpenSpan {
  const tracer = getTracer();
  if (tracer === null) {
    const trace = { ...continueTrace(parent === undefined ? (getActiveTrace() ?? null) : parent), ...fields };
    return { trace, run: (work) => runInTrace(trace, work), end: () => undefined };
  }
  const { api } = tracer;
  const { span, context } = startOtelSpan(tracer, start, parent);
  const trace = { ...toTraceParent(tracer, span), ...fields };
  return {
    trace,
    run: (work) => api.context.with(context, () => runInTrace(trace, work)),
    end({ name, attributes, errorType } = {}) {
      if (name !== undefined) span.updateName(name);
      if (attributes !== undefined) span.setAttributes({ ...attributes });
      if (errorType !== undefined) span.setAttribute('error.type', errorType).setStatus({ code: api.SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function decideSampling(start: OtelSpanStart, parent: TraceParent): TraceParent {
  const tracer = getTracer();
  return tracer === null ? parent : sampleAsRoot(tracer, start, parent);
}

/** Without an SDK the caller's flag is passed on, since nothing is recorded here. */
function continueTrace(parent: TraceParent | null): TraceParent {
  return { traceId: parent?.traceId ?? createTraceId(), spanId: createSpanId(), isSampled: parent?.isSampled ?? false };
}

function pickFields({ requestId, jobId, txKey }: TraceFields = {}): TraceFields {
  return { requestId, jobId, txKey };
}
