import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createSession } from '../../../../src/page/browser/api.ts';
import { LiveEvents } from '../../../../src/page/browser/parts/events.ts';
import { emptyStorage, stubPage } from '../page-globals.ts';

class Socket {
  static readonly OPEN = 1;
  readonly readyState = 1;
  onmessage: (message: { data: string }) => void = () => {};
  constructor() {
    sockets.push(this);
  }
  close(): void {}
  send(): void {}
  receive(message: object): void {
    this.onmessage({ data: JSON.stringify(message) });
  }
}

let sockets: Socket[];
beforeEach(() => {
  sockets = [];
  vi.useFakeTimers();
  stubPage(() => ({ ticket: 'one' }));
  vi.stubGlobal('WebSocket', Socket);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const call = (id: number) => ({ id, type: 'signal.new', timestamp: '2026-03-10T21:35:00.000Z', data: {} });

async function connected() {
  const session = createSession(emptyStorage());
  session.set({ token: 'one', wallet: `0x${'ab'.repeat(20)}`, tier: 'basic', expiresAt: new Date(Date.now() + 60_000).toISOString() });
  const [onChange, onEvents] = [vi.fn(), vi.fn()];
  const live = new LiveEvents({ session, onChange, onEvents });
  live.start();
  await vi.waitFor(() => expect(sockets).toHaveLength(1));
  sockets[0]!.receive({ type: 'connected', data: { lastEventId: 0 } });
  expect(live.state).toBe('live');
  onChange.mockClear();
  return { live, socket: sockets[0]!, onChange, onEvents };
}

it('reports events of one step together, so that they are announced once', async () => {
  const { live, socket, onChange, onEvents } = await connected();
  for (const id of [1, 2, 3, 4]) {
    socket.receive(call(id));
    vi.advanceTimersByTime(100);
  }
  expect([onChange.mock.calls.length, onEvents.mock.calls.length]).toEqual([0, 0]);
  vi.advanceTimersByTime(199);
  expect(onEvents).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect([onChange.mock.calls.length, onEvents.mock.calls.length]).toEqual([0, 1]);
  expect(live.events.map(({ id }) => id)).toEqual([4, 3, 2, 1]);
});

it('reports later events separately', async () => {
  const { socket, onEvents } = await connected();
  for (const id of [1, 2]) {
    socket.receive(call(id));
    vi.advanceTimersByTime(300);
    expect(onEvents).toHaveBeenCalledTimes(id);
  }
});
