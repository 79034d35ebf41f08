import { describe, expect, it, test } from 'vitest';
import { MINUTE_MS } from '../../../../src/forecast/day.ts';
import { HostLimiter, type HostLimiterOptions, HostRateLimit, POSTS_PER_MINUTE } from '../../../../src/platform/outbound/host-limits.ts';

describe('host limiter', () => {
  const start = new Date('2026-03-10T00:00:00Z').getTime();
  const clock = { ms: start };

  /** Unlimited except for the given limits. */
  const gateOf = (bounds: Partial<HostLimiterOptions>) =>
    new HostLimiter({
      ...{ maxConcurrent: 99, perMinute: null, perWallet: { maxConcurrent: 99, perMinute: null }, maxConcurrentPerWallet: 99 },
      now: () => new Date(clock.ms),
      ...bounds,
    });
  const done = async () => 'done';
  const post = (gate: HostLimiter, url: string, wallet = 'ann', work: () => Promise<string> = done) => gate.run({ url, wallet }, work);

  /** Posts under way, until they are ended one by one. */
  function holder(gate: HostLimiter) {
    const held: { end(): Promise<string> }[] = [];
    return (url: string, wallet: string) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const under = post(gate, url, wallet, () => promise);
      held.push({
        end() {
          resolve('done');
          return under;
        },
      });
      return held.at(-1)!;
    };
  }

  it('lets a host have its share at once, whatever the path and port, and others theirs', async () => {
    const gate = gateOf({ maxConcurrent: 2 });
    const hold = holder(gate);
    const under = ['https://a.example/1', 'https://A.example:8443/2'].map((url) => hold(url, 'ann'));
    expect(await post(gate, 'https://a.example/3')).toBe('busy');
    expect(await post(gate, 'https://b.example/')).toBe('done');
    for (const one of under) expect(await one.end()).toBe('done');
    expect(await post(gate, 'https://a.example/3')).toBe('done');
  });

  it('frees the turn of what throws', async () => {
    const gate = gateOf({ maxConcurrent: 1, maxConcurrentPerWallet: 1, perWallet: { maxConcurrent: 1, perMinute: null } });
    await expect(post(gate, 'https://a.example/', 'ann', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await post(gate, 'https://a.example/')).toBe('done');
  });

  it('lets a host have so many a minute, and more as time passes', async () => {
    const gate = gateOf({ perMinute: 3 });
    const take = () => post(gate, 'https://a.example/');
    expect([await take(), await take(), await take(), await take()]).toEqual(['done', 'done', 'done', 'spent']);
    clock.ms += 20_000;
    expect([await take(), await take()]).toEqual(['done', 'spent']);
    expect(await post(gate, 'https://b.example/')).toBe('done');
  });

  it('leaves others their turns at a host that one wallet keeps busy', async () => {
    const gate = gateOf({ maxConcurrent: 4, perWallet: { maxConcurrent: 2, perMinute: null } });
    const hold = holder(gate);
    hold('https://shared.example/1', 'hog');
    const second = hold('https://shared.example/2', 'hog');
    expect(await post(gate, 'https://shared.example/3', 'hog')).toBe('busy');
    expect(await post(gate, 'https://own.example/', 'hog')).toBe('done');
    expect(await post(gate, 'https://shared.example/', 'ann')).toBe('done');
    await second.end();
    expect(await post(gate, 'https://shared.example/3', 'hog')).toBe('done');
  });

  it('leaves others their minute at a host that one wallet calls all the time', async () => {
    const gate = gateOf({ perMinute: 5, perWallet: { maxConcurrent: 9, perMinute: 2 } });
    const take = (wallet: string) => post(gate, 'https://shared.example/', wallet);
    expect([await take('hog'), await take('hog')]).toEqual(['done', 'done']);
    for (let n = 0; n < 20; n++) expect(await take('hog')).toBe('spent');
    // Those refusals have cost the host nothing.
    expect([await take('ann'), await take('ann'), await take('ann'), await take('bob')]).toEqual(['done', 'done', 'spent', 'done']);
    expect(await take('bob')).toBe('spent');
  });

  it('leaves others their turns whatever hosts one wallet names', async () => {
    const gate = gateOf({ maxConcurrentPerWallet: 2 });
    const hold = holder(gate);
    const first = hold('https://one.example/', 'hog');
    hold('https://two.example/', 'hog');
    expect(await post(gate, 'https://three.example/', 'hog')).toBe('busy');
    expect(await post(gate, 'https://three.example/', 'ann')).toBe('done');
    await first.end();
    expect(await post(gate, 'https://three.example/', 'hog')).toBe('done');
  });

  it('lets in who was rejected before those who come back at once', async () => {
    const gate = gateOf({ maxConcurrent: 2, perWallet: { maxConcurrent: 1, perMinute: null } });
    const hold = holder(gate);
    const url = 'https://shared.example/';
    const [first] = [hold(url, 'hog'), hold(url, 'other hog')];
    const ask = (wallet: string) => post(gate, url, wallet);
    expect([await ask('ann'), await ask('bob')]).toEqual(['busy', 'busy']);
    await first.end();
    // The finished caller retries sooner than the rejected ones.
    expect([await ask('hog'), await ask('bob')]).toEqual(['busy', 'busy']);
    clock.ms += 2_000;
    expect(await ask('hog')).toBe('busy');
    expect([await ask('ann'), await ask('bob'), await ask('hog')]).toEqual(['done', 'done', 'done']);
  });

  it('keeps no place for who does not come back, or could not be let in', async () => {
    const gate = gateOf({ maxConcurrent: 2, perWallet: { maxConcurrent: 1, perMinute: null } });
    const hold = holder(gate);
    const url = 'https://shared.example/';
    const [first] = [hold(url, 'hog'), hold(url, 'other hog')];
    expect(await post(gate, url, 'other hog')).toBe('busy');
    expect(await post(gate, url, 'gone')).toBe('busy');
    await first.end();
    expect(await post(gate, url, 'ann')).toBe('busy');
    clock.ms += 3_001;
    expect(await post(gate, url, 'bob')).toBe('done');
  });
});

describe('host names', () => {
  const NOW = new Date('2026-03-10T00:00:00Z');
  /** One host, as a rule of names and as URLs are read. */
  const SPELLINGS = ['https://a.example/', 'https://A.Example./', 'https://a.example..../', 'https://a.example.:8443/'];

  it('the posts under way of a host are counted together, however its name is written', async () => {
    const share = { maxConcurrent: 2, perMinute: null };
    const gate = new HostLimiter({ ...share, perWallet: share, maxConcurrentPerWallet: 100, now: () => NOW });
    const held = Promise.withResolvers<string>();
    const under = SPELLINGS.map((url) => gate.run({ url, wallet: '0x1' }, () => held.promise));
    held.resolve('done');
    expect(await Promise.all(under)).toEqual(['done', 'done', 'busy', 'busy']);
  });

  it('so are those of a minute', async () => {
    const share = { maxConcurrent: 9, perMinute: 2 };
    const gate = new HostLimiter({ ...share, perWallet: share, maxConcurrentPerWallet: 9, now: () => NOW });
    const posts = [];
    for (const url of SPELLINGS) posts.push(await gate.run({ url, wallet: '0x1' }, async () => 'done'));
    expect(posts).toEqual(['done', 'done', 'spent', 'spent']);
  });
});

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
