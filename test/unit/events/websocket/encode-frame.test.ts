import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import * as library from 'ws';
import { encodeTextFrame } from '../../../../src/events/websocket/messages.ts';

/** The library's reader of a server's frames, which its types lack. */
const { Receiver } = library as unknown as { Receiver: new (options: { isServer: boolean }) => Writable };

async function decode(frame: Buffer): Promise<string> {
  const receiver = new Receiver({ isServer: false });
  const received = once(receiver, 'message');
  receiver.write(frame);
  const [data, isBinary] = (await received) as [Buffer, boolean];
  expect(isBinary).toBe(false);
  return data.toString();
}

it.each([0, 1, 125, 126, 65_535, 65_536, 200_000])('encodes a message of %i bytes as a frame that a client reads', async (bytes) => {
  const text = 'x'.repeat(bytes);
  expect(await decode(encodeTextFrame(text))).toBe(text);
});

it('counts bytes, not characters', async () => {
  const text = 'é€😀'.repeat(50);
  expect(await decode(encodeTextFrame(text))).toBe(text);
});
