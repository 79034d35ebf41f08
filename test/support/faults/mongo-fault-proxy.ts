import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Document } from 'mongodb';
import { buildReply, createFrameReader, getResponseTo, parseCommand, type WireCommand } from './wire-frames.ts';

/**
 * What happens to a command. `cut-before`: the connection ends and the server never gets it; `cut-after`: the server has executed it, and
 * the connection ends before its reply; `half-reply`: within its reply; `freeze`: no reply until `thaw`; `reply`: the server does not get
 * it, and the client gets this answer.
 */
export type MongoFault = 'cut-before' | 'cut-after' | 'half-reply' | 'freeze' | { delayMs: number } | { reply: Document };

/** Answers of a server that does not take a write now. */
export const NOT_PRIMARY: MongoFault = { reply: { ok: 0, code: 10107, codeName: 'NotWritablePrimary', errmsg: 'not primary' } };
export const DISK_FULL: MongoFault = { reply: { ok: 0, code: 14031, codeName: 'OutOfDiskSpace', errmsg: 'no space left' } };

/** What a single write may meet. */
export const WRITE_FAULTS: readonly MongoFault[] = ['cut-before', 'cut-after', 'half-reply', NOT_PRIMARY, DISK_FULL];

export type DecideFault = (command: WireCommand) => MongoFault | null;

export interface MongoFaultProxy {
  /** Names the same database through the proxy. */
  uri: string;
  /** Decides each later command; null passes all on. */
  plan(decide: DecideFault | null): void;
  /** Stops all bytes in both directions, of connections to come too, until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Ends all connections; with `refuse`, later ones are ended at once until `accept`. */
  disconnect(refuse?: boolean): void;
  accept(): void;
  close(): Promise<void>;
}

/** A connection of the wire protocol between driver and server, on loopback, with planned faults. */
export async function mongoFaultProxy(target: string): Promise<MongoFaultProxy> {
  const { server: upstreamAddress, database, options } = parseTarget(target);
  const state: ProxyState = { decide: null, frozen: null, refuses: false, sockets: new Set() };
  const server = createServer((client) => {
    if (state.refuses) client.destroy();
    else relay(state, client, connect(upstreamAddress));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  const disconnect = (refuse = false) => {
    state.refuses = refuse;
    for (const socket of state.sockets) socket.destroy();
  };
  const thaw = () => {
    state.frozen?.resolve();
    state.frozen = null;
  };
  return {
    uri: `mongodb://127.0.0.1:${port}/${database}?${options}`,
    plan(decide) {
      state.decide = decide;
    },
    freeze() {
      state.frozen ??= Promise.withResolvers<void>();
    },
    thaw,
    disconnect,
    accept() {
      state.refuses = false;
    },
    async close() {
      thaw();
      disconnect(true);
      await new Promise((done) => server.close(done));
    },
  };
}

interface ProxyState {
  decide: DecideFault | null;
  frozen: PromiseWithResolvers<void> | null;
  refuses: boolean;
  sockets: Set<Socket>;
}

function relay(state: ProxyState, client: Socket, upstream: Socket): void {
  /** Faults of the replies to come, by request id. */
  const replyFaults = new Map<number, MongoFault>();
  const end = () => {
    client.destroy();
    upstream.destroy();
  };
  for (const socket of [client, upstream]) {
    state.sockets.add(socket);
    socket.on('error', end).on('close', () => {
      state.sockets.delete(socket);
      end();
    });
  }
  inOrder(client, state, async (frame) => {
    const command = parseCommand(frame);
    const fault = state.decide?.(command) ?? null;
    if (fault === 'cut-before') return end();
    if (typeof fault === 'object' && fault !== null && 'reply' in fault)
      return void client.write(buildReply(command.requestId, fault.reply));
    if (fault !== null) replyFaults.set(command.requestId, fault);
    upstream.write(frame);
  });
  inOrder(upstream, state, async (frame) => {
    const fault = replyFaults.get(getResponseTo(frame));
    if (fault === 'cut-after') return end();
    if (fault === 'half-reply') return void client.write(frame.subarray(0, Math.floor(frame.length / 2)), end);
    if (fault === 'freeze') {
      state.frozen ??= Promise.withResolvers<void>();
      await state.frozen.promise;
    }
    if (typeof fault === 'object' && 'delayMs' in fault) await delay(fault.delayMs);
    client.write(frame);
  });
}

/** Handles the messages of a socket one after the other; none while the proxy is frozen. */
function inOrder(socket: Socket, state: ProxyState, handle: (frame: Buffer) => Promise<void>): void {
  const readFrames = createFrameReader();
  let last: Promise<void> = Promise.resolve();
  socket.on('data', (chunk) => {
    for (const frame of readFrames(chunk)) {
      last = last.then(async () => {
        while (state.frozen !== null) await state.frozen.promise;
        if (!socket.destroyed) await handle(frame);
      });
    }
  });
}

function parseTarget(uri: string): { server: NetConnectOpts; database: string; options: URLSearchParams } {
  const [, host = '', database = '', query = ''] = /^mongodb:\/\/(?:[^@/]*@)?([^/?,]+)\/?([^?]*)\??(.*)$/.exec(uri) ?? [];
  const options = new URLSearchParams(query);
  options.set('directConnection', 'true');
  if (/%2f/i.test(host)) return { server: { path: decodeURIComponent(host) }, database, options };
  const [name, port = '27017'] = host.split(':');
  return { server: { host: name, port: Number(port) }, database, options };
}
