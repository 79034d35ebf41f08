import { describe, expect, it } from 'vitest';
import { createLog } from '../../../../src/platform/log.ts';
import { enterTrace, getActiveTrace, getTraceHeaders, inEntry, inSpan } from '../../../../src/platform/tracing.ts';

const PARENT = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', isSampled: true };

/** What a line of the log has besides level, time and message. */
function logged(work: (log: ReturnType<typeof createLog>) => void): Record<string, unknown> {
  const lines: string[] = [];
  work(createLog({ level: 'info', secrets: [], write: (line) => void lines.push(line) }));
  const { level: _level, time: _time, msg: _msg, ...fields } = JSON.parse(lines[0]!);
  return fields;
}

describe('without an SDK', () => {
  it('continues the trace of a caller under a span id of its own, with the flag of the caller', () => {
    const { trace, run } = enterTrace({ name: 'GET', parent: PARENT, isFromClient: true, fields: { requestId: 'r' } });
    expect(trace).toEqual({ ...PARENT, spanId: expect.not.stringContaining(PARENT.spanId), requestId: 'r' });
    expect(run(getTraceHeaders)).toEqual({ traceparent: `00-${PARENT.traceId}-${trace.spanId}-01` });
  });

  it('inherits nothing of an active trace at an entry', async () => {
    const trace = await inEntry({ name: 'GET', parent: PARENT, fields: { requestId: 'r' } }, () =>
      inEntry({ name: 'job', parent: null, fields: { jobId: 'j' } }, async () => getActiveTrace()),
    );
    expect(trace).toMatchObject({ jobId: 'j', isSampled: false });
    expect(trace).not.toHaveProperty('requestId');
    expect(trace?.traceId).not.toBe(PARENT.traceId);
  });

  it('keeps request and job in the spans of an entry, also in one that continues another trace', async () => {
    const fields = { requestId: 'r', jobId: 'j' };
    const trace = await inEntry({ name: 'job', parent: null, fields }, () =>
      inSpan({ name: 'webhook', parent: PARENT }, async () => getActiveTrace()),
    );
    expect(trace).toMatchObject({ traceId: PARENT.traceId, ...fields });
  });

  it('sends no header outside of a trace', async () => {
    expect(await inSpan({ name: 'skill' }, async () => getTraceHeaders())).toEqual({});
  });
});

describe('a line of the log', () => {
  it('has the ids of the active trace and of the innermost transaction', async () => {
    const fields = await inEntry({ name: 'GET', parent: PARENT, fields: { requestId: 'r' } }, () =>
      inSpan({ name: 'transaction', fields: { txKey: 'attest:2026-08-20' } }, async () => logged((log) => log.info('sent'))),
    );
    expect(fields).toEqual({ traceId: PARENT.traceId, requestId: 'r', txKey: 'attest:2026-08-20' });
  });

  it('keeps an id that it names itself', async () => {
    const fields = await inEntry({ name: 'GET', parent: PARENT, fields: { requestId: 'r' } }, async () =>
      logged((log) => log.info({ requestId: 'own' }, 'sent')),
    );
    expect(fields).toEqual({ traceId: PARENT.traceId, requestId: 'own' });
  });

  it('has none outside of a trace', () => {
    expect(logged((log) => log.info('sent'))).toEqual({});
  });
});
