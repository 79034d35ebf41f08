import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatLoginMessage, requireWithinLoginWindow, toTimestampMs } from '../../../src/auth/login-message.ts';

it("formats the login message of the interface with the client's spelling of the wallet", () => {
  expect(formatLoginMessage('0xAbC', 1_700_000_000)).toBe('Verify svc balance: 0xAbC:1700000000');
  expect(formatLoginMessage('0xabc', 1_700_000_000_123)).toBe('Verify svc balance: 0xabc:1700000000123');
});

it('distinguishes seconds from milliseconds by size', () => {
  const anyMs = fc.integer({ min: Date.UTC(1974, 0), max: Date.UTC(5000, 0) });
  fc.assert(
    fc.property(anyMs, (ms) => {
      expect(toTimestampMs(ms)).toBe(ms);
      expect(toTimestampMs(Math.floor(ms / 1_000))).toBe(Math.floor(ms / 1_000) * 1_000);
    }),
  );
});

it.each([['2026-12-31T23:59:30Z'], ['2027-01-01T00:00:10Z'], ['2026-03-29T01:00:00Z']])(
  'takes a time within five minutes to either side, both ends included: %s',
  (text) => {
    const now = new Date(text);
    for (const offsetMs of [0, 1, 299_999, 300_000]) {
      expect(() => requireWithinLoginWindow(now.getTime() - offsetMs, now, 'timestamp')).not.toThrow();
      expect(() => requireWithinLoginWindow(now.getTime() + offsetMs, now, 'timestamp')).not.toThrow();
    }
    for (const offsetMs of [-300_001, 300_001, -3_600_000, 86_400_000]) {
      expect(() => requireWithinLoginWindow(now.getTime() + offsetMs, now, 'timestamp')).toThrow(
        expect.objectContaining({
          code: 'UNAUTHENTICATED',
          field: 'timestamp',
          details: { serverTime: now.toISOString(), windowSeconds: 300 },
        }),
      );
    }
  },
);
