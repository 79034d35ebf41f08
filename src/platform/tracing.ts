import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Context, Span, SpanKind, Tracer } from '@opentelemetry/api';
import type { CommandFailedEvent, CommandStartedEvent, CommandSucceededEvent, MongoClient } from 'mongodb';
import { isOracleError } from '../errors.ts';
import { withTimeout } from './time.ts';

/** Names and attributes have no values of forecasts, no tokens, and nothing of a URL but its declared path. */
interface SpanStart extends OtelSpanStart {
  /** Replaces the active trace for this span. */
  parent?: TraceParent | undefined;
  /** Whether a client has sent `parent`: the sampler decides as for work without one. */
  isFromClient?: boolean;
  fields?: TraceFields | undefined;
}

interface EntryStart extends OtelSpanStart {
  /** Null: a new trace. */
  parent: TraceParent | null;
  /** As for a span. */
  isFromClient?: boolean;
  fields: TraceFields;
}

interface SpanEnd {
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
  const { requestId, jobId, txKey } = getActiveTrace() ?? {};
  return runSpan(openSpan(start, decided, { requestId, jobId, txKey, ...fields }), work);
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

/** What the lines of the log are searched by, besides the trace. */
interface TraceFields {
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

function runInTrace<T>(trace: ActiveTrace, work: () => T): T {
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

/** Position in a trace, as of W3C Trace Context (level 1). */
interface TraceParent {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits: the span that causes what carries it. */
  spanId: string;
  /** Whether the sender records the trace. */
  isSampled: boolean;
}

/** Later versions may append fields after another hyphen; `ff` is no version. */
const TRACEPARENT =
  /^(?!ff)(?<version>[0-9a-f]{2})-(?!0{32})(?<traceId>[0-9a-f]{32})-(?!0{16})(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<rest>-.*)?$/;
/** Of all versions: what follows the known fields is not read. */
const MAX_CHARS = 512;
const SAMPLED_FLAG = 1;

/** Null for anything but a valid `traceparent` (W3C Trace Context, section 3.2); such a caller gets a new trace, never an error. */
export function parseTraceparent(value: unknown): TraceParent | null {
  if (typeof value !== 'string' || value.length > MAX_CHARS) return null;
  const { version, traceId, spanId, flags, rest } = TRACEPARENT.exec(value)?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined || (version === '00' && rest !== undefined)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED_FLAG) === SAMPLED_FLAG };
}

/** Version 00, 55 characters; all flags but `sampled` are 0. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** The last 15 digits are random, as the random bits that level 2 asks for; a UUID fixes two of the others. */
export function createTraceId(): string {
  return randomUUID().replaceAll('-', '');
}

export function createSpanId(): string {
  return createTraceId().slice(16);
}

type Api = typeof import('@opentelemetry/api');

interface ConnectedTracer {
  api: Api;
  tracer: Tracer;
}

type SpanAttributes = Readonly<Record<string, string | number>>;

interface OtelSpanStart {
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
function startOtelSpan(
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
function sampleAsRoot({ api, tracer }: ConnectedTracer, start: OtelSpanStart, { traceId, spanId }: TraceParent): TraceParent {
  const root = tracer.startSpan(start.name, { kind: toSpanKind(api, start), attributes: { ...start.attributes }, root: true });
  return { traceId, spanId, isSampled: isSampled(api, root) };
}

function toTraceParent({ api }: ConnectedTracer, span: Span): TraceParent {
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

/** Commands that are sent within a recorded trace; their arguments are not recorded. The client must monitor commands. */
export function recordMongoSpans(client: MongoClient): void {
  const open = new Map<string, (failed: boolean) => void>();
  const end = (failed: boolean) => (event: CommandSucceededEvent | CommandFailedEvent) => {
    const key = toKey(event);
    open.get(key)?.(failed);
    open.delete(key);
  };
  client.on('commandStarted', (event) => {
    const [tracer, trace] = [getTracer(), getActiveTrace()];
    if (tracer === null || trace?.isSampled !== true) return;
    const { span } = startOtelSpan(tracer, toSpanStart(event), undefined);
    open.set(toKey(event), (failed) => {
      if (failed) span.setStatus({ code: tracer.api.SpanStatusCode.ERROR });
      span.end();
    });
  });
  client.on('commandSucceeded', end(false));
  client.on('commandFailed', end(true));
}

/** Attributes of the semantic conventions for databases. */
function toSpanStart({ commandName, command }: CommandStartedEvent) {
  const target: unknown = commandName === 'getMore' ? command.collection : command[commandName];
  const collection = typeof target === 'string' ? target : undefined;
  return {
    name: collection === undefined ? commandName : `${commandName} ${collection}`,
    kind: 'client' as const,
    attributes: {
      'db.system.name': 'mongodb',
      'db.operation.name': commandName,
      ...(collection !== undefined && { 'db.collection.name': collection }),
    },
  };
}

function toKey({ connectionId, requestId }: { connectionId?: unknown; requestId: number }): string {
  return `${String(connectionId)}:${requestId}`;
}
