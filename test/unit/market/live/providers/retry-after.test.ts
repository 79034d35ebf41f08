import { describe, expect, it } from 'vitest';
import { parseHttpDate, parseRetryAfter } from '../../../../../src/market/live/provider.ts';

const now = Date.UTC(2026, 0, 5, 12, 0, 0);

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    [' 20 ', 20_000],
    ['Mon, 05 Jan 2026 12:00:45 GMT', 45_000],
    ['Mon, 05 Jan 2026 11:00:00 GMT', 0],
    ['999999999', 86_400_000],
    ['Fri, 01 Jan 2100 00:00:00 GMT', 86_400_000],
  ])('parses %j to %d ms', (header, waitMs) => {
    expect(parseRetryAfter(header, now)).toBe(waitMs);
  });

  it.each([null, '', '1.5', '-3', 'soon', 'soon GMT', '2026-01-05'])('returns null for %j', (header) => {
    expect(parseRetryAfter(header, now)).toBeNull();
  });
});

describe('parseHttpDate', () => {
  it('accepts HTTP dates only', () => {
    expect(parseHttpDate('Mon, 05 Jan 2026 12:00:00 GMT')).toBe(now);
    expect(parseHttpDate('2026-01-05T12:00:00Z')).toBeNaN();
    expect(parseHttpDate('')).toBeNaN();
  });
});
