import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DELIVERY_ATTEMPTS } from '../../../../src/events/asyncapi.ts';
import type { DeliveryAttempt } from '../../../../src/events/webhooks/call.ts';
import { decideOutcome, RETRY_DELAYS_MS, RETRY_JITTER } from '../../../../src/events/webhooks/queue.ts';
import { HOUR_MS } from '../../../../src/forecast/day.ts';
import { between } from '../../../support/record/arbitraries.ts';

describe('attempt outcome', () => {
  const at = new Date('2026-03-10T00:00:00Z');
  const earlier = (ms: number) => new Date(at.getTime() - ms);

  function verdict(
    attempt: Partial<DeliveryAttempt>,
    { attempts = 1, failingSince = null as Date | null, retryAfterSeconds = null as number | null, ended = null as string | null } = {},
  ) {
    const called = { attempt: { at, status: 500, ms: 3, reason: 'HTTP 500', ...attempt }, retryAfterSeconds, ended };
    return decideOutcome({ failingSince, attempts, called }, () => 0);
  }

  describe('what follows from an attempt', () => {
    it('is a delivery, whenever it comes', () => {
      const delivered = { state: 'DELIVERED', end: null };
      expect(verdict({ status: 204, reason: null })).toEqual(delivered);
      expect(verdict({ status: 200, reason: null }, { attempts: 10, failingSince: earlier(200 * HOUR_MS) })).toEqual(delivered);
    });

    it('is another attempt, at its step, or when the receiver asks for it', () => {
      expect(verdict({})).toEqual({ state: 'PENDING', delayMs: 5_000, end: null });
      expect(verdict({ status: 429 }, { retryAfterSeconds: 90 })).toMatchObject({ delayMs: 90_000 });
    });

    it('is the end of the delivery after the tenth, and of nothing else', () => {
      expect(verdict({}, { attempts: 9 }).state).toBe('PENDING');
      expect(verdict({}, { attempts: 10 })).toEqual({ state: 'FAILED', end: null });
    });

    it('is the end of the webhook when the receiver has ended it', () => {
      const ended = 'The receiver answered 410 Gone';
      const { end, ...rest } = verdict({ status: 410, reason: 'HTTP 410' }, { ended });
      expect(rest).toEqual({ state: 'CANCELLED' });
      expect(end).toEqual({ by: 'receiver', reason: ended, failingSince: at });
    });

    it('is the end of the webhook once five days have passed since the first failure, and not a moment before', () => {
      const fiveDays = 120 * HOUR_MS;
      expect(verdict({}, { failingSince: earlier(fiveDays - 1) }).end).toBeNull();
      expect(verdict({}, { failingSince: earlier(fiveDays) })).toMatchObject({
        state: 'CANCELLED',
        end: { by: 'failures', reason: expect.stringContaining('HTTP 500'), failingSince: earlier(fiveDays) },
      });
    });
  });
});

describe('retry schedule', () => {
  const at = new Date('2026-03-10T00:00:00Z');
  const random = between(0, 1 - Number.EPSILON);
  const attempts = fc.integer({ min: 1, max: RETRY_DELAYS_MS.length });
  const decide = ({ attempts, retryAfterSeconds = null }: { attempts: number; retryAfterSeconds?: number | null }, value: number) => {
    const called = { attempt: { at, status: 500, ms: 3, reason: 'HTTP 500' }, retryAfterSeconds, ended: null };
    return decideOutcome({ failingSince: null, attempts, called }, () => value);
  };
  const pauseAfter = (failure: Parameters<typeof decide>[0], value: number) => decide(failure, value).delayMs!;

  describe('the next attempt', () => {
    it('comes after the steps of the standard', () => {
      const steps = Array.from({ length: MAX_DELIVERY_ATTEMPTS - 1 }, (_, index) => pauseAfter({ attempts: index + 1 }, 0) / 1_000);
      expect(steps).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    });

    it('is none once all ten are used up', () => {
      expect(MAX_DELIVERY_ATTEMPTS).toBe(10);
      expect(decide({ attempts: 10, retryAfterSeconds: 5 }, 0)).toEqual({ state: 'FAILED', end: null });
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
      expect(Math.max(...all) - Math.min(...all)).toBeGreaterThan(0.19 * RETRY_DELAYS_MS[1]!);
    });

    it('is put off as the receiver asks, never made earlier, and a day later at most', () => {
      fc.assert(
        fc.property(attempts, random, fc.integer({ min: 0, max: 999_999_999 }), (made, value, retryAfterSeconds) => {
          const step = RETRY_DELAYS_MS[made - 1]!;
          const ms = pauseAfter({ attempts: made, retryAfterSeconds }, value);
          const asked = Math.min(retryAfterSeconds * 1_000, 24 * HOUR_MS);
          return ms >= step && ms >= asked && ms <= Math.max(step, asked) + step * RETRY_JITTER;
        }),
      );
    });
  });
});
