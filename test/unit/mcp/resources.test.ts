import { describe, expect, it } from 'vitest';
import type { McpBackend } from '../../../src/mcp/protocol.ts';
import { completeDate, completeUid } from '../../../src/mcp/resources.ts';

/** A record of two years that notes its queries. */
function recordOf(asked: Record<string, unknown>[] = []): McpBackend['run'] {
  const entries = Array.from({ length: 730 }, (_, index) => ({
    date: new Date(Date.UTC(2026, 0, 31 - index)).toISOString().slice(0, 10),
    attestationUid: index === 0 ? null : `0x${index.toString(16).padStart(64, '0')}`,
  }));
  return async (_, input) => {
    asked.push(input);
    const { pageSize, from = '0000-01-01', to = '9999-12-31' } = input as { pageSize: number; from?: string; to?: string };
    const meant = entries.filter(({ date }) => date >= from && date <= to).slice(0, pageSize);
    return { output: { entries: meant }, text: '' };
  };
}

describe('completed days', () => {
  it('are the newest hundred with the prefix', async () => {
    expect(await completeDate(recordOf(), '')).toHaveLength(100);
    expect((await completeDate(recordOf(), '2026-01-3')).toSorted()).toEqual(['2026-01-30', '2026-01-31']);
    expect(await completeDate(recordOf(), '2026-01-31')).toEqual(['2026-01-31']);
  });

  it('reach back to the start of the record for a complete month', async () => {
    const dates = await completeDate(recordOf(), '2024-02');
    expect([dates.length, dates[0], dates.at(-1)]).toEqual([28, '2024-02-29', '2024-02-02']);
  });

  it.each(['x', '2026-01-011', '{"$gt":""}', '２０２６'])('are empty for %s, without a query', async (typed) => {
    const asked: Record<string, unknown>[] = [];
    expect(await completeDate(recordOf(asked), typed)).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('are empty for an invalid month', async () => {
    expect(await completeDate(recordOf(), '2026-13')).toEqual([]);
    expect(await completeDate(recordOf(), '2026-00-')).toEqual([]);
  });
});

describe('completed uids', () => {
  it('are at most a hundred attested ones', async () => {
    expect(await completeUid(recordOf(), '')).toHaveLength(99);
    expect(await completeUid(recordOf(), `0x${'0'.repeat(62)}2`)).toHaveLength(16);
    expect(await completeUid(recordOf(), `0x${'0'.repeat(62)}1F`)).toEqual([`0x${'0'.repeat(62)}1f`]);
    expect(await completeUid(recordOf(), '1')).toEqual([]);
  });
});
