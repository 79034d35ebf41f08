import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import type { AnyEvent } from '../../../../src/events/log.ts';
import { buildSubscription, Connection } from '../../../../src/events/websocket/connection.ts';
import { ConnectionHub } from '../../../../src/events/websocket/hub.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { type ManualClock, manualClock } from '../../../support/clock/manual-clock.ts';
import { regimeDraft } from '../../../support/events/event-drafts.ts';
import { StandingSocket } from '../../../support/websocket/standing-socket.ts';

describe('connection hub', () => {
  const CONNECTIONS = 1_200;
  const WALLET = '0x0000000000000000000000000000000000000001';
  const clock = manualClock(new Date('2026-03-10T12:00:00Z'));
  /** The whole log. */
  let log: AnyEvent[];
  /** The log is read at once, and answers then. */
  let answering: Promise<void>;
  let hub: ConnectionHub;
  let count: number;

  beforeEach(() => {
    log = [];
    answering = Promise.resolve();
    count = 0;
    hub = new ConnectionHub({
      events: {
        async after(id, limit) {
          const page = log.filter(({ _id }) => _id > id).slice(0, limit);
          await answering;
          return page;
        },
      },
      slots: { heartbeat: async () => [], release: async () => undefined, releaseAll: async () => undefined },
      view: { saltSecret: 'a master secret of a test', policy: 'resolution', publicUrl: 'http://127.0.0.1:3000', chainId: 31337 },
      readEntitlements: async () => new Map(),
      clock,
      log: createLog({ level: 'silent', secrets: [] }),
    });
  });

  /** Adds events to the log, and returns them. */
  function append(events: number): AnyEvent[] {
    const added = Array.from({ length: events }, (_, index) => {
      const id = log.length + 1 + index;
      return { ...regimeDraft(`e${id}`), _id: id, appendedAt: clock.now() } as AnyEvent;
    });
    log.push(...added);
    return added;
  }

  /** @param since id of the last event that the client has; unset: it begins with the next one */
  function connect(since?: number): StandingSocket {
    const socket = new StandingSocket();
    socket.write.mockImplementation((_frames, onWritten) => {
      (onWritten as (() => void) | undefined)?.();
      return true;
    });
    const connection = new Connection({
      id: `c${count++}`,
      socket: socket as unknown as WebSocket,
      stream: socket,
      holder: { caller: { tier: 'premium', wallet: WALLET, sessionId: 's' }, expiresAt: null },
      subscription: buildSubscription({}),
      lastId: since ?? hub.lastBroadcastId,
      clock,
    });
    hub.add(connection, { slot: WALLET, replays: since !== undefined, requestId: 'r' });
    return socket;
  }

  /** Ids of the events that were written to a socket, in order, and the number of writes with events. */
  function received({ write }: StandingSocket): { ids: number[]; writes: number } {
    const texts = write.mock.calls.map(([frames]) => String(frames));
    const ids = texts.map((text) => [...text.matchAll(/"id":(\d+),"type"/g)].map(([, id]) => Number(id)));
    return { ids: ids.flat(), writes: ids.filter(({ length }) => length > 0).length };
  }

  describe('a broadcast', () => {
    it('is one write to each connection, however many events', async () => {
      const sockets = Array.from({ length: CONNECTIONS }, () => connect());
      await hub.broadcast(append(3));
      for (const socket of sockets) expect(received(socket)).toEqual({ ids: [1, 2, 3], writes: 1 });
    });

    it('is written in parts of at most 64 kB', async () => {
      const socket = connect();
      const bulky = append(5).map((event) => ({ ...event, content: { ...event.content, date: 'x'.repeat(20_000) } }) as AnyEvent);
      await hub.broadcast(bulky);
      expect(received(socket)).toEqual({ ids: [1, 2, 3, 4, 5], writes: 2 });
    });

    it('reaches each connection once, and one that opens meanwhile begins after it', async () => {
      const sockets = Array.from({ length: CONNECTIONS }, () => connect());
      const sending = hub.broadcast(append(2));
      const late = connect();
      await sending;
      await hub.broadcast(append(1));
      for (const socket of sockets) expect(received(socket).ids).toEqual([1, 2, 3]);
      expect(received(late).ids).toEqual([3]);
    });

    it('is not lost on a connection that catches up meanwhile', async () => {
      await hub.broadcast(append(2));
      const { promise, resolve } = Promise.withResolvers<void>();
      answering = promise;
      const behind = connect(0);
      for (let index = 1; index < CONNECTIONS; index++) connect();
      await nextTurn();
      // It is passed before it goes live.
      const sending = hub.broadcast(append(2));
      resolve();
      await sending;
      await expect.poll(() => received(behind).ids).toEqual([1, 2, 3, 4]);
      await hub.broadcast(append(1));
      expect(received(behind).ids).toEqual([1, 2, 3, 4, 5]);
    });
  });
});

describe('connection', () => {
  const START = new Date('2026-03-10T12:00:00Z');
  const wallet = '0x0000000000000000000000000000000000000001';

  let clock: ManualClock;
  let socket: StandingSocket;
  let connection: Connection;

  beforeEach(() => {
    clock = manualClock(START);
    socket = new StandingSocket();
    const caller = { tier: 'premium', wallet, sessionId: 's' } as const;
    connection = new Connection({
      id: 'c',
      socket: socket as unknown as WebSocket,
      stream: socket,
      holder: { caller, expiresAt: new Date(START.getTime() + 30 * 60_000) },
      subscription: buildSubscription({}),
      lastId: 0,
      clock,
    });
  });

  function fallBehind(): void {
    socket.bufferedAmount = 1024 * 1024;
    connection.sendMessage('pong', { lastEventId: 0 });
    expect(socket.close.mock.lastCall?.[0]).toBe(4008);
  }

  describe('a reader that has fallen behind', () => {
    it('has half a minute to read why, and is dropped then', () => {
      fallBehind();
      clock.advance(29_999);
      expect(socket.terminate).not.toHaveBeenCalled();
      clock.advance(1);
      expect(socket.terminate).toHaveBeenCalledOnce();
    });

    it('is not dropped for pings that it cannot answer', () => {
      connection.ping();
      fallBehind();
      connection.ping();
      expect([socket.terminate.mock.calls.length, socket.ping.mock.calls.length]).toEqual([0, 1]);
    });

    it('holds up the stop of the service for no more than two seconds', () => {
      fallBehind();
      clock.advance(10_000);
      connection.close('goingAway');
      clock.advance(1_999);
      expect(socket.terminate).not.toHaveBeenCalled();
      clock.advance(1);
      expect(socket.terminate).toHaveBeenCalledOnce();
      // The first close cause counts.
      expect([socket.close.mock.calls.length, connection.closeCause]).toEqual([1, 'tooSlow']);
    });
  });

  it.each(['tokenExpired', 'tierLost', 'policy', 'tryLater', 'goingAway'] as const)(
    'one that ends with %s is dropped after two seconds',
    (cause) => {
      connection.close(cause);
      clock.advance(1_999);
      expect(socket.terminate).not.toHaveBeenCalled();
      clock.advance(1);
      expect(socket.terminate).toHaveBeenCalledOnce();
    },
  );

  it('one that violates the protocol is terminated two seconds after the close frame', () => {
    socket.emit('error', new Error('Invalid WebSocket frame'));
    clock.advance(2_000);
    expect(socket.terminate).toHaveBeenCalledOnce();
  });

  it('one that has not answered a ping by the next is dropped', () => {
    connection.ping();
    connection.ping();
    expect(socket.terminate).toHaveBeenCalledOnce();
  });
});
