import { expect, it } from 'vitest';
import { HostLimiter } from '../../../../../src/events/webhooks/limits.ts';

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
