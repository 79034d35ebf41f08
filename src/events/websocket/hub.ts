import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { isOracleError, OracleError, toClientError } from '../../errors.ts';
import { Semaphore } from '../../platform/concurrency.ts';
import type { Log } from '../../platform/log.ts';
import { type CollectionIndexes, ignoreDuplicate } from '../../platform/mongo.ts';
import { insertFirst, repeatIfUncertain, undoIfUncertain } from '../../platform/retry.ts';
import { parseInput, parseJsonOrNull } from '../../platform/validation.ts';
import type { EventViewOptions } from '../event-view.ts';
import { WEBSOCKET } from '../events.ts';
import type { AnyEvent, EventLog } from '../log.ts';
import {
  buildSubscription,
  type Clock,
  Connection,
  type ConnectionSubscription,
  type SessionEntitlement,
  type SessionHolder,
  SLOW_READER_TIMEOUT_MS,
} from './connection.ts';
import { CLIENT_MESSAGES, type CloseCause, createEventEncoder } from './messages.ts';

export const TICKET_SECONDS = 30;

const TICKET_BYTES = 32;
const COLLECTION = 'websocket_tickets';

/** Single-use tickets for a handshake, for clients that must not put their token into a URL. */
export class TicketStore {
  readonly #tickets: Collection<{ _id: string; credentialId: string; expiresAt: Date }>;
  readonly #now: () => Date;

  constructor({ db, now }: { db: Db; now(): Date }) {
    this.#tickets = db.collection(COLLECTION);
    this.#now = now;
  }

  /** @param credentialId of the session or API key that opens the connection */
  async issue(credentialId: string): Promise<{ ticket: string; expiresAt: Date }> {
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    const expiresAt = new Date(this.#now().getTime() + TICKET_SECONDS * 1_000);
    await insertFirst(this.#tickets, { _id: hashTicket(ticket), credentialId, expiresAt }, '_id');
    return { ticket, expiresAt };
  }

  /** Does not redeem it; null if it is used, expired or unknown. */
  async findCredentialId(ticket: string): Promise<string | null> {
    const issued = await this.#tickets.findOne({ _id: hashTicket(ticket) });
    return issued === null || issued.expiresAt <= this.#now() ? null : issued.credentialId;
  }

  /** Redeems a ticket atomically: true for one caller only, and for none after it has expired. */
  async redeem(ticket: string): Promise<boolean> {
    const issued = await this.#tickets.findOneAndDelete({ _id: hashTicket(ticket) });
    return issued !== null && issued.expiresAt > this.#now();
  }
}

function hashTicket(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex');
}

export interface ClaimedSocket {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  headers: Readonly<Record<string, string>>;
}

interface AdmittedHandshake {
  holder: SessionHolder;
  subscription: ConnectionSubscription;
  /** Id of the client's last event; null: no replay. */
  since: number | null;
  requestId: string;
  /** Redeems a single-use proof such as a ticket, once a slot is acquired. @throws OracleError UNAUTHENTICATED */
  redeemProof(): Promise<void>;
  /** Called last. */
  claimSocket(): ClaimedSocket;
}

/** Upgrades an admitted request. @throws OracleError RATE_LIMITED, SHUTTING_DOWN, and errors of `redeemProof` */
export type AcceptConnection = (admitted: AdmittedHandshake) => Promise<void>;

const MAX_MESSAGE_BYTES = 4_096;

export const MAX_FRAMES_PER_MINUTE = { all: 60, invalid: 10 } as const;

export function createConnectionAcceptor({
  hub,
  slots,
  ...handlerOptions
}: MessageHandlerOptions & { hub: ConnectionHub; slots: Pick<ConnectionSlotStore, 'claim'> }): AcceptConnection {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    // More than any valid message needs.
    maxFragments: 64,
    // Missing in the library's types. Both back up limits enforced here: the time to close, and the number of frames.
    ...{ closeTimeout: SLOW_READER_TIMEOUT_MS, maxPendingAutoPongs: 2 * MAX_FRAMES_PER_MINUTE.all },
  });
  const responseHeaders = new WeakMap<IncomingMessage, ClaimedSocket['headers']>();
  server.on('headers', (lines, request) => {
    for (const [name, value] of Object.entries(responseHeaders.get(request) ?? {})) lines.push(`${name}: ${value}`);
  });

  return async ({ holder, subscription, since, requestId, redeemProof, claimSocket }) => {
    if (hub.isClosing) throw serviceStopping();
    const id = randomUUID();
    const slot = await slots.claim(holder.caller.wallet!.toLowerCase(), id);
    if (slot === null) {
      const limit = WEBSOCKET.connectionsPerWallet;
      throw new OracleError('RATE_LIMITED', `The wallet has ${limit} connections, which is as many as it can have`, {
        suggestedAction: 'Close one of them, or share one among your programs. One that broke off counts for up to 90 s.',
        retryAfterSeconds: 30,
        details: { policy: 'connections', limit },
      });
    }
    let isOpen = false;
    try {
      await redeemProof();
      if (hub.isClosing) throw serviceStopping();
      const { request, socket, head, headers } = claimSocket();
      responseHeaders.set(request, headers);
      // The service has no subprotocols, and the library would reject malformed names by itself.
      delete request.headers['sec-websocket-protocol'];
      server.handleUpgrade(request, socket, head, (webSocket) => {
        isOpen = true;
        const lastId = since ?? hub.lastBroadcastId;
        const { clock } = handlerOptions;
        const connection = new Connection({ id, socket: webSocket, stream: socket, holder, subscription, lastId, clock });
        handleMessages(webSocket, connection, handlerOptions);
        hub.add(connection, { slot, replays: since !== null, requestId });
      });
    } finally {
      // The client has disconnected.
      if (!isOpen) await hub.releaseSlot(slot, id);
    }
  };
}

interface MessageHandlerOptions {
  clock: Clock;
  /** Identifies an access token. @throws OracleError UNAUTHENTICATED, TIER_REQUIRED, CHAIN_UNREACHABLE */
  identify(token: string): Promise<SessionHolder>;
  onFault(error: unknown): void;
}

/** Processes messages of a client one after the other, and closes the connection beyond the frame limits. */
function handleMessages(socket: WebSocket, connection: Connection, { clock, identify, onFault }: MessageHandlerOptions): void {
  const frames = new FrameRateLimit(() => clock.now());
  let work: Promise<void> = Promise.resolve();

  function isWithin(kind: 'all' | 'invalid'): boolean {
    const within = frames.take(kind);
    if (!within) connection.close('policy');
    return within;
  }

  async function handleMessage(data: RawData, isBinary: boolean): Promise<void> {
    if (connection.isClosing) return;
    try {
      await executeMessage(parseClientMessage(data, isBinary), connection, identify);
    } catch (error) {
      if (!isOracleError(error)) onFault(error);
      if (!isWithin('invalid')) return;
      const { code, message, field, suggestedAction } = toClientError(error);
      // Over a WebSocket the token is in a message.
      connection.sendMessage('error', { code, message, field: field === 'Authorization' ? 'data.token' : field, suggestedAction });
    }
  }

  socket.on('message', (data, isBinary) => {
    if (!isWithin('all')) return;
    work = work.then(() => handleMessage(data, isBinary));
  });
  // Each ping causes a pong.
  socket.on('ping', () => isWithin('all'));
  socket.on('pong', () => isWithin('all'));
}

export const CLIENT_MESSAGE = z.discriminatedUnion(
  'type',
  [CLIENT_MESSAGES.subscribe.schema, CLIENT_MESSAGES.authenticate.schema, CLIENT_MESSAGES.ping.schema],
  `must be ${Object.keys(CLIENT_MESSAGES).join(', ')}`,
);

/** Parses a client message. @throws OracleError INPUT_INVALID naming the invalid field, without its value */
export function parseClientMessage(data: RawData, isBinary: boolean): ClientMessage {
  const value = isBinary ? null : parseJsonOrNull(data.toString());
  if (typeof value !== 'object' || value === null) {
    throw new OracleError('INPUT_INVALID', 'The message is no JSON object in a text frame', {
      field: 'message',
      suggestedAction: 'Send a text such as {"type":"ping"}.',
    });
  }
  return parseInput(CLIENT_MESSAGE, value, { kind: 'message field', root: 'type' });
}

async function executeMessage(message: ClientMessage, connection: Connection, identify: MessageHandlerOptions['identify']): Promise<void> {
  switch (message.type) {
    case 'ping':
      return connection.sendMessage('pong', { lastEventId: connection.lastId });
    case 'subscribe':
      return connection.subscribe(buildSubscription(message.data));
    case 'authenticate': {
      const holder = await identify(message.data.token);
      if (holder.caller.wallet!.toLowerCase() !== connection.wallet.toLowerCase()) {
        throw new OracleError('INPUT_INVALID', 'The token belongs to another wallet than the connection', {
          field: 'data.token',
          suggestedAction: 'Send a token of the same wallet, or open a connection for the other one.',
        });
      }
      // The old token may have expired meanwhile.
      if (!connection.isClosing) connection.reauthenticate(holder);
    }
  }
}

type ClientMessage = z.output<typeof CLIENT_MESSAGE>;

const WINDOW_MS = 60_000;

/** A fixed-window limit: each frame may cause a reply, and each message a database query. */
export class FrameRateLimit {
  readonly #now: () => Date;
  #windowEndsMs = 0;
  #taken = { all: 0, invalid: 0 };

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Counts a frame; returns whether it is within the limit. */
  take(kind: keyof typeof MAX_FRAMES_PER_MINUTE): boolean {
    const nowMs = this.#now().getTime();
    const leftMs = this.#windowEndsMs - nowMs;
    // More than a window is left after the clock has been set back.
    if (leftMs <= 0 || leftMs > WINDOW_MS) {
      this.#windowEndsMs = nowMs + WINDOW_MS;
      this.#taken = { all: 0, invalid: 0 };
    }
    this.#taken[kind] += 1;
    return this.#taken[kind] <= MAX_FRAMES_PER_MINUTE[kind];
  }
}

function serviceStopping(): OracleError {
  return new OracleError('SHUTTING_DOWN', 'The service is stopping', { retryAfterSeconds: WEBSOCKET.reconnectSeconds });
}

interface ConnectionHubOptions {
  events: Pick<EventLog, 'after'>;
  slots: Pick<ConnectionSlotStore, 'heartbeat' | 'release' | 'releaseAll'>;
  view: EventViewOptions;
  readEntitlements(credentialIds: readonly string[]): Promise<ReadonlyMap<string, SessionEntitlement>>;
  clock: Clock;
  log: Log;
}

const MAX_CONCURRENT_REPLAYS = 8;
const PAGE_SIZE = 100;
/** Retries when the log ends before the last broadcast event. */
const EMPTY_PAGE_RETRIES = { max: 6, delayMs: 500 } as const;
/** Of a broadcast, in a few milliseconds. */
const CONNECTIONS_A_TURN = 500;
/** Maximum age of the last check while the database does not respond. */
const MAX_CHECK_AGE_MS = 5 * 60_000;

export class ConnectionHub {
  readonly #options: ConnectionHubOptions;
  readonly #connections = new Map<string, Connection>();
  /** Slots whose release failed, by connection id. */
  readonly #unreleasedSlots = new Map<string, string>();
  readonly #replaySemaphore = new Semaphore({ maxConcurrent: MAX_CONCURRENT_REPLAYS, maxQueued: Number.POSITIVE_INFINITY });
  lastBroadcastId = 0;
  isClosing = false;
  #cancelNextCheck: () => void = () => undefined;
  #lastCheckMs: number;
  #checking: Promise<void> | undefined;

  constructor(options: ConnectionHubOptions) {
    this.#options = options;
    this.#lastCheckMs = options.clock.now().getTime();
  }

  get size(): number {
    return this.#connections.size;
  }

  start(through: number): void {
    this.lastBroadcastId = Math.max(this.lastBroadcastId, through);
    const next = () => {
      this.#cancelNextCheck = this.#options.clock.after(WEBSOCKET.pingSeconds * 1_000, () => {
        next();
        void this.checkConnections();
      });
    };
    next();
  }

  /** Adds a connection, which with `replays` first receives missed events. @param slot released when it closes */
  add(connection: Connection, { slot, replays, requestId }: { slot: string; replays: boolean; requestId: string }): void {
    const { log } = this.#options;
    const { id, wallet } = connection;
    this.#connections.set(id, connection);
    log.debug({ connection: id, wallet, requestId }, 'a WebSocket was opened');
    void connection.closed.then(async () => {
      this.#connections.delete(id);
      log.debug({ connection: id, wallet, cause: connection.closeCause }, 'a WebSocket was closed');
      await this.releaseSlot(slot, id);
    });
    connection.start({ lastEventId: Math.max(this.lastBroadcastId, connection.lastId), pingSeconds: WEBSOCKET.pingSeconds });
    if (replays) void this.#replay(connection);
    else connection.isLive = true;
  }

  /** Releases the slot of a closed or failed connection; a failed release is retried in the next round. */
  async releaseSlot(slot: string, id: string): Promise<void> {
    try {
      await this.#options.slots.release(slot, id);
      this.#unreleasedSlots.delete(id);
    } catch (error) {
      this.#unreleasedSlots.set(id, slot);
      this.#options.log.error({ err: error }, 'a slot of a WebSocket could not be freed: trying again');
    }
  }

  /** Sends events to all live connections in order, yielding between groups of connections. After an error a repeated call continues. */
  async broadcast(events: readonly AnyEvent[]): Promise<void> {
    const before = this.lastBroadcastId;
    const news = events.filter(({ _id }) => _id > before);
    if (news.length === 0) return;
    // Before the first yield: a connection that goes live meanwhile has read these events itself, and one that opens begins after them.
    this.lastBroadcastId = news.at(-1)!._id;
    const encoder = createEventEncoder(this.#options.view);
    const errors: unknown[] = [];
    let offered = 0;
    for (const connection of this.#connections.values()) {
      try {
        if (connection.isLive) connection.offerEvents(news, encoder);
      } catch (error) {
        // An event that fails for one tier does not keep the others from theirs.
        errors.push(error);
      }
      offered += 1;
      if (offered % CONNECTIONS_A_TURN === 0) await nextTurn();
    }
    await nextTurn();
    if (errors.length === 0) return;
    this.lastBroadcastId = before;
    throw errors[0];
  }

  /** Pings all connections, extends their slot leases, and closes those whose session or tier has ended. */
  async checkConnections(): Promise<void> {
    for (const connection of this.#connections.values()) connection.ping();
    // One check at a time.
    this.#checking ??= this.#checkAll().finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
  }

  /** Closes all connections and waits for them; slow ones are terminated. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.#cancelNextCheck();
    const ended = [...this.#connections.values()].map(({ closed }) => closed);
    this.#closeAll('goingAway');
    await Promise.all(ended);
    await this.#options.slots.releaseAll();
  }

  async #checkAll(): Promise<void> {
    try {
      for (const id of await this.#options.slots.heartbeat([...this.#connections.keys()])) this.#connections.get(id)?.close('tryLater');
      for (const [id, slot] of this.#unreleasedSlots) await this.releaseSlot(slot, id);
      await this.#checkEntitlements();
      this.#lastCheckMs = this.#options.clock.now().getTime();
    } catch (error) {
      this.#options.log.error({ err: error }, 'the connections could not be looked after: trying again');
      if (Math.abs(this.#options.clock.now().getTime() - this.#lastCheckMs) > MAX_CHECK_AGE_MS) this.#closeAll('tryLater');
    }
  }

  #closeAll(cause: CloseCause): void {
    for (const connection of this.#connections.values()) connection.close(cause);
  }

  async #replay(connection: Connection): Promise<void> {
    try {
      await this.#replayMissedEvents(connection);
    } catch (error) {
      this.#options.log.error({ err: error, connection: connection.id }, 'what a WebSocket has missed could not be read');
      connection.close('tryLater');
    }
  }

  /** At the client's pace; then broadcasts continue without gap or duplicate. @throws Error if the log ends early, as after a restored backup */
  async #replayMissedEvents(connection: Connection): Promise<void> {
    const { events, view, clock } = this.#options;
    let emptyPages = 0;
    while (!connection.isClosing) {
      const page = await this.#replaySemaphore.run(() => events.after(connection.lastId, PAGE_SIZE));
      const [first] = page;
      if (first !== undefined && first._id > connection.lastId + 1) {
        connection.sendMessage('replay.gap', { from: connection.lastId + 1, to: first._id - 1 });
      }
      connection.offerEvents(page, createEventEncoder(view));
      await connection.waitUntilDrained();
      if (connection.lastId >= this.lastBroadcastId && page.length < PAGE_SIZE) {
        connection.sendMessage('replay.complete', { through: connection.lastId });
        connection.isLive = true;
        return;
      }
      emptyPages = first === undefined ? emptyPages + 1 : 0;
      if (emptyPages === EMPTY_PAGE_RETRIES.max)
        throw new Error(`the log ends at ${connection.lastId}, but event ${this.lastBroadcastId} was broadcast`);
      // The first empty page may only mean that events arrived during the read.
      if (emptyPages > 1) await new Promise<void>((resolve) => void clock.after(EMPTY_PAGE_RETRIES.delayMs, resolve));
    }
  }

  async #checkEntitlements(): Promise<void> {
    const checked = [...this.#connections.values()].map((connection) => ({ connection, credentialId: connection.credentialId }));
    if (checked.length === 0) return;
    const entitlements = await this.#options.readEntitlements([...new Set(checked.map(({ credentialId }) => credentialId))]);
    for (const { connection, credentialId } of checked) {
      // The connection may have reauthenticated meanwhile.
      if (connection.credentialId !== credentialId) continue;
      const entitlement = entitlements.get(credentialId) ?? 'ended';
      if (entitlement === 'ended') connection.close('tokenExpired');
      else if (entitlement === 'unknown') connection.close('tryLater');
      else connection.setTier(entitlement);
    }
  }
}

/** Lease without a heartbeat, by the database's clock; then the process counts as dead. */
const SLOT_LEASE_MS = 90_000;

const SLOTS = 'websocket_slots';

export const SLOT_INDEXES = [{ collection: SLOTS, indexes: [{ key: { holder: 1 } }] }] as const satisfies CollectionIndexes[];

const LEASE_END = { $add: ['$$NOW', SLOT_LEASE_MS] };
/** Also true for a new document. */
const IS_FREE = { $not: [{ $gt: ['$until', '$$NOW'] }] };

export class ConnectionSlotStore {
  readonly #slots: Collection<{ _id: string; holder: string; connection: string; until: Date }>;
  readonly #holder = randomUUID();

  constructor(db: Db) {
    this.#slots = db.collection(SLOTS);
  }

  /** Acquires a free slot; null if the wallet has none. @param wallet in lower case */
  async claim(wallet: string, connection: string): Promise<string | null> {
    for (let number = 0; number < WEBSOCKET.connectionsPerWallet; number++) {
      const id = `${wallet}:${number}`;
      if (await this.#acquireSlot(id, connection)) return id;
    }
    return null;
  }

  async #acquireSlot(id: string, connection: string): Promise<boolean> {
    const mine = { _id: id, holder: this.#holder, connection, until: LEASE_END };
    const update = [{ $replaceWith: { $cond: [IS_FREE, mine, '$$ROOT'] } }];
    const acquired = this.#slots.findOneAndUpdate({ _id: id }, update, { upsert: true, returnDocument: 'after' });
    // A concurrent upsert may have created the slot for another connection.
    const slot = await undoIfUncertain(acquired, () => this.release(id, connection)).catch(ignoreDuplicate);
    return slot?.connection === connection;
  }

  async release(id: string, connection: string): Promise<void> {
    await repeatIfUncertain(() => this.#slots.deleteOne({ _id: id, connection }));
  }

  /** Extends the leases of connections of this process; returns those that have lost their slots. */
  async heartbeat(connections: readonly string[]): Promise<string[]> {
    const mine = { holder: this.#holder, connection: { $in: [...connections] } };
    const { matchedCount } = await this.#slots.updateMany(mine, [{ $set: { until: LEASE_END } }]);
    if (matchedCount >= connections.length) return [];
    const kept = await this.#slots.find(mine, { projection: { connection: 1 } }).toArray();
    const names = new Set(kept.map(({ connection }) => connection));
    return connections.filter((connection) => !names.has(connection));
  }

  async releaseAll(): Promise<void> {
    await this.#slots.deleteMany({ holder: this.#holder });
  }
}
