import { expect, it } from 'vitest';
import { createMetadataReader } from '../../../../src/page/browser/record-chain.ts';

const { signal } = new AbortController();

function reader(answer: (path: string) => Response) {
  const asked: string[] = [];
  const clock = { now: 0 };
  const fetch = async (path: string) => {
    asked.push(path);
    return answer(path);
  };
  return { asked, clock, read: createMetadataReader(fetch, () => clock.now) };
}

it('fetches each CID once and limits requests per minute', async () => {
  const { asked, clock, read } = reader((path) => new Response(path));
  const all = Array.from({ length: 30 }, (_, index) => `b${index}`);
  const first = await Promise.all(all.map((cid) => read(cid, signal)));
  expect(first.map((one) => one instanceof Uint8Array)).toEqual(all.map((_, index) => index < 25));
  expect(first[0]).toEqual(new TextEncoder().encode('ipfs/b0'));
  expect(await read('b0', signal)).toBe(first[0]);
  clock.now = 60_000;
  expect(await read('b29', signal)).toBeInstanceOf(Uint8Array);
  expect(asked).toHaveLength(26);
});

it('reports why metadata is missing and retries the next time', async () => {
  let status = 404;
  const { read } = reader(() => new Response('', { status }));
  expect(await read('b1', signal)).toEqual({ problem: 'the service answers with status 404' });
  status = 200;
  expect(await read('b1', signal)).toEqual(new Uint8Array());
});

it('limits the size of a response', async () => {
  const { read } = reader(() => new Response('a'.repeat(200_001)));
  expect(await read('b1', signal)).toEqual({ problem: 'the service does not return it' });
});
