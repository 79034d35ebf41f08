import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import {
  createSpanId,
  createTraceId,
  enterTrace,
  formatTraceparent,
  getActiveTrace,
  getTraceHeaders,
  inEntry,
  inSpan,
  parseTraceparent,
} from '../../../src/platform/tracing.ts';

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
describe('traceparent', () => {
  const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
  const SPAN_ID = 'b7ad6b7169203331';

  describe('parseTraceparent', () => {
    it.each([
      ['sampled', `00-${TRACE_ID}-${SPAN_ID}-01`, true],
      ['not sampled', `00-${TRACE_ID}-${SPAN_ID}-00`, false],
      ['other flags of later levels', `00-${TRACE_ID}-${SPAN_ID}-fe`, false],
      ['a later version', `cc-${TRACE_ID}-${SPAN_ID}-01`, true],
      ['a later version with further fields', `cc-${TRACE_ID}-${SPAN_ID}-01-what-comes`, true],
    ])('reads a header that is valid: %s', (_what, header, isSampled) => {
      expect(parseTraceparent(header)).toEqual({ traceId: TRACE_ID, spanId: SPAN_ID, isSampled });
    });

    it.each([
      ['no header', undefined],
      ['another type', { traceId: TRACE_ID }],
      ['empty', ''],
      ['version ff', `ff-${TRACE_ID}-${SPAN_ID}-01`],
      ['a version of one digit', `0-${TRACE_ID}-${SPAN_ID}-01`],
      ['version 00 with further fields', `00-${TRACE_ID}-${SPAN_ID}-01-what`],
      ['a later version without a hyphen behind the flags', `cc-${TRACE_ID}-${SPAN_ID}-01.what`],
      ['upper case', `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`],
      ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN_ID}-01`],
      ['a span id of zeros', `00-${TRACE_ID}-${'0'.repeat(16)}-01`],
      ['a short trace id', `00-${TRACE_ID.slice(1)}-${SPAN_ID}-01`],
      ['a long span id', `00-${TRACE_ID}-${SPAN_ID}0-01`],
      ['no flags', `00-${TRACE_ID}-${SPAN_ID}`],
      ['flags that are not hexadecimal', `00-${TRACE_ID}-${SPAN_ID}-0x`],
      ['a line break at the end', `00-${TRACE_ID}-${SPAN_ID}-01\n`],
      ['two headers', `00-${TRACE_ID}-${SPAN_ID}-01, 00-${TRACE_ID}-${SPAN_ID}-01`],
      ['a line break in further fields', `cc-${TRACE_ID}-${SPAN_ID}-01-a\nb`],
      ['more than 512 characters', `cc-${TRACE_ID}-${SPAN_ID}-01-${'a'.repeat(500)}`],
    ])('returns null for an invalid one: %s', (_what, header) => {
      expect(parseTraceparent(header)).toBeNull();
    });

    it('never throws, and returns nothing but ids that can be formatted and read again', () => {
      const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
      const likely = fc.tuple(hex(2), hex(32), hex(16), hex(2), fc.constantFrom('', '-', '-x', 'x'));
      const header = fc.oneof(
        fc.anything(),
        fc.string(),
        likely.map(([version, trace, span, flags, rest]) => `${version}-${trace}-${span}-${flags}${rest}`),
      );
      fc.assert(
        fc.property(header, (value) => {
          const parsed = parseTraceparent(value);
          if (parsed !== null) expect(parseTraceparent(formatTraceparent(parsed))).toEqual(parsed);
        }),
      );
    });
  });

  it('creates ids that are valid and differ', () => {
    const created = Array.from({ length: 100 }, () => ({ traceId: createTraceId(), spanId: createSpanId(), isSampled: true }));
    for (const each of created) expect(parseTraceparent(formatTraceparent(each))).toEqual(each);
    expect(new Set(created.flatMap(({ traceId, spanId }) => [traceId, spanId])).size).toBe(200);
  });
});
