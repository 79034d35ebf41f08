import type { Clock } from '../../../src/events/websocket/connection.ts';

/** A clock that the test moves; due timers run on the way, each at its time. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function manualClock(start: Date): ManualClock {
  let nowMs = start.getTime();
  let timers: { atMs: number; work: () => void }[] = [];
  return {
    now: () => new Date(nowMs),
    after(ms, work) {
      const timer = { atMs: nowMs + Math.max(ms, 0), work };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const end = nowMs + ms;
      for (;;) {
        const [next] = timers.filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs);
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        nowMs = Math.max(nowMs, next.atMs);
        next.work();
      }
      nowMs = end;
    },
  };
}
