import type { ServerContext } from '@modelcontextprotocol/server';
import { getActiveTrace } from '../../platform/tracing/active-trace.ts';
import { inSpan } from '../../platform/tracing/span.ts';
import { parseTraceparent } from '../../platform/tracing/traceparent.ts';
import { META_KEYS } from './meta-keys.ts';

/** Runs the work of a message in the trace that its `_meta` names, else in that of its HTTP request. */
export function inMessageTrace<T>(name: string, { mcpReq }: Pick<ServerContext, 'mcpReq'>, work: () => Promise<T>): Promise<T> {
  const caller = parseTraceparent(mcpReq._meta?.[META_KEYS.traceparent]);
  // A client that sends both has made one of the other: the span of the HTTP request stands between.
  const isOther = caller !== null && caller.traceId !== getActiveTrace()?.traceId;
  return inSpan({ name, parent: isOther ? caller : undefined, isFromClient: true }, work);
}
