import type { CommandFailedEvent, CommandStartedEvent, CommandSucceededEvent, MongoClient } from 'mongodb';
import { getActiveTrace } from './active-trace.ts';
import { getTracer, startOtelSpan } from './otel.ts';

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
