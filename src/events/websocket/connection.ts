import type { Duplex } from 'node:stream';
import type { Address } from 'viem';
import type { WebSocket } from 'ws';
import type { z } from 'zod';
import { type Caller, getCredentialId, type Tier } from '../../auth/caller.ts';
import { formatHorizonName, type HorizonName } from '../../forecast/model.ts';
import type { MoveSize } from '../../forecast/move.ts';
import { getDefaultHorizons, type HorizonFields, PUSHED_NAMES, type PushedName, parseHorizonChoice, sortMoveSizes } from '../events.ts';
import { type AnyEvent, passesMoveFilter } from '../log.ts';
import { CLOSE_CODES, type CloseCause, type createEventEncoder, encodeTextFrame, type SERVER_MESSAGES } from './messages.ts';

const MAX_BUFFERED_BYTES = 1024 * 1024;
/** Of events that are written at once, unless a single one is longer. */
const MAX_WRITE_BYTES = 64 * 1024;
/** Time to answer a close frame before the socket is terminated. */
const CLOSE_TIMEOUT_MS = 2_000;
const EXPIRY_NOTICE_MS = 60_000;
/** Limit of the wait for a slow client, for the next replay page and for its close frame. */
export const SLOW_READER_TIMEOUT_MS = 30_000;

interface ConnectionOptions {
  id: string;
  socket: WebSocket;
  /** Of `socket`, without compression: text frames are written to it as they are, between those of `socket`. */
  stream: Pick<Duplex, 'write'>;
  holder: SessionHolder;
  subscription: ConnectionSubscription;
  /** Id of the last event that is not sent. */
  lastId: number;
  clock: Clock;
}

const NOOP: () => void = () => undefined;

export class Connection {
  readonly id: string;
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  readonly #stream: ConnectionOptions['stream'];
  readonly #clock: Clock;
  readonly #owner: string;
  #holder: SessionHolder;
  #subscription: ConnectionSubscription;
  /** Id of the last event matched against this connection. */
  lastId: number;
  /** False during a replay. */
  isLive = false;
  /** Why the server closed the connection; null otherwise. */
  closeCause: CloseCause | null = null;
  #isPongReceived = true;
  /** Replay messages not yet written to the socket. */
  #bufferedMessages = 0;
  #onDrained = NOOP;
  #cancelNotice = NOOP;
  #cancelExpiry = NOOP;
  #cancelTermination = NOOP;

  constructor({ id, socket, stream, holder, subscription, lastId, clock }: ConnectionOptions) {
    this.id = id;
    this.#socket = socket;
    this.#stream = stream;
    this.#holder = holder;
    this.#owner = holder.caller.wallet!.toLowerCase();
    this.#subscription = subscription;
    this.lastId = lastId;
    this.#clock = clock;
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    void this.closed.then(() => this.#cancelTimers());
    // On a protocol error the library sends the close code.
    socket.on('error', () => this.#terminateIn(CLOSE_TIMEOUT_MS));
    socket.on('pong', () => {
      this.#isPongReceived = true;
    });
  }

  get credentialId(): string {
    return getCredentialId(this.#holder.caller)!;
  }

  get wallet(): Address {
    return this.#holder.caller.wallet!;
  }

  get tier(): Tier {
    return this.#holder.caller.tier;
  }

  /** True from the first close frame of either side. */
  get isClosing(): boolean {
    return this.closeCause !== null || this.#socket.readyState !== this.#socket.OPEN;
  }

  start(data: Pick<ServerData<'connected'>, 'lastEventId' | 'pingSeconds'>): void {
    this.sendMessage('connected', {
      wallet: this.wallet,
      tier: toPublishedTier(this.#holder),
      expiresAt: this.#expiresAt,
      subscription: serializeSubscription(this.#subscription),
      ...data,
    });
    this.#watchToken();
  }

  sendMessage<Name extends ServerMessageName>(type: Name, data: ServerData<Name>): void {
    this.#send(encodeMessage(type, data, this.#clock.now()));
  }

  /** Sends those of the next events that are subscribed to, in few writes, up to one that fails to encode. Ignores events already offered. */
  offerEvents(events: readonly AnyEvent[], encoder: EventEncoder): void {
    const { tier } = this;
    let frames: Buffer[] = [];
    let bytes = 0;
    const flush = () => {
      if (frames.length > 0) this.#send(encoder.join(frames, tier));
      frames = [];
      bytes = 0;
    };
    try {
      for (const event of events) {
        if (event._id <= this.lastId) continue;
        const frame = matchesSubscription(event, this.#subscription, this.#owner) ? encoder.encode(event, tier) : null;
        this.lastId = event._id;
        if (frame === null) continue;
        if (bytes + frame.length > MAX_WRITE_BYTES) flush();
        frames.push(frame);
        bytes += frame.length;
      }
    } finally {
      flush();
    }
  }

  async waitUntilDrained(): Promise<void> {
    if (this.isClosing || this.#bufferedMessages === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onDrained = resolve;
    const cancel = this.#clock.after(SLOW_READER_TIMEOUT_MS, () => this.close('tooSlow'));
    await Promise.race([promise, this.closed]);
    cancel();
  }

  /** Sends a ping; terminates a client that has not answered the last one. */
  ping(): void {
    // A closing connection has its own timeout.
    if (this.isClosing) return;
    if (this.#isPongReceived) {
      this.#isPongReceived = false;
      this.#socket.ping();
    } else {
      this.#socket.terminate();
    }
  }

  subscribe(subscription: ConnectionSubscription): void {
    this.#subscription = subscription;
    this.sendMessage('subscribed', serializeSubscription(subscription));
  }

  /** Continues under another session of the same wallet. */
  reauthenticate(holder: SessionHolder): void {
    this.#holder = holder;
    this.#watchToken();
    this.sendMessage('authenticated', { tier: toPublishedTier(holder), expiresAt: this.#expiresAt });
  }

  setTier(tier: Tier): void {
    if (tier === 'public') this.close('tierLost');
    else this.#holder = { ...this.#holder, caller: { ...this.#holder.caller, tier } };
  }

  /** Closes the connection, once; terminates the socket after a timeout, which is longer for a slow client. */
  close(cause: CloseCause): void {
    if (this.closeCause === null) {
      this.closeCause = cause;
      this.#cancelTimers();
      const { code, reason } = CLOSE_CODES[cause];
      this.#socket.close(code, reason);
      this.#terminateIn(cause === 'tooSlow' ? SLOW_READER_TIMEOUT_MS : CLOSE_TIMEOUT_MS);
    } else if (cause === 'goingAway') {
      // A stop shortens the timeout.
      this.#terminateIn(CLOSE_TIMEOUT_MS);
    }
  }

  #terminateIn(ms: number): void {
    this.#cancelTermination();
    this.#cancelTermination = this.#clock.after(ms, () => this.#socket.terminate());
  }

  #cancelTimers(): void {
    this.#cancelNotice();
    this.#cancelExpiry();
    this.#cancelTermination();
  }

  #send(frame: Buffer): void {
    if (this.isClosing) return;
    if (this.#socket.bufferedAmount + frame.length > MAX_BUFFERED_BYTES) this.close('tooSlow');
    else if (this.isLive) this.#stream.write(frame);
    else {
      this.#bufferedMessages += 1;
      this.#stream.write(frame, () => {
        this.#bufferedMessages -= 1;
        if (this.#bufferedMessages === 0) this.#onDrained();
      });
    }
  }

  get #expiresAt(): string | null {
    return this.#holder.expiresAt?.toISOString() ?? null;
  }

  /** Sets the timers for the notice and the end of a token that has one. */
  #watchToken(): void {
    this.#cancelNotice();
    this.#cancelExpiry();
    const { expiresAt } = this.#holder;
    if (expiresAt === null) return;
    const noticeAtMs = expiresAt.getTime() - EXPIRY_NOTICE_MS;
    this.#cancelNotice = this.#runAt(noticeAtMs, () => this.sendMessage('token.expiring', { expiresAt: expiresAt.toISOString() }));
    this.#cancelExpiry = this.#runAt(expiresAt.getTime(), () => this.close('tokenExpired'));
  }

  /** Rechecks the clock when the timer fires: it may have stood still, and a timer lasts 24 days at most. Returns the cancellation. */
  #runAt(atMs: number, work: () => void): () => void {
    let cancel = NOOP;
    const wait = () => {
      cancel = this.#clock.after(atMs - this.#clock.now().getTime(), () => (this.#clock.now().getTime() >= atMs ? work() : wait()));
    };
    wait();
    return () => cancel();
  }
}

function encodeMessage<Name extends ServerMessageName>(type: Name, data: ServerData<Name>, now: Date): Buffer {
  return encodeTextFrame(JSON.stringify({ type, data, timestamp: now.toISOString() }));
}

type ServerMessageName = keyof typeof SERVER_MESSAGES;

type ServerData<Name extends ServerMessageName> = z.input<(typeof SERVER_MESSAGES)[Name]['schema']>['data'];

type EventEncoder = ReturnType<typeof createEventEncoder>;

/** A connection requires Basic. */
function toPublishedTier({ caller }: SessionHolder): 'basic' | 'premium' {
  return caller.tier === 'premium' ? 'premium' : 'basic';
}

function serializeSubscription({ events, horizons, moveSize }: ConnectionSubscription): ServerData<'subscribed'> {
  return { events: [...events], horizons: horizons && [...horizons], moveSize: moveSize && [...moveSize] };
}

export interface Clock {
  now(): Date;
  /** Runs `work` after `ms`; returns its cancellation. */
  after(ms: number, work: () => void): () => void;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

export function createSystemClock(now: () => Date): Clock {
  return {
    now,
    after(ms, work) {
      const timer = setTimeout(work, Math.min(Math.max(ms, 0), MAX_TIMER_MS)).unref();
      return () => clearTimeout(timer);
    },
  };
}

export interface SessionHolder {
  caller: Caller;
  /** Null for an API key without an end of its own. */
  expiresAt: Date | null;
}

/** Tier of a live session or API key; `unknown` while the chain is unreachable. */
export type SessionEntitlement = Tier | 'ended' | 'unknown';

export interface ConnectionSubscription {
  events: readonly PushedName[];
  /** Null: all. Events without a horizon always match. */
  horizons: readonly HorizonName[] | null;
  /** Null: no filter. */
  moveSize: readonly MoveSize[] | null;
}

type SubscriptionFields = HorizonFields & { events?: readonly PushedName[]; moveSize?: readonly MoveSize[] };

/** Defaults: all events, and the default horizon. */
export function buildSubscription({ events, moveSize: sizes, ...choice }: SubscriptionFields): ConnectionSubscription {
  const horizons = parseHorizonChoice(choice);
  const moveSize = sizes === undefined ? null : sortMoveSizes(sizes);
  return {
    events: PUSHED_NAMES.filter((name) => events?.includes(name) ?? true),
    horizons: horizons === undefined ? getDefaultHorizons(moveSize) : horizons,
    moveSize,
  };
}

export function matchesSubscription(event: AnyEvent, { events, horizons, moveSize }: ConnectionSubscription, owner: string): boolean {
  const { type, horizonDays, wallet } = event;
  if (wallet !== null && wallet !== owner) return false;
  if (!events.includes(type) || !passesMoveFilter(event, moveSize)) return false;
  return horizons === null || horizonDays === null || horizons.includes(formatHorizonName(horizonDays));
}
