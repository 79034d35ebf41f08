import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  getNextAttemptAt,
  MAX_DELIVERY_ATTEMPTS,
  MAX_RECEIVER_RETRY_AFTER_MS,
  RETRY_DELAYS_MS,
  RETRY_JITTER,
} from '../../../../../src/events/webhooks/delivery-queue.ts';
import { between } from '../../../../support/record/arbitraries.ts';

const at = new Date('2026-03-10T00:00:00Z');
const random = between(0, 1 - Number.EPSILON);
const attempts = fc.integer({ min: 1, max: RETRY_DELAYS_MS.length });
const pauseAfter = (failure: { attempts: number; retryAfterSeconds?: number | null }, value: number) =>
  getNextAttemptAt({ at, retryAfterSeconds: null, ...failure }, () => value)!.getTime() - at.getTime();

describe('the next attempt', () => {
  it('comes after the steps of the standard', () => {
    const steps = Array.from({ length: MAX_DELIVERY_ATTEMPTS - 1 }, (_, index) => pauseAfter({ attempts: index + 1 }, 0) / 1_000);
    expect(steps).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
  });

  it('is none once all ten are used up', () => {
    expect(MAX_DELIVERY_ATTEMPTS).toBe(10);
    expect(getNextAttemptAt({ attempts: 10, at, retryAfterSeconds: 5 }, () => 0)).toBeNull();
  });

  it('is never earlier than its step, and at most a fifth of it later', () => {
    fc.assert(
      fc.property(attempts, random, (made, value) => {
        const step = RETRY_DELAYS_MS[made - 1]!;
        const ms = pauseAfter({ attempts: made }, value);
        return ms >= step && ms <= step * (1 + RETRY_JITTER);
      }),
    );
  });

  it('spreads over that time', () => {
    const all = Array.from({ length: 100 }, (_, index) => pauseAfter({ attempts: 2 }, index / 100));
    expect(new Set(all).size).toBe(100);
    expect(Math.max(...all) - Math.min(...all)).toBeGreaterThan(0.19 * RETRY_DELAYS_MS[1]);
  });

  it('is put off as the receiver asks, never made earlier, and a day later at most', () => {
    fc.assert(
      fc.property(attempts, random, fc.integer({ min: 0, max: 999_999_999 }), (made, value, retryAfterSeconds) => {
        const step = RETRY_DELAYS_MS[made - 1]!;
        const ms = pauseAfter({ attempts: made, retryAfterSeconds }, value);
        const asked = Math.min(retryAfterSeconds * 1_000, MAX_RECEIVER_RETRY_AFTER_MS);
        return ms >= step && ms >= asked && ms <= Math.max(step, asked) + step * RETRY_JITTER;
      }),
    );
  });
});
