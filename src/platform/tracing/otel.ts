import type { Context, Span, SpanKind, Tracer } from '@opentelemetry/api';
import { withTimeout } from '../concurrency/with-timeout.ts';
import type { TraceParent } from './traceparent.ts';

type Api = typeof import('@opentelemetry/api');

interface ConnectedTracer {
  api: Api;
  tracer: Tracer;
}

export type SpanAttributes = Readonly<Record<string, string | number>>;

export interface OtelSpanStart {
  name: string;
  /** Default: `internal`. */
  kind?: 'server' | 'client' | 'consumer' | 'internal' | undefined;
  attributes?: SpanAttributes | undefined;
}

/** Where the API keeps what an SDK has registered (opentelemetry-js, `api/src/internal/global-utils.ts`). */
const API_GLOBAL = Symbol.for('opentelemetry.js.api.1');
const FLUSH_TIMEOUT_MS = 3_000;

let connected: ConnectedTracer | null = null;

/** Spans are recorded from here on if `--import` has loaded an SDK; without one, not even its API is loaded. */
export async function connectTracer(): Promise<void> {
  if (!(API_GLOBAL in globalThis)) return;
  const api = await import('@opentelemetry/api');
  const tracer = api.trace.getTracer('bitcoin-signal-oracle');
  const isRegistered = api.isSpanContextValid(tracer.startSpan('probe', { root: true }).spanContext());
  connected = isRegistered ? { api, tracer } : null;
}

export function getTracer(): ConnectedTracer | null {
  return connected;
}

/** Sends what the SDK still holds. @throws Error after 3 s */
export async function flushSpans(): Promise<void> {
  const provider = connected?.api.trace.getTracerProvider() as { getDelegate?(): unknown } | undefined;
  const delegate = (provider?.getDelegate?.() ?? provider) as { forceFlush?(): Promise<void> } | undefined;
  const flushed = delegate?.forceFlush?.() ?? Promise.resolve();
  await withTimeout(FLUSH_TIMEOUT_MS, flushed, () => new Error('the collector of traces does not answer'));
}

/** A span and the context in which its work runs. @param parent null: a new trace; undefined: the active span */
export function startOtelSpan(
  { api, tracer }: ConnectedTracer,
  start: OtelSpanStart,
  parent: TraceParent | null | undefined,
): { span: Span; context: Context } {
  const active = parent === null ? api.ROOT_CONTEXT : api.context.active();
  const [origin, caller] = [api.trace.getSpanContext(active), parent ? toSpanContext(api, parent) : null];
  const base = caller === null ? active : api.trace.setSpanContext(active, caller);
  const links = caller !== null && origin !== undefined ? [{ context: origin }] : [];
  const span = tracer.startSpan(start.name, { kind: toSpanKind(api, start), attributes: { ...start.attributes }, links }, base);
  return { span, context: api.trace.setSpan(base, span) };
}

/**
 * A client's trace, with the decision that the SDK's sampler would make without it: neither its flag nor a trace id chosen to fall into a
 * share can make this service record, or hide, what it does.
 */
export function sampleAsRoot({ api, tracer }: ConnectedTracer, start: OtelSpanStart, { traceId, spanId }: TraceParent): TraceParent {
  const root = tracer.startSpan(start.name, { kind: toSpanKind(api, start), attributes: { ...start.attributes }, root: true });
  return { traceId, spanId, isSampled: isSampled(api, root) };
}

export function toTraceParent({ api }: ConnectedTracer, span: Span): TraceParent {
  const { traceId, spanId } = span.spanContext();
  return { traceId, spanId, isSampled: isSampled(api, span) };
}

function isSampled({ TraceFlags }: Api, span: Span): boolean {
  return (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
}

function toSpanContext({ TraceFlags }: Api, { traceId, spanId, isSampled: sampled }: TraceParent) {
  return { traceId, spanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

function toSpanKind(api: Api, { kind = 'internal' }: OtelSpanStart): SpanKind {
  const { SERVER, CLIENT, CONSUMER, INTERNAL } = api.SpanKind;
  return { server: SERVER, client: CLIENT, consumer: CONSUMER, internal: INTERNAL }[kind];
}
