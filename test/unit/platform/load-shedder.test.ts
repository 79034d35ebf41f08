import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LoadShedder, type ReleaseSlot, watchQueueingDelay } from '../../../src/platform/load-shedder.ts';

describe('load shedder', () => {
  const [HIGH, LOW] = [0, 1];
  const PRIORITIES = [
    { maxWaitMs: 5_000, share: 1 },
    { maxWaitMs: 1_000, share: 1 },
  ];
  const SAMPLE_MS = 100;
  const open = new AbortController().signal;

  let nowMs: number;
  let shedder: LoadShedder;
  beforeEach(() => {
    nowMs = 0;
    shedder = new LoadShedder({ priorities: PRIORITIES, now: () => nowMs });
  });

  /** Takes slots until there is none. */
  function fill(priority = LOW): ReleaseSlot[] {
    const slots: ReleaseSlot[] = [];
    for (let slot = shedder.tryEnter(priority); slot !== null; slot = shedder.tryEnter(priority)) slots.push(slot);
    return slots;
  }

  /** One interval, in which `completed` of the running slots end. */
  function sample(delayMs: number, running: ReleaseSlot[] = [], completed = 0): void {
    nowMs += SAMPLE_MS;
    for (const release of running.splice(0, completed)) release();
    shedder.observe(delayMs);
  }

  /** The minimum of slots, each held for long, so that ten a second of those that wait are admitted. */
  function queueAtTenPerSecond(length: number, priority = LOW) {
    for (let index = 0; index < 100; index++) sample(500);
    const running = fill(priority);
    sample(500);
    for (let index = 0; index < length + 3; index++) void shedder.enter(priority, open);
    for (let index = 0; index < 3; index++) sample(500, running, 1);
    return { running };
  }

  /** What has become of an admission so far. */
  async function stateOf(admission: Promise<unknown>): Promise<string> {
    const outcome = admission.then(
      () => 'admitted',
      (error) => error.code,
    );
    return Promise.race([outcome, new Promise<string>((resolve) => setImmediate(() => resolve('waiting')))]);
  }

  describe('the limit of concurrent work', () => {
    it('falls while the queueing delay persists, never to zero, and ignores a single peak', () => {
      const before = fill();
      sample(500);
      sample(0);
      for (const release of before) release();
      expect(fill().length).toBeGreaterThanOrEqual(before.length);
      for (let index = 0; index < 100; index++) sample(500);
      expect(shedder.tryEnter(LOW)).toBeNull();
    });

    it('keeps a minimum for the work that makes it faster again', () => {
      for (let index = 0; index < 100; index++) sample(500);
      expect(fill().length).toBe(4);
    });

    it('rises again while all slots are used without a delay', () => {
      for (let index = 0; index < 100; index++) sample(500);
      const few = fill();
      for (let index = 0; index < 20; index++) {
        sample(1);
        few.push(...fill());
      }
      expect(few.length).toBeGreaterThan(10);
    });

    it('leaves the rest of it to the others where a priority has a share', async () => {
      shedder = new LoadShedder({ priorities: [PRIORITIES[HIGH]!, { maxWaitMs: 1_000, share: 3 / 4 }], now: () => nowMs });
      expect([fill(LOW).length, fill(HIGH).length]).toEqual([6, 2]);
    });

    it('starts nothing of a priority that yields while the one before it waits', async () => {
      const low = { maxWaitMs: 1_000, share: 1 / 2 };
      shedder = new LoadShedder({ priorities: [low, { ...low, yields: true }], now: () => nowMs });
      const running = fill(HIGH);
      const waiting = shedder.enter(HIGH, open);
      expect(shedder.tryEnter(LOW)).toBeNull();
      running.shift()!();
      await waiting;
      expect(shedder.tryEnter(LOW)).not.toBeNull();
    });

    it('counts a slot once, however often it is released', () => {
      const [first] = fill();
      first!();
      first!();
      expect(fill()).toHaveLength(1);
    });
  });

  describe('the queue', () => {
    it('admits by priority, then in the order of arrival', async () => {
      const running = fill();
      const order: string[] = [];
      const enter = (name: string, priority: number) => shedder.enter(priority, open).then(() => order.push(name));
      const all = [enter('low 1', LOW), enter('high 1', HIGH), enter('low 2', LOW), enter('high 2', HIGH)];
      for (const release of running.splice(0, all.length)) release();
      await Promise.all(all);
      expect(order).toEqual(['high 1', 'high 2', 'low 1', 'low 2']);
    });

    it('sheds at once what cannot start within the longest wait of its priority, with the expected wait', async () => {
      const { running } = queueAtTenPerSecond(30);
      await expect(shedder.enter(LOW, open)).rejects.toMatchObject({ code: 'OVERLOADED', retryAfterSeconds: 2 });
      const high = shedder.enter(HIGH, open);
      expect(await stateOf(high)).toBe('waiting');
      running.shift()!();
      expect(await stateOf(high)).toBe('admitted');
    });

    it('expects that arrivals of a higher priority go first', async () => {
      queueAtTenPerSecond(4, HIGH);
      expect(await stateOf(shedder.enter(LOW, open))).toBe('OVERLOADED');
    });

    it('sheds what has waited too long, when nothing ends any more', async () => {
      fill();
      const [low, high] = [shedder.enter(LOW, open), shedder.enter(HIGH, open)];
      for (let waitedMs = 0; waitedMs <= PRIORITIES[LOW]!.maxWaitMs; waitedMs += SAMPLE_MS) sample(300);
      expect([await stateOf(low), await stateOf(high)]).toEqual(['OVERLOADED', 'waiting']);
    });

    it('forgets work whose client has gone', async () => {
      const running = fill();
      const gone = new AbortController();
      const waiting = shedder.enter(LOW, gone.signal);
      gone.abort();
      await expect(waiting).rejects.toMatchObject({ code: 'OVERLOADED' });
      await expect(shedder.enter(LOW, gone.signal)).rejects.toMatchObject({ code: 'OVERLOADED' });
      running.shift()!();
      expect(fill()).toHaveLength(1);
    });

    it('does not expect the wait of an earlier overload', async () => {
      const running = fill();
      const first = Array.from({ length: 5 }, () => shedder.enter(LOW, open));
      sample(1);
      sample(1);
      for (const release of running) release();
      for (const release of await Promise.all(first)) release();
      sample(1);
      fill();
      expect(await stateOf(shedder.enter(LOW, open))).toBe('waiting');
    });
  });
});

describe('queueing delay', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function watch(ping: () => Promise<unknown>) {
    const delays: number[] = [];
    const stopping = new AbortController();
    watchQueueingDelay({ ping, observe: (delayMs) => delays.push(Math.round(delayMs)), signal: stopping.signal });
    return { delays, stop: () => stopping.abort() };
  }

  it('is the time that the database takes to answer', async () => {
    const { delays } = watch(() => new Promise((resolve) => setTimeout(resolve, 30)));
    await vi.advanceTimersByTimeAsync(300);
    expect(delays).toEqual([0, 30, 30]);
  });

  it('grows while the database does not answer', async () => {
    const { delays } = watch(() => new Promise(() => undefined));
    await vi.advanceTimersByTimeAsync(500);
    expect(delays).toEqual([0, 100, 200, 300, 400]);
  });

  it('is none where the database rejects at once', async () => {
    const { delays } = watch(() => Promise.reject(new Error('closed')));
    await vi.advanceTimersByTimeAsync(300);
    expect(delays).toEqual([0, 0, 0]);
  });

  it('is the time that the event loop is blocked', async () => {
    const clock = { ms: 0 };
    const delays: number[] = [];
    const { signal } = new AbortController();
    watchQueueingDelay({ ping: async () => undefined, observe: (delayMs) => delays.push(delayMs), signal, now: () => clock.ms });
    clock.ms = 250;
    await vi.advanceTimersByTimeAsync(100);
    expect(delays).toEqual([150]);
  });

  it('is no longer measured once the process stops', async () => {
    const { delays, stop } = watch(async () => undefined);
    stop();
    await vi.advanceTimersByTimeAsync(300);
    expect(delays).toEqual([]);
  });
});
