import { describe, expect, it, vi } from 'vitest';
import { readServedTimestamp } from '../../../../src/audit/claims/check-timestamps.ts';
import { readTimestamps } from '../../../../src/audit/claims/read-timestamps.ts';
import { createTimestampClaims } from '../../../../src/audit/claims/timestamp-claims.ts';
import { createBlockReader } from '../../../../src/cli/svc/verify/bitcoin-blocks.ts';
import { formatDay, parseDay } from '../../../../src/forecast/day.ts';
import { OracleError } from '../../../../src/platform/errors.ts';
import { parseBlockHeader } from '../../../../src/verify/timestamps/bitcoin-block.ts';
import { mineHeader, serveBitcoinBlocks } from '../../../support/timestamps/bitcoin-blocks.ts';

const LAST = parseDay('2026-08-20');
const FIRST = LAST - 249;

/** A service with a timestamp of every day from `FIRST` to `LAST`. */
function serve(path: string): Promise<unknown> {
  const query = new URLSearchParams(path.split('?')[1]);
  const [limit, before] = [Number(query.get('limit')), query.get('before')];
  const newest = before === null ? LAST : Math.min(LAST, parseDay(before) - 1);
  const days = Array.from({ length: Math.max(0, Math.min(limit, newest - FIRST + 1)) }, (_, index) => newest - index);
  const oldest = days.at(-1) ?? FIRST;
  const data = days.map((day) => ({ date: formatDay(day), document: `document of ${formatDay(day)}`, proof: 'AAEC' }));
  return Promise.resolve({ success: true, data, nextCursor: oldest > FIRST ? formatDay(oldest) : null });
}

const claims = (request: (path: string) => Promise<unknown> = serve) => createTimestampClaims('https://service.example', request);
const reject = (code: 'NOT_FOUND' | 'INTERNAL') => () => Promise.reject(new OracleError(code, 'no'));

describe('timestamps of a service', () => {
  it('are read over all pages between the days', async () => {
    const request = vi.fn(serve);
    const found = await readTimestamps(claims(request), [formatDay(LAST), formatDay(LAST - 200)]);
    expect([found.size, found.has(formatDay(LAST - 200)), request.mock.calls.length]).toEqual([201, true, 3]);
    expect(found.get(formatDay(LAST))).toEqual({ document: 'document of 2026-08-20', proof: Uint8Array.of(0, 1, 2) });
  });

  it('are read once for one day, and for none', async () => {
    const request = vi.fn(serve);
    expect(await readServedTimestamp(claims(request), LAST, null)).toMatchObject({ document: 'document of 2026-08-20' });
    expect((await readTimestamps(claims(request), [])).size).toBe(0);
    expect(request.mock.calls).toEqual([['api/svc/timestamps?limit=1&before=2026-08-21']]);
  });

  it('are none of an older service, and of a day that is not stamped', async () => {
    for (const served of [claims(reject('NOT_FOUND')), claims(async () => ({ data: [], nextCursor: null }))]) {
      expect(await readServedTimestamp(served, LAST, null)).toBeUndefined();
      const problem = 'the service serves no timestamp of its day';
      expect(await readServedTimestamp(served, LAST, async () => ({ problem: '' }))).toEqual({ problem });
    }
  });

  it.each([
    ['an error', reject('INTERNAL')],
    ['no proof in base64', async () => ({ data: [{ date: '2026-08-20', document: '', proof: '?' }], nextCursor: null })],
    ['too many entries', async () => ({ data: Array(101).fill({ date: '2026-08-20', document: '', proof: null }), nextCursor: null })],
  ])('are unread where it answers %s', async (_, request) => {
    expect(await readServedTimestamp(claims(request), LAST, null)).toEqual({ problem: expect.stringContaining('cannot be read') });
  });
});

describe('a source of blocks', () => {
  it('is asked once for a block', async () => {
    const header = mineHeader(new Uint8Array(32), new Date('2026-08-20T23:00:00Z'));
    const server = await serveBitcoinBlocks(new Map([[7, header]]));
    const read = createBlockReader(server.url);
    expect(await read(7)).toEqual(parseBlockHeader(header));
    expect(await read(8)).toEqual({ problem: 'Bitcoin block 8 was not read: block-height/8 answers 404' });
    await server.close();
    expect(await read(7)).toEqual(parseBlockHeader(header));
  });
});
