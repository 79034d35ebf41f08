import { expect, it } from 'vitest';
import { inMessageTrace } from '../../../src/mcp/tools.ts';
import { getActiveTrace, inEntry } from '../../../src/platform/tracing.ts';

const HTTP = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: false };
const OTHER_TRACE = 'c'.repeat(32);

/** The trace in which a message with this `_meta.traceparent` is handled; its HTTP request has trace a. */
function traceOf(traceparent: unknown) {
  const context = { mcpReq: { _meta: { traceparent } } } as never;
  return inEntry({ name: 'POST', parent: HTTP, fields: { requestId: 'r' } }, () =>
    inMessageTrace('tools/call', context, async () => getActiveTrace()),
  );
}

it('continues the trace that _meta names, under the id of the HTTP request', async () => {
  expect(await traceOf(`00-${OTHER_TRACE}-${'d'.repeat(16)}-01`)).toMatchObject({ traceId: OTHER_TRACE, isSampled: true, requestId: 'r' });
});

it.each([undefined, null, 7, 'nothing', `00-${HTTP.traceId}-${'d'.repeat(16)}-01`])(
  'stays in the trace of the HTTP request where _meta has %s',
  async (traceparent) => {
    expect(await traceOf(traceparent)).toMatchObject({ traceId: HTTP.traceId, isSampled: false, requestId: 'r' });
  },
);
