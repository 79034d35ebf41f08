import { beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { buildSubscription, Connection } from '../../../../src/events/websocket/connection.ts';
import { type ManualClock, manualClock } from '../../../support/clock/manual-clock.ts';
import { StandingSocket } from '../../../support/websocket/standing-socket.ts';

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
