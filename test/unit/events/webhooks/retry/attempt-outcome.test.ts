import { describe, expect, it } from 'vitest';
import { type DeliveryAttempt, decideOutcome } from '../../../../../src/events/webhooks/delivery-queue.ts';

const at = new Date('2026-03-10T00:00:00Z');
const earlier = (ms: number) => new Date(at.getTime() - ms);
const HOUR_MS = 3_600_000;

function verdict(
  attempt: Partial<DeliveryAttempt>,
  { attempts = 1, failingSince = null as Date | null, retryAfterSeconds = null as number | null, ended = null as string | null } = {},
) {
  const called = { attempt: { at, status: 500, ms: 3, reason: 'HTTP 500', ...attempt }, retryAfterSeconds, ended };
  return decideOutcome({ webhook: { failingSince }, attempts, called }, () => 0);
}

describe('what follows from an attempt', () => {
  it('is a delivery, whenever it comes', () => {
    const delivered = { verdict: { state: 'DELIVERED' }, end: null };
    expect(verdict({ status: 204, reason: null })).toEqual(delivered);
    expect(verdict({ status: 200, reason: null }, { attempts: 10, failingSince: earlier(200 * HOUR_MS) })).toEqual(delivered);
  });

  it('is another attempt, at its step, or when the receiver asks for it', () => {
    expect(verdict({})).toEqual({ verdict: { state: 'PENDING', nextAttemptAt: new Date(at.getTime() + 5_000) }, end: null });
    expect(verdict({ status: 429 }, { retryAfterSeconds: 90 }).verdict).toMatchObject({ nextAttemptAt: new Date(at.getTime() + 90_000) });
  });

  it('is the end of the delivery after the tenth, and of nothing else', () => {
    expect(verdict({}, { attempts: 9 }).verdict.state).toBe('PENDING');
    expect(verdict({}, { attempts: 10 })).toEqual({ verdict: { state: 'FAILED' }, end: null });
  });

  it('is the end of the webhook when the receiver has ended it', () => {
    const ended = 'The receiver answered 410 Gone';
    const { end, ...rest } = verdict({ status: 410, reason: 'HTTP 410' }, { ended });
    expect(rest).toEqual({ verdict: { state: 'CANCELLED' } });
    expect(end).toEqual({ by: 'receiver', reason: ended, failingSince: at });
  });

  it('is the end of the webhook once five days have passed since the first failure, and not a moment before', () => {
    const fiveDays = 120 * HOUR_MS;
    expect(verdict({}, { failingSince: earlier(fiveDays - 1) }).end).toBeNull();
    expect(verdict({}, { failingSince: earlier(fiveDays) })).toMatchObject({
      verdict: { state: 'CANCELLED' },
      end: { by: 'failures', reason: expect.stringContaining('HTTP 500'), failingSince: earlier(fiveDays) },
    });
  });
});
