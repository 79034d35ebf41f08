import { setTimeout as delay } from 'node:timers/promises';
import WebSocket from 'ws';

export interface FollowerOptions {
  /** Where it may connect at this moment: it goes on to the next one when a connection ends. */
  urls(): readonly string[];
  /** Of one wallet each, used in turn: the connections of a killed process count for their wallet for 90 s. */
  tokens: readonly string[];
  /** Which of them it begins with. */
  turn?: number;
}

/** A subscriber over WebSocket that comes back with `since` whenever its connection ends. */
export interface Follower {
  /** Ids of all events over all connections, in the order in which they came. */
  readonly ids: readonly number[];
  /** How often it was connected. */
  connections(): number;
  /** What it was refused with, and anything else that is no event and no news of a connection. */
  readonly complaints: readonly string[];
  stop(): Promise<void>;
}

/** Between two connections; clients of the real thing wait five seconds. */
const REST_MS = 50;

export function follow({ urls, tokens, turn: first = 0 }: FollowerOptions): Follower {
  const state = { ids: [] as number[], complaints: [] as string[], connections: 0, stopped: false };
  let socket: WebSocket | undefined;

  async function run(): Promise<void> {
    for (let turn = first; !state.stopped; turn++) {
      const all = urls();
      const headers = { Authorization: `Bearer ${tokens[turn % tokens.length]}` };
      socket = new WebSocket(`${all[turn % all.length]}?horizons=all&since=${state.ids.at(-1) ?? 0}`, { headers });
      await listenTo(socket, state);
      await delay(REST_MS);
    }
  }

  const running = run();
  return {
    ...{ ids: state.ids, complaints: state.complaints },
    connections: () => state.connections,
    async stop() {
      state.stopped = true;
      socket?.terminate();
      await running;
    },
  };
}

/** Resolves when the connection has ended, or never began. */
function listenTo(socket: WebSocket, state: { ids: number[]; complaints: string[]; connections: number }): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('open', () => {
    state.connections += 1;
  });
  socket.on('message', (data) => {
    const { id, type } = JSON.parse(String(data)) as { id?: number; type: string };
    if (id !== undefined) state.ids.push(id);
    else if (type === 'error' || type === 'replay.gap') state.complaints.push(String(data));
  });
  socket.on('unexpected-response', (request, response) => {
    state.complaints.push(`refused with ${response.statusCode}`);
    request.destroy();
    resolve();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => resolve());
  return promise;
}
