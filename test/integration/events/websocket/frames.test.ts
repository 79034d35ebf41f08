import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EVENT_INDEXES } from '../../../../src/events/log.ts';
import { SLOT_INDEXES } from '../../../../src/events/websocket/hub.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { type FrameParts, frame, type RawSocket, rawSocket } from '../../../support/websocket/raw-websocket.ts';
import { WebSocketBench } from '../../../support/websocket/websocket-bench.ts';

const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10];
const ASKED = '{"type":"ping"}';

let database: TestDatabase;
let bench: WebSocketBench;
let count = 0;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, [...EVENT_INDEXES, ...SLOT_INDEXES]);
  bench = await new WebSocketBench(database.db).open();
});
afterAll(async () => {
  await bench.close();
  await database.drop();
});

/** Of a separate wallet, with all its slots free. */
const url = () => bench.urlFor({ wallet: count });
beforeEach(() => {
  count += 1;
});

async function sent(frames: readonly (FrameParts | Buffer)[]): Promise<RawSocket> {
  const raw = await rawSocket(url());
  await raw.text(/"connected"/);
  for (const each of frames) raw.socket.write(Buffer.isBuffer(each) ? each : frame(each));
  return raw;
}

const closeOf = async (code: number | string) => {
  const payload = typeof code === 'number' ? Buffer.from([code >> 8, code & 255]) : Buffer.from(code, 'hex');
  return (await sent([{ opcode: CLOSE, payload }])).closeCode;
};

describe('frames that are right', () => {
  it('are taken in one piece', async () => {
    const { socket, text } = await sent([{ opcode: TEXT, payload: ASKED }]);
    expect(JSON.parse(await text(/"pong"/))).toMatchObject({ type: 'pong', data: { lastEventId: 0 } });
    socket.destroy();
  });

  it('are taken in pieces, with a ping between two of them, which is answered first', async () => {
    const pieces: FrameParts[] = [
      { opcode: TEXT, payload: ASKED.slice(0, 4), fin: false },
      { opcode: CONTINUATION, payload: ASKED.slice(4, 9), fin: false },
      { opcode: PING, payload: 'hello' },
      { opcode: CONTINUATION, payload: ASKED.slice(9) },
    ];
    const { socket, text, received } = await sent(pieces);
    await text(/"pong"/);
    const [connected, ponged, answered] = received();
    expect([connected.opcode, answered.opcode]).toEqual([TEXT, TEXT]);
    expect(ponged).toEqual({ opcode: PONG, payload: Buffer.from('hello') });
    socket.destroy();
  });

  it('are taken however the network cuts them', async () => {
    const bytes = Buffer.concat([frame({ opcode: TEXT, payload: ASKED, fin: false }), frame({ opcode: CONTINUATION, payload: ' ' })]);
    const { socket, text } = await sent([...bytes].map((byte) => Buffer.from([byte])));
    await text(/"pong"/);
    socket.destroy();
  });

  it('come right behind the handshake', async () => {
    const { socket, text } = await rawSocket(url(), { behind: frame({ opcode: TEXT, payload: ASKED }) });
    await text(/"pong"/);
    socket.destroy();
  });

  it('are closed in kind', async () => {
    expect(await closeOf(1000)).toBe(1000);
    expect(await closeOf(4999)).toBe(4999);
  });

  it('of 4096 bytes are read, in one piece and in many', async () => {
    const largest = ASKED.padEnd(4_096);
    const whole = await sent([{ opcode: TEXT, payload: largest }]);
    await whole.text(/"pong"/);
    const pieces = Array.from({ length: 64 }, (_, index) => ({
      opcode: index === 0 ? TEXT : CONTINUATION,
      payload: largest.slice(index * 64, index * 64 + 64),
      fin: index === 63,
    }));
    const cut = await sent(pieces);
    await cut.text(/"pong"/);
    for (const { socket } of [whole, cut]) socket.destroy();
  });
});

describe('frames that break the rules', () => {
  const half = 'x'.repeat(2_048);
  it.each<[string, FrameParts[], number]>([
    ['is not masked', [{ opcode: TEXT, payload: ASKED, masked: false }], 1002],
    ['has a reserved bit, such as that of a compression that was not agreed', [{ opcode: TEXT, payload: ASKED, reserved: 4 }], 1002],
    ['has the second reserved bit', [{ opcode: TEXT, payload: ASKED, reserved: 2 }], 1002],
    ['has the third reserved bit', [{ opcode: TEXT, payload: ASKED, reserved: 1 }], 1002],
    ['has an operation that there is not', [{ opcode: 3, payload: ASKED }], 1002],
    ['has a control operation that there is not', [{ opcode: 11 }], 1002],
    ['goes on with nothing', [{ opcode: CONTINUATION, payload: ASKED }], 1002],
    [
      'begins anew before the end',
      [
        { opcode: TEXT, payload: ASKED, fin: false },
        { opcode: TEXT, payload: ASKED },
      ],
      1002,
    ],
    ['is a ping in pieces', [{ opcode: PING, payload: 'x', fin: false }], 1002],
    ['is a ping of more than 125 bytes', [{ opcode: PING, payload: 'x'.repeat(126) }], 1002],
    ['is not UTF-8', [{ opcode: TEXT, payload: Buffer.from([0x22, 0xc3, 0x28, 0x22]) }], 1007],
    [
      'is not UTF-8 across two pieces',
      [
        { opcode: TEXT, payload: Buffer.from([0x22, 0xe2]), fin: false },
        { opcode: CONTINUATION, payload: Buffer.from([0x22]) },
      ],
      1007,
    ],
    ['is too large', [{ opcode: TEXT, payload: 'x'.repeat(4_097) }], 1009],
    ['is too large and binary', [{ opcode: BINARY, payload: 'x'.repeat(4_097) }], 1009],
    [
      'is too large in pieces',
      [
        { opcode: TEXT, payload: half, fin: false },
        { opcode: CONTINUATION, payload: half, fin: false },
        { opcode: CONTINUATION, payload: 'x' },
      ],
      1009,
    ],
    [
      'has very many pieces',
      Array.from({ length: 70 }, (_, index) => ({ opcode: index === 0 ? TEXT : CONTINUATION, payload: '', fin: false })),
      1008,
    ],
  ])('end the connection: one that %s', async (_, frames, code) => {
    const { closeCode, socket } = await sent(frames);
    expect(await closeCode).toBe(code);
    expect(socket.destroyed).toBe(true);
  });

  it('end the connection with 1008 when very many pings come in one write', async () => {
    const { closeCode } = await sent([Buffer.concat(Array.from({ length: 200 }, () => frame({ opcode: PING })))]);
    let code: number | null = null;
    void closeCode.then((sentCode) => {
      code = sentCode;
    });
    const passTime = () => {
      // Who does not answer the close is dropped a moment later.
      bench.clock.advance(2_000);
      return code;
    };
    await expect.poll(passTime).toBe(1008);
  });

  it.each([0, 999, 1004, 1005, 1006, 1015, 2999, 5000])('close the connection: a close frame with the reserved code %i', async (code) => {
    expect(await closeOf(code)).toBe(1002);
  });

  it.each([
    ['of one byte', '03', 1002],
    ['whose reason is not UTF-8', '03e8c328', 1007],
  ])('end the connection: a close %s', async (_, payload, code) => {
    expect(await closeOf(payload)).toBe(code);
  });

  it('end the connection when they come right behind the handshake', async () => {
    const { head, closeCode } = await rawSocket(url(), { behind: Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n') });
    expect(head).toContain('101 Switching Protocols');
    expect(await closeCode).toBe(1002);
  });

  it('never end more than their own connection, whatever they are', { timeout: 30_000 }, async () => {
    const witness = await bench.connect({ wallet: 1_000_000 });
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        count += 1;
        const { socket, closeCode } = await sent([Buffer.from(bytes)]);
        socket.end();
        await closeCode;
      }),
      { numRuns: 60 },
    );
    witness.send({ type: 'ping' });
    await witness.first('pong');
    await expect.poll(() => bench.hub.size).toBe(1);
    expect(bench.log.filter((line) => line.includes('"level":50'))).toEqual([]);
    witness.socket.terminate();
  });
});

describe('the handshake', () => {
  it('negotiates no compression and no subprotocol', async () => {
    const { head, socket } = await rawSocket(url(), {
      headers: ['Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits', 'Sec-WebSocket-Protocol: graphql-ws'],
    });
    expect(head).toContain(' 101 ');
    expect(head).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    expect(head).not.toMatch(/Sec-WebSocket-(Extensions|Protocol)/);
    socket.destroy();
  });

  it.each(['chat,,chat', 'chat,chat', '{', ''])(
    'is not spoilt by the protocols "%s", of which none is spoken anyway',
    async (protocols) => {
      const { head, socket } = await rawSocket(url(), { headers: [`Sec-WebSocket-Protocol: ${protocols}`] });
      expect(head).toContain(' 101 ');
      expect(head).not.toContain('Sec-WebSocket-Protocol');
      socket.destroy();
    },
  );
});
