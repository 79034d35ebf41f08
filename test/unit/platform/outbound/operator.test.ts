import { expect, it } from 'vitest';
import { readJson } from '../../../../src/platform/outbound/operator.ts';

it('reads an answer up to the limit', async () => {
  expect(await readJson(new Response('\uFEFF{"a":[1]}'), 12)).toEqual({ a: [1] });
  await expect(readJson(new Response('{"a":[11]}'), 9)).rejects.toThrow('the answer is longer than 9 bytes');
});

it('stops reading where an answer does not end', async () => {
  let sent = 0;
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      sent += 1;
      controller.enqueue(new TextEncoder().encode(' '.repeat(1_000)));
    },
    cancel: () => {
      cancelled = true;
    },
  });
  await expect(readJson(new Response(endless), 10_000)).rejects.toThrow('longer than 10000 bytes');
  expect(sent).toBeLessThan(15);
  expect(cancelled).toBe(true);
});

it.each(['', '{', '\x1b[2Jhello'])('says that %j is no JSON, without repeating it', async (text) => {
  await expect(readJson(new Response(text))).rejects.toThrow(/^the answer is no JSON$/);
});
