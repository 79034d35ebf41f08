import { describe, expect, it } from 'vitest';
import { formatLocalClock, formatLocalTime } from '../../../../src/page/browser/dom.ts';

describe('local time', () => {
  it.each([
    ['UTC', '2026-11-22 21:35 UTC', '21:35 UTC'],
    ['Europe/Berlin', '2026-11-22 22:35 CET', '22:35 CET'],
    ['Asia/Tokyo', '2026-11-23 06:35 GMT+9', '06:35 GMT+9'],
  ])('names date and zone of a reader in %s', (zone, time, clock) => {
    expect(formatLocalTime('2026-11-22T21:35:10.000Z', zone)).toBe(time);
    expect(formatLocalClock('2026-11-22T21:35:10.000Z', zone)).toBe(clock);
  });

  it('midnight is 00:00', () => {
    expect(formatLocalTime('2026-11-22T00:00:00.000Z', 'UTC')).toBe('2026-11-22 00:00 UTC');
  });
});
