import { describe, expect, test } from 'vitest';
import { HostRateLimit, POSTS_PER_MINUTE } from '../../../../../src/events/webhooks/limits.ts';

const MINUTE_MS = 60_000;

function budget() {
  const clock = { ms: Date.UTC(2026, 0, 5) };
  const hosts = new HostRateLimit(() => new Date(clock.ms));
  return { clock, take: (count: number, name = 'victim.example') => Array.from({ length: count }, () => hosts.take(name)) };
}

describe('one host', () => {
  test('allows a burst, and reports drops once a minute', () => {
    const { clock, take } = budget();
    expect(new Set(take(POSTS_PER_MINUTE))).toEqual(new Set(['post']));
    expect(take(3)).toEqual(['dropped', 'dropped silently', 'dropped silently']);
    clock.ms += MINUTE_MS;
    take(POSTS_PER_MINUTE);
    expect(take(2)).toEqual(['dropped', 'dropped silently']);
  });

  test('gets as many again in a minute as pass of it, and no more for having rested longer', () => {
    const { clock, take } = budget();
    take(POSTS_PER_MINUTE);
    clock.ms += MINUTE_MS / 4;
    expect(take(POSTS_PER_MINUTE).filter((one) => one === 'post')).toHaveLength(POSTS_PER_MINUTE / 4);
    clock.ms += 100 * MINUTE_MS;
    expect(take(2 * POSTS_PER_MINUTE).filter((one) => one === 'post')).toHaveLength(POSTS_PER_MINUTE);
  });

  test('gains nothing by a clock that goes back', () => {
    const { clock, take } = budget();
    take(POSTS_PER_MINUTE);
    clock.ms -= MINUTE_MS;
    expect(take(1)).toEqual(['dropped']);
  });

  test('takes nothing from another one', () => {
    const { take } = budget();
    take(POSTS_PER_MINUTE + 1);
    expect(take(1, 'other.example')).toEqual(['post']);
  });
});
