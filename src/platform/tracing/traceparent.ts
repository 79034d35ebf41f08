import { randomUUID } from 'node:crypto';

/** Position in a trace, as of W3C Trace Context (level 1). */
export interface TraceParent {
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
