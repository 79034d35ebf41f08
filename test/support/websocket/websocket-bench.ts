import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Db } from 'mongodb';
import { getAddress } from 'viem';
import type { EventTail } from '../../../src/app/events.ts';
import type { Tier } from '../../../src/auth/caller.ts';
import { OracleError } from '../../../src/errors.ts';
import type { EventViewOptions } from '../../../src/events/event-view.ts';
import { type AnyEventDraft, EventLog, followEvents } from '../../../src/events/log.ts';
import { buildSubscription, type SessionEntitlement, type SessionHolder } from '../../../src/events/websocket/connection.ts';
import { ConnectionHub, ConnectionSlotStore, createConnectionAcceptor } from '../../../src/events/websocket/hub.ts';
import { horizonsInput } from '../../../src/forecast/horizon-input.ts';
import { createLog } from '../../../src/platform/log.ts';
import { type ManualClock, manualClock } from '../clock/manual-clock.ts';
import { type Client, openClient } from './websocket-client.ts';

const LIFETIME_MS = 30 * 60_000;
const VIEW = { saltSecret: 'a master secret of a test', policy: 'resolution', publicUrl: 'http://127.0.0.1:3000', chainId: 31337 } as const;

export const wallet = (number: number) => getAddress(`0x${number.toString(16).padStart(40, '0')}`);

/** Who connects, and what he asks for. */
export interface Asked {
  wallet?: number;
  tier?: Tier;
  since?: number;
  events?: string;
  horizons?: string;
  moveSize?: string;
}

/** One process's connections on a shared database, behind a server of its own; who asks is taken at his word, and the clock by hand. */
export class WebSocketBench {
  /** That of the connections. */
  readonly clock: ManualClock;
  /** By which they are looked after: apart, since pongs take real time. */
  readonly rounds: ManualClock;
  readonly events: EventLog;
  readonly hub: ConnectionHub;
  readonly log: string[] = [];
  /** Entitlements of sessions at the next check; live in their tier unless set. */
  readonly standings = new Map<string, SessionEntitlement>();
  /** Whether looking at sessions fails. */
  isDatabaseDown = false;
  /** Who holds a token that is sent in a message. */
  readonly tokens = new Map<string, SessionHolder>();
  /** Sessions in the order of their connections. */
  readonly sessions: string[] = [];
  readonly #tiers = new Map<string, Tier>();
  readonly #server: Server;
  readonly #stop = new AbortController();
  /** To have it fail: what the hub and the handshakes use. */
  readonly slots: ConnectionSlotStore;
  /** Whether making the next messages of events fails, one after the other. */
  viewFaults: boolean[] = [];
  #tail: EventTail | undefined;

  constructor(db: Db, start = new Date('2026-03-10T12:00:00Z')) {
    this.clock = manualClock(start);
    this.rounds = manualClock(start);
    this.events = new EventLog(db);
    this.slots = new ConnectionSlotStore(db);
    const log = createLog({ level: 'trace', secrets: [], write: (line) => void this.log.push(line) });
    const standings = async (ids: readonly string[]) => {
      if (this.isDatabaseDown) throw new Error('the database does not answer');
      return new Map(ids.map((id) => [id, this.standings.get(id) ?? this.#tiers.get(id)!] as const));
    };
    this.hub = new ConnectionHub({
      events: this.events,
      slots: this.slots,
      view: this.#view(),
      readEntitlements: standings,
      clock: this.rounds,
      log,
    });
    const identify = async (token: string) => {
      const holder = this.tokens.get(token);
      if (holder === undefined) throw new OracleError('UNAUTHENTICATED', 'The access token has expired', { field: 'Authorization' });
      return holder;
    };
    const onFault = (error: unknown) => log.error({ err: error }, 'fault');
    const accept = createConnectionAcceptor({ hub: this.hub, slots: this.slots, clock: this.clock, identify, onFault });
    this.#server = createServer();
    this.#server.on('upgrade', (request, socket, head) => {
      const asked = Object.fromEntries(new URL(request.url!, 'http://any').searchParams);
      const { since, events, horizons, moveSize, ...who } = asked;
      const choice = horizons === undefined ? undefined : horizonsInput.parse(horizons);
      const subscription = buildSubscription({
        events: events?.split(',') as never,
        horizons: choice,
        moveSize: moveSize?.split(',') as never,
      });
      const holder = this.holder({ wallet: Number(who.wallet ?? 1), tier: (who.tier ?? 'premium') as Tier });
      const use = async () => undefined;
      const take = () => ({ request, socket, head, headers: {} });
      accept({
        holder,
        subscription,
        since: since === undefined ? null : Number(since),
        requestId: 'none',
        redeemProof: use,
        claimSocket: take,
      }).catch((error: OracleError) => socket.end(`HTTP/1.1 429 ${error.code}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`));
    });
  }

  #view(): EventViewOptions {
    const fails = () => this.viewFaults.shift() === true;
    return {
      ...VIEW,
      get saltSecret() {
        if (fails()) throw new Error('it cannot be encoded');
        return VIEW.saltSecret;
      },
    };
  }

  /** A session of its own. */
  holder({ wallet: number = 1, tier = 'premium' as Tier } = {}, lifetimeMs = LIFETIME_MS): SessionHolder {
    const sessionId = randomUUID();
    this.sessions.push(sessionId);
    this.#tiers.set(sessionId, tier);
    return { caller: { tier, wallet: wallet(number), sessionId }, expiresAt: new Date(this.clock.now().getTime() + lifetimeMs) };
  }

  /** Begins to follow the log and to listen. */
  async open(): Promise<this> {
    const log = createLog({ level: 'silent', secrets: [] });
    const listener = (events: Parameters<ConnectionHub['broadcast']>[0]) => this.hub.broadcast(events);
    this.#tail = await followEvents({ events: this.events, listener, log, signal: this.#stop.signal }, { pollMs: 20, failurePauseMs: 20 });
    this.hub.start(this.#tail.getSeenId());
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  urlFor(asked: Asked = {}): string {
    return `${this.url}?${new URLSearchParams(Object.entries(asked).map(([name, value]): [string, string] => [name, String(value)]))}`;
  }

  /** Connects, and waits for the first message. */
  async connect(asked: Asked = {}): Promise<Client> {
    const client = await openClient(this.urlFor(asked));
    await client.first('connected');
    return client;
  }

  async append(drafts: readonly AnyEventDraft[]): Promise<void> {
    await this.events.append(drafts, this.clock.now());
    this.#tail?.wake();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    const closing = this.hub.close();
    this.clock.advance(5_000);
    await closing;
    this.#server.close();
    await this.#tail?.ended;
  }
}
