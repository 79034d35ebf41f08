import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RpcCall {
  id: number;
  method: string;
  params: unknown[];
}

/** `drop`: the connection breaks. `error`: the node's refusal. `result`: an answer of one's own. Nothing: it passes. */
export type Interference = 'drop' | { error: { code: number; message: string } } | { result: unknown };

type Hook<Extra extends unknown[]> = (call: RpcCall, ...extra: Extra) => Interference | undefined | Promise<Interference | undefined>;

export interface RpcHooks {
  /** Before the node sees the call; what it waits for delays the call. */
  onRequest?: Hook<[]>;
  /** After the node has answered, before the answer is passed on. */
  onResponse?: Hook<[result: unknown]>;
}

export interface RpcProxy {
  url: string;
  /** May be changed at any time. */
  hooks: RpcHooks;
  /** How often each method came. */
  counts: Map<string, number>;
  close(): Promise<void>;
}

export interface RpcProxyOptions {
  /** Hooks see each call of a batch, instead of the batch. */
  splitsBatches?: boolean;
}

/** A JSON-RPC endpoint on 127.0.0.1 in front of another one, to fail as real ones do, at a chosen call. */
export async function rpcProxy(target: string, hooks: RpcHooks = {}, { splitsBatches = false }: RpcProxyOptions = {}): Promise<RpcProxy> {
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  const proxy: RpcProxy = {
    url: '',
    hooks,
    counts: new Map(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as RpcCall | RpcCall[];
    const isSplit = splitsBatches && Array.isArray(body);
    const answers: unknown[] = [];
    for (const call of isSplit ? body : [body as RpcCall]) {
      const answer = await answerCall(call);
      if (answer === 'drop') return void response.destroy();
      answers.push(answer);
    }
    response.writeHead(200, JSON_TYPE).end(JSON.stringify(isSplit ? answers : answers[0]));
  }

  async function answerCall(call: RpcCall): Promise<unknown> {
    proxy.counts.set(call.method, (proxy.counts.get(call.method) ?? 0) + 1);
    const interfere = (by: Interference) => (by === 'drop' ? by : { jsonrpc: '2.0', id: call.id, ...by });
    const before = await proxy.hooks.onRequest?.(call);
    if (before) return interfere(before);
    const answer = await (await fetch(target, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(call) })).json();
    const after = await proxy.hooks.onResponse?.(call, (answer as { result: unknown }).result);
    return after ? interfere(after) : answer;
  }

  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

const JSON_TYPE = { 'content-type': 'application/json' };
