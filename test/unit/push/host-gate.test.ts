import { expect, it } from 'vitest';
import { HostGate } from '../../../src/push/host-gate.ts';

const start = new Date('2026-03-10T00:00:00Z').getTime();

it('lets a host have its share at once, whatever the path and port, and others theirs', async () => {
  const gate = new HostGate({ atOnce: 2, aMinute: null, now: () => new Date(start) });
  const held = Promise.withResolvers<string>();
  const under = ['https://a.example/1', 'https://A.example:8443/2'].map((url) => gate.run(url, () => held.promise));
  expect(await gate.run('https://a.example/3', async () => 'done')).toBe('busy');
  expect(await gate.run('https://b.example/', async () => 'done')).toBe('done');
  held.resolve('released');
  expect(await Promise.all(under)).toEqual(['released', 'released']);
  expect(await gate.run('https://a.example/3', async () => 'done')).toBe('done');
});

it('frees the turn of what throws', async () => {
  const gate = new HostGate({ atOnce: 1, aMinute: null, now: () => new Date(start) });
  await expect(gate.run('https://a.example/', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await gate.run('https://a.example/', async () => 'done')).toBe('done');
});

it('lets a host have so many a minute, and more as time passes', async () => {
  let ms = start;
  const gate = new HostGate({ atOnce: 5, aMinute: 3, now: () => new Date(ms) });
  const take = () => gate.run('https://a.example/', async () => 'done');
  expect([await take(), await take(), await take(), await take()]).toEqual(['done', 'done', 'done', 'spent']);
  ms += 20_000;
  expect([await take(), await take()]).toEqual(['done', 'spent']);
  expect(await gate.run('https://b.example/', async () => 'done')).toBe('done');
});
