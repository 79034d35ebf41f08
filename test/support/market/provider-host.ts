import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DAY_MS } from '../../../src/forecast/day.ts';
import type { Feed } from '../../../src/market/feed.ts';
import { PROVIDER_IDS, type ProviderId } from '../../../src/market/live/provider.ts';

export interface HostRequest {
  provider: ProviderId;
  method: string;
  /** Without the provider's segment, e.g. /0/public/OHLC */
  path: string;
  query: URLSearchParams;
  /** Parsed where it is JSON; null without one. */
  body: unknown;
  /** The instant that the answer is to be given for: now, or long ago under the fault `stale`. */
  nowMs: number;
}

export interface HostAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON, a string as it is. */
  body: unknown;
}

/** What a provider says; null for a path that it does not have (404). */
export type Answers = (request: HostRequest) => HostAnswer | null | Promise<HostAnswer | null>;

/** What the providers of a group say of a market at an instant. */
export type AnswerGroup = (market: Feed, nowMs: number) => Partial<Record<ProviderId, Answers>>;

/**
 * `slow` holds the answer back until the fault is healed, `down` cuts the connection, `truncated` sends half of the answer,
 * `stale` the answer of 30 days ago, `clock-skew` a `Date` one hour ahead; `banned` wants to be left alone for an hour.
 */
export type Fault =
  | 'slow'
  | 'too-many-requests'
  | 'banned'
  | 'unavailable-for-legal-reasons'
  | 'server-error'
  | 'truncated'
  | 'changed-shape'
  | 'empty'
  | 'stale'
  | 'clock-skew'
  | 'down';

export interface ProviderHost {
  url: string;
  /** A PROVIDER_URLS setting that points every provider here. */
  providerUrls: string;
  fault(provider: ProviderId, fault: Fault): void;
  heal(provider: ProviderId): void;
  /** Every request that reached a provider, also under a fault; oldest first. */
  requests(provider: ProviderId): HostRequest[];
  close(): Promise<void>;
}

export const STALE_BY_MS = 30 * DAY_MS;
export const SKEW_MS = 3_600_000;

const REFUSALS: Partial<Record<Fault, HostAnswer>> = {
  'too-many-requests': { status: 429, headers: { 'retry-after': '1' }, body: { error: 'too many requests' } },
  banned: { status: 429, headers: { 'retry-after': '3600' }, body: { error: 'too many requests' } },
  'unavailable-for-legal-reasons': { status: 451, body: { msg: 'not available where you are' } },
  'server-error': { status: 503, body: '<html><title>503 Service Unavailable</title></html>' },
};

/** The answers of several groups as those of one host. */
export function answersOf(market: Feed, groups: readonly AnswerGroup[]): Answers {
  return async (request) => {
    const answers = Object.assign({}, ...groups.map((group) => group(market, request.nowMs))) as Partial<Record<ProviderId, Answers>>;
    return (await answers[request.provider]?.(request)) ?? null;
  };
}

/** A loopback server on which every provider answers under its own first path segment. */
export async function startProviderHost(answers: Answers, now: () => number = Date.now): Promise<ProviderHost> {
  const faults = new Map<ProviderId, Fault>();
  const waiting = new Map<ProviderId, (() => void)[]>();
  const seen: HostRequest[] = [];
  const release = (provider: ProviderId) =>
    waiting
      .get(provider)
      ?.splice(0)
      .forEach((go) => void go());
  const held = (provider: ProviderId) => new Promise<void>((go) => void waiting.set(provider, [...(waiting.get(provider) ?? []), go]));

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming, now());
    if (request === null) return send(response, notFound(), now());
    seen.push(request);
    if (faults.get(request.provider) === 'slow') await held(request.provider);
    const fault = faults.get(request.provider);
    if (fault === 'down') return void incoming.socket.destroy();
    if (fault === 'stale') request.nowMs -= STALE_BY_MS;
    const answer = (fault && REFUSALS[fault]) ?? (await answers(request)) ?? notFound();
    send(response, fault === undefined ? answer : damaged(answer, fault), fault === 'clock-skew' ? now() + SKEW_MS : now());
  };

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => {
      send(response, { status: 500, body: { error: String(error) } }, now());
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    providerUrls: `*=${url}/{provider}`,
    fault(provider, fault) {
      faults.set(provider, fault);
      release(provider);
    },
    heal(provider) {
      faults.delete(provider);
      release(provider);
    },
    requests: (provider) => seen.filter((request) => request.provider === provider),
    async close() {
      faults.clear();
      for (const provider of waiting.keys()) release(provider);
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readRequest(incoming: IncomingMessage, nowMs: number): Promise<HostRequest | null> {
  const url = new URL(incoming.url ?? '/', 'http://host');
  const [, segment, rest] = /^\/([^/]+)(\/.*)?$/.exec(url.pathname) ?? [];
  const provider = PROVIDER_IDS.find((id) => id === segment);
  const body = jsonOrText(await textOf(incoming));
  if (provider === undefined) return null;
  return { provider, method: incoming.method ?? 'GET', path: rest ?? '/', query: url.searchParams, body, nowMs };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function jsonOrText(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function notFound(): HostAnswer {
  return { status: 404, body: { error: 'not found' } };
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: HostAnswer, dateMs: number): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  response.writeHead(status, { 'content-type': type, date: new Date(dateMs).toUTCString(), ...headers }).end(text);
}

function damaged(answer: HostAnswer, fault: Fault): HostAnswer {
  const { body } = answer;
  if (fault === 'truncated') {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return { ...answer, body: text.slice(0, Math.floor(text.length / 2)) };
  }
  if (fault === 'changed-shape') return { ...answer, body: typeof body === 'string' ? 'This page has moved.' : renamed(body) };
  if (fault === 'empty') return { ...answer, body: typeof body === 'string' ? body.split('\n', 1)[0] : emptied(body) };
  return answer;
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => (Array.isArray(entry) ? { row: entry } : renamed(entry)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [`${key}_v2`, renamed(entry)]));
}

function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, emptied(entry)]));
}
