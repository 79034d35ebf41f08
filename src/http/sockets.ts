import { readFile } from 'node:fs/promises';
import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type ListenOptions, type Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import express from 'express';
import { addToCount } from '../auth/rate-limits.ts';
import { addressRanges, parseIp, toAddressKey } from '../platform/budgets.ts';

interface Handshake {
  request: IncomingMessage;
  socket: Duplex;
  /** First bytes after the head of the request. */
  head: Buffer;
}

const pendingHandshakes = new WeakMap<IncomingMessage, Handshake & { response: ServerResponse }>();

/** RFC 6455, section 4.2.1. */
export function isHandshake({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.trim().toLowerCase() === 'websocket';
}

/** Passes a handshake to an app as a request; the response closes the connection unless `takeHandshake` claims the socket. */
export function answerHandshake(app: RequestListener, handshake: Handshake): void {
  const { request } = handshake;
  // An HTTP server emits net.Socket only.
  const socket = handshake.socket as Socket;
  // After `upgrade` Node no longer handles errors of the socket.
  socket.on('error', () => socket.destroy());
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  try {
    response.assignSocket(socket);
  } catch {
    // A pipelined handshake: the response before it on this connection is incomplete. Browsers never pipeline one.
    return void socket.destroy();
  }
  response.once('finish', () => socket.destroySoon());
  pendingHandshakes.set(request, { ...handshake, response });
  app(request, response);
}

/** Claims the socket of a handshake, whose response is not sent then; null where it was answered or claimed. */
export function takeHandshake(request: IncomingMessage): Handshake | null {
  const pending = pendingHandshakes.get(request);
  if (pending === undefined) return null;
  pendingHandshakes.delete(request);
  const { response, ...handshake } = pending;
  if (response.socket !== null) response.detachSocket(response.socket);
  forgetConnection(handshake.socket);
  return handshake;
}

export interface SocketLimits {
  /** Size of the general share; a reserve of an eighth is in addition. Default: `DEFAULT_MAX_CONNECTIONS`. */
  maxConnections?: number;
  /** Proxies whose connections count for the forwarded addresses. Default: none. */
  trustProxy?: number | readonly string[];
  unsent?: UnsentBytesOptions['limits'];
}

/** Applies the budgets of connections and unsent bytes to all sockets of a server until it is stopped. */
export function watchSockets(server: Server, { stalledMs, ...limits }: SocketLimits & Pick<UnsentBytesOptions, 'stalledMs'>) {
  const budget = new ConnectionBudget(limits.maxConnections ?? DEFAULT_MAX_CONNECTIONS);
  const provisional = new ProvisionalConnections(budget.maxProvisional);
  const isProxy = createProxyCheck(limits.trustProxy);
  const port = () => (server.address() as AddressInfo | null)?.port ?? 0;
  const monitor = new UnsentBytesMonitor({ stalledMs, port, limits: limits.unsent });

  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const address = toAddressKey(remoteAddress) ?? 'unknown';
    const connection = new ClientConnection(socket, { budget, address, isProxied: isProxy(remoteAddress) });
    connection.reserveBytes = (bytes) => monitor.reserve(connection, bytes);
    connections.set(socket, connection);
    monitor.add(connection);
    if (!connection.isProxied) {
      const releaseSlot = budget.acquireGeneral(address);
      if (releaseSlot === null) provisional.begin(connection);
      else connection.assignSlot(releaseSlot);
    }
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => monitor.end(connection, destroySoon);
    socket.once('close', () => {
      forgetConnection(socket);
      provisional.end(connection);
      monitor.remove(connection);
    });
  });
  server.on('request', ({ socket }, response) => {
    const connection = getConnection(socket);
    if (connection === undefined) return;
    provisional.end(connection);
    // `finish` would wait for the operating system to accept all bytes.
    response.once('prefinish', () => monitor.onResponseWritten(connection));
  });
  server.on('upgrade', ({ socket }) => {
    const connection = getConnection(socket);
    if (connection !== undefined) provisional.end(connection);
  });
  // An idle keep-alive connection after `keepAliveTimeout`.
  server.on('timeout', (socket) => {
    const connection = getConnection(socket);
    if (connection === undefined) return socket.destroy();
    monitor.end(connection, () => socket.destroy());
  });
  return { listUse: () => budget.listUse(), stop: () => monitor.stop() };
}

/** Whether a peer is a proxy by `TRUST_PROXY`, as Express compiles it: with a number of hops every peer is. */
function createProxyCheck(trustProxy: number | readonly string[] = 0): (remoteAddress: string) => boolean {
  const app = express().set('trust proxy', trustProxy);
  const trusts = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return (remoteAddress) => remoteAddress !== '' && trusts(remoteAddress, 0);
}

/** Time for the head of the first request of a connection without a slot. */
const PROVISIONAL_MS = 2_000;

/** Connections without a slot. Beyond the maximum the oldest is reset, so that idle clients cannot keep others out. */
class ProvisionalConnections {
  readonly #max: number;
  readonly #timers = new Map<ClientConnection, NodeJS.Timeout>();

  constructor(max: number) {
    this.#max = max;
  }

  begin(connection: ClientConnection): void {
    const [oldest] = this.#timers.size >= this.#max ? this.#timers.keys() : [];
    if (oldest !== undefined) this.#reset(oldest);
    connection.isProvisional = true;
    this.#timers.set(connection, setTimeout(() => this.#reset(connection), PROVISIONAL_MS).unref());
  }

  /** On its first request, or on close. */
  end(connection: ClientConnection): void {
    clearTimeout(this.#timers.get(connection));
    this.#timers.delete(connection);
  }

  #reset(connection: ClientConnection): void {
    this.end(connection);
    connection.socket.resetAndDestroy();
  }
}

/** Fewer bytes are neither looked up in the kernel nor reserved. */
export const NEGLIGIBLE_BYTES = 16_384;

/** A larger response triggers an early sweep. */
const LARGE_BYTES = 262_144;

const INSPECT_SOON_MS = 250;

/** Time without progress after which a connection may be reset to make room for another. */
const MIN_IDLE_MS = 1_000;

interface UnsentBytesOptions {
  /** Milliseconds without progress after which a socket with unsent bytes is reset. */
  stalledMs: number;
  /** Default: `UNSENT_LIMITS`. */
  limits?: RangeLimits | undefined;
  /** The local port, read once connections exist. */
  port(): number;
}

interface SendState {
  /** `bytesWritten` when the socket last had no unsent bytes. */
  emptyAt: number;
  /** `bytesWritten` at the end of the latest response. */
  notedAt: number;
  /** Unread bytes in process and kernel by the last sweep. */
  unsent: number;
  /** Bytes reserved: those unsent by the last sweep, and responses since. */
  reservedBytes: number;
  /** Address that the reservation counts for; that of a proxied connection changes. */
  reservedFor: string;
  /** Changes whenever the client reads. */
  progress: string;
  /** Monotonic time of the last change of `progress`. */
  movedAtMs: number;
}

type Entry = [ClientConnection, SendState];

/**
 * Bounds the response bytes that clients leave unread. Bytes in a kernel buffer do not count as unsent in Node, and stay in memory for
 * minutes after a close; so the kernel queues are read too (Linux only), and sockets are reset, which frees the buffers.
 */
class UnsentBytesMonitor {
  readonly #options: UnsentBytesOptions;
  readonly #limits: RangeLimits;
  readonly #states = new Map<ClientConnection, SendState>();
  readonly #reserved: AddressRangeCounter;
  readonly #sweepTimer: NodeJS.Timeout;
  #sweeping: Promise<void> | undefined;
  #soonTimer: NodeJS.Timeout | undefined;
  #seesKernel = process.platform === 'linux';

  constructor(options: UnsentBytesOptions) {
    this.#options = options;
    this.#limits = options.limits ?? UNSENT_LIMITS;
    this.#reserved = new AddressRangeCounter(this.#limits);
    this.#sweepTimer = setInterval(() => void this.#sweep(), Math.min(5_000, options.stalledMs / 4)).unref();
  }

  add(connection: ClientConnection): void {
    const nothing = { emptyAt: 0, notedAt: 0, unsent: 0, reservedBytes: 0, progress: '' };
    this.#states.set(connection, { ...nothing, reservedFor: connection.address, movedAtMs: performance.now() });
  }

  remove(connection: ClientConnection): void {
    const state = this.#states.get(connection);
    if (state !== undefined) this.#setReserved(state, 0);
    this.#states.delete(connection);
  }

  /** False where a limit is reached. Before that it sweeps, and then resets connections that have been idle for a second. */
  async reserve(connection: ClientConnection, bytes: number): Promise<boolean> {
    if (this.#tryReserve(connection, bytes)) return true;
    await this.#sweep();
    if (this.#tryReserve(connection, bytes)) return true;
    this.#resetIdle(connection.address, bytes);
    return this.#tryReserve(connection, bytes);
  }

  #tryReserve(connection: ClientConnection, bytes: number): boolean {
    const state = this.#states.get(connection);
    // A closed socket: nothing will be written.
    if (state === undefined) return true;
    const { address } = connection;
    if (state.reservedFor !== address) this.#setReserved(state, 0);
    state.reservedFor = address;
    if (!this.#reserved.tryAdd(address, bytes)) return false;
    state.reservedBytes += bytes;
    return true;
  }

  #setReserved(state: SendState, bytes: number): void {
    this.#reserved.add(state.reservedFor, bytes - state.reservedBytes);
    state.reservedBytes = bytes;
  }

  /** Resets idle connections, the longest idle first, until the bytes fit. */
  #resetIdle(address: string, bytes: number): void {
    const idleSince = performance.now() - MIN_IDLE_MS;
    const idle = [...this.#states].filter(([, { unsent, movedAtMs }]) => unsent > 0 && movedAtMs < idleSince);
    for (const [connection, state] of idle.toSorted(([, one], [, other]) => one.movedAtMs - other.movedAtMs)) {
      if (this.#reserved.hasRoom(address, bytes)) return;
      if (this.#reserved.hasRoom(address, bytes, state.reservedFor)) continue;
      this.#setReserved(state, 0);
      connection.socket.resetAndDestroy();
    }
  }

  onResponseWritten(connection: ClientConnection): void {
    const state = this.#states.get(connection);
    if (state === undefined) return;
    const { bytesWritten } = connection.socket;
    if (bytesWritten - state.notedAt > LARGE_BYTES) this.#sweepSoon();
    state.notedAt = bytesWritten;
  }

  /** Closes a connection; one with bytes in the kernel stays monitored until its client has read them, or is reset. */
  end(connection: ClientConnection, destroy: () => void): void {
    const { bytesWritten } = connection.socket;
    const sinceEmpty = bytesWritten - (this.#states.get(connection)?.emptyAt ?? bytesWritten);
    if (!this.#seesKernel || sinceEmpty <= NEGLIGIBLE_BYTES) {
      destroy();
    } else {
      connection.isEnding = true;
      connection.socket.end();
      this.#sweepSoon();
    }
  }

  stop(): void {
    clearInterval(this.#sweepTimer);
    clearTimeout(this.#soonTimer);
  }

  #sweepSoon(): void {
    this.#soonTimer ??= setTimeout(() => {
      this.#soonTimer = undefined;
      void this.#sweep();
    }, INSPECT_SOON_MS).unref();
  }

  #sweep(): Promise<void> {
    this.#sweeping ??= this.#readAll().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  /** Reads the kernel tables only where a connection may have unsent bytes. */
  async #readAll(): Promise<void> {
    const candidates = [...this.#states].filter(
      ([{ socket }, { emptyAt, unsent, reservedBytes }]) =>
        socket.bytesWritten - emptyAt > NEGLIGIBLE_BYTES || socket.writableLength > 0 || unsent > 0 || reservedBytes > 0,
    );
    if (candidates.length === 0) return;
    const queues = this.#seesKernel ? await readKernelSendQueues(this.#options.port()) : null;
    this.#seesKernel = queues !== null;
    // A connection that closed meanwhile has released its reservation.
    const open = candidates.filter(([connection]) => this.#states.has(connection));
    this.#enforce(open.filter((entry) => this.#update(entry, queues?.(entry[0].socket) ?? 0)));
  }

  /** Records the unsent bytes of a socket; true while there are any. */
  #update([{ socket, isEnding }, state]: Entry, inKernel: number): boolean {
    // FIN counts as one byte.
    state.unsent = Math.max(socket.writableLength, inKernel > 1 ? inKernel : 0);
    this.#setReserved(state, state.unsent);
    if (state.unsent === 0) {
      Object.assign(state, { emptyAt: socket.bytesWritten, progress: '' });
      if (isEnding && socket.writableFinished) socket.destroy();
      return false;
    }
    const progress = `${socket.bytesWritten} ${socket.writableLength} ${inKernel}`;
    if (progress !== state.progress) Object.assign(state, { progress, movedAtMs: performance.now() });
    return !socket.destroyed;
  }

  /** Resets stalled sockets, and above a limit those with the longest time without progress. */
  #enforce(pending: Entry[]): void {
    const counts = new AddressRangeCounter(this.#limits);
    for (const [{ address }, { unsent }] of pending) counts.add(address, unsent);
    const stalledBefore = performance.now() - this.#options.stalledMs;
    const slowestFirst = pending.toSorted(([, one], [, other]) => one.movedAtMs - other.movedAtMs || other.unsent - one.unsent);
    for (const [{ socket, address }, { unsent, movedAtMs }] of slowestFirst) {
      if (movedAtMs > stalledBefore && !counts.isExceeded(address)) continue;
      counts.add(address, -unsent);
      socket.resetAndDestroy();
    }
  }
}

/** Socket tables of this network namespace, on Linux only (proc_net_tcp in the kernel documentation). */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Local port, remote address and port, and `tx_queue`, all in hex. */
const ROW = /^ *\d+: [\dA-F]+:([\dA-F]{4}) ([\dA-F]+:[\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/gm;

/** Bytes of a socket that the peer has not acknowledged; 0 where unknown. */
type KernelSendQueues = (socket: Socket) => number;

/** Reads the send queues of all connections of a local port; null where the platform has no such table. */
async function readKernelSendQueues(port: number): Promise<KernelSendQueues | null> {
  try {
    const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1')));
    const local = toHex(port, 4);
    const bytes = new Map<string, number>();
    for (const [, localPort, remote, queued] of tables.join('').matchAll(ROW)) {
      if (localPort === local && queued !== '00000000') bytes.set(remote!, Number.parseInt(queued!, 16));
    }
    return ({ remoteAddress, remotePort }) =>
      remoteAddress === undefined ? 0 : (bytes.get(formatQueueKey(remoteAddress, remotePort)) ?? 0);
  } catch {
    return null;
  }
}

/** Endpoint in the spelling of the table: 32-bit words in host byte order, which is little-endian. */
function formatQueueKey(remoteAddress: string, remotePort = 0): string {
  const octets = parseIp(remoteAddress).toByteArray();
  const words = Array.from({ length: octets.length / 4 }, (_, i) => octets.slice(4 * i, 4 * i + 4).reverse());
  return `${words.map((word) => word.map((octet) => toHex(octet, 2)).join('')).join('')}:${toHex(remotePort, 4)}`;
}

function toHex(number: number, digits: number): string {
  return number.toString(16).toUpperCase().padStart(digits, '0');
}

/** Of one port: libuv accepts one connection of a listener in a turn of the event loop, and a loaded process has few turns a second. */
const LISTENERS = 16;
/** Where the kernel shares the connections of a port out to its listeners (`SO_REUSEPORT`). */
const SHARES_PORT = process.platform === 'linux';

export interface Listeners {
  /** Rejects with the error of the system where the address cannot be bound. */
  listen(port: number, host: string): Promise<void>;
  /** Stops listening. Resolves once the last connection has ended. */
  close(): Promise<void>;
}

/** Listeners of an HTTP server, which gets the connections of all of them. */
export function createListeners(server: NetServer): Listeners {
  const further: NetServer[] = [];
  return {
    async listen(port, host) {
      if (!SHARES_PORT) return openListener(server, { port, host });
      if (port !== 0) {
        // Listeners that share a port would otherwise join those of another process of this user.
        const probe = createServer();
        await openListener(probe, { port, host });
        await closeListener(probe);
      }
      await openListener(server, { port, host, reusePort: true });
      const bound = { port: (server.address() as AddressInfo).port, host, reusePort: true };
      while (further.length < LISTENERS - 1) {
        // Options of an HTTP server's own sockets.
        const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => server.emit('connection', socket));
        further.push(listener);
        await openListener(listener, bound);
      }
    },
    close: async () => void (await Promise.all([server, ...further].map(closeListener))),
  };
}

function openListener(listener: NetServer, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(options, () => {
      listener.off('error', reject);
      // Of a connection that could not be accepted: its client tries again.
      listener.on('error', () => undefined);
      resolve();
    });
  });
}

function closeListener(listener: NetServer): Promise<void> {
  return new Promise((resolve) => listener.close(() => resolve()));
}

export class ClientConnection {
  readonly socket: Socket;
  readonly budget: ConnectionBudget;
  /** The peer is a trusted proxy: its requests are counted instead, each for the forwarded address. */
  readonly isProxied: boolean;
  /** Address key that its bytes count for; of a proxied connection that of its latest request. */
  address: string;
  /** Its first request is awaited, to decide whether it may use the reserve. */
  isProvisional = false;
  /** The server has closed its side. */
  isEnding = false;
  /** Reserves memory for the bytes of a response; false where the client, its range or all clients leave too much unread. */
  reserveBytes: (bytes: number) => Promise<boolean> = async () => true;
  #releaseSlot: ReleaseSlot | null = null;

  constructor(socket: Socket, { budget, address, isProxied }: Pick<ClientConnection, 'budget' | 'address' | 'isProxied'>) {
    this.socket = socket;
    this.budget = budget;
    this.address = address;
    this.isProxied = isProxied;
  }

  assignSlot(releaseSlot: ReleaseSlot): void {
    this.release();
    this.#releaseSlot = releaseSlot;
  }

  release(): void {
    this.#releaseSlot?.();
    this.#releaseSlot = null;
  }

  /** A slot for one request of a trusted proxy, from the forwarded address; false where only the reserve is left. */
  tryAdmitProxied(address: string, response: ServerResponse): boolean {
    this.address = address;
    const releaseSlot = this.budget.acquireGeneral(address);
    if (releaseSlot !== null) this.holdDuring(response, releaseSlot);
    return releaseSlot !== null;
  }

  holdDuring(response: ServerResponse, releaseSlot: ReleaseSlot): void {
    if (response.closed) return void releaseSlot();
    this.assignSlot(releaseSlot);
    response.once('close', () => this.release());
  }
}

const connections = new WeakMap<object, ClientConnection>();

/** Undefined for sockets of other servers and of WebSockets. */
export function getConnection(socket: object): ClientConnection | undefined {
  return connections.get(socket);
}

/** Removes a connection from the HTTP budgets: a WebSocket counts per wallet, and monitors its own backlog. */
function forgetConnection(socket: object): void {
  connections.get(socket)?.release();
  connections.delete(socket);
}

/** Default size of the general share, well below the file-descriptor limit of service managers. */
const DEFAULT_MAX_CONNECTIONS = 4_096;

/** 1/16 admits a large office behind one IPv4 address; exhausting the share takes sixteen addresses, or four IPv6 sites. */
const GENERAL_SHARES = { perAddress: 1 / 16, per56: 1 / 8, per48: 1 / 4 };

const RESERVE_SHARES = { perAddress: 1 / 8, per56: 1 / 8, per48: 1 / 4 };

/** Qualification of the first request of a connection for the reserve. */
export type ReserveKind = 'probe' | 'token' | 'payment';

/** Fractions of the general share, one per kind: forging one kind takes nothing from the others. */
const RESERVES: Record<ReserveKind, number> = { probe: 1 / 32, token: 1 / 16, payment: 1 / 32 };

export interface ShareUse {
  share: 'general' | ReserveKind;
  used: number;
  limit: number;
}

/** Idempotent. */
export type ReleaseSlot = () => void;

/** Slots for connections, and for requests through trusted proxies: a general share, and a reserve in addition. */
export class ConnectionBudget {
  readonly maxProvisional: number;
  readonly #general: AddressRangeCounter;
  readonly #reserves: Record<ReserveKind, AddressRangeCounter>;

  constructor(maxConnections: number) {
    const createReserve = (kind: ReserveKind) => {
      const size = Math.max(1, Math.floor(maxConnections * RESERVES[kind]));
      return new AddressRangeCounter(buildRangeLimits(size, RESERVE_SHARES));
    };
    this.maxProvisional = Math.max(1, Math.floor(maxConnections / 8));
    this.#general = new AddressRangeCounter(buildRangeLimits(maxConnections, GENERAL_SHARES));
    this.#reserves = { probe: createReserve('probe'), token: createReserve('token'), payment: createReserve('payment') };
  }

  listUse(): ShareUse[] {
    const reserves = Object.entries(this.#reserves) as [ReserveKind, AddressRangeCounter][];
    return [{ share: 'general', ...this.#general.use }, ...reserves.map(([share, counter]) => ({ share, ...counter.use }))];
  }

  /** Null where the general share, or the share of a range of the address, is used up. */
  acquireGeneral(address: string): ReleaseSlot | null {
    return this.#general.acquire(address);
  }

  /** Null where this part of the reserve, or the share of a range of the address, is used up. */
  acquireReserve(kind: ReserveKind, address: string): ReleaseSlot | null {
    return this.#reserves[kind].acquire(address);
  }
}

/** Unread response bytes. A socket buffers up to 4 MB in the kernel (net.ipv4.tcp_wmem), a response its full size in the process. */
const UNSENT_LIMITS: RangeLimits = { perAddress: 12e6, per56: 24e6, per48: 48e6, overall: 96e6 };

/** Upper bounds for one address key, an IPv6 /56, an IPv6 /48, and all clients together. */
interface RangeLimits {
  perAddress: number;
  per56: number;
  per48: number;
  overall: number;
}

/** Bounds of a budget from the fractions of it that one address, /56 and /48 may use. */
function buildRangeLimits(overall: number, shares: Omit<RangeLimits, 'overall'>): RangeLimits {
  const share = (fraction: number) => Math.max(1, Math.floor(overall * fraction));
  return { perAddress: share(shares.perAddress), per56: share(shares.per56), per48: share(shares.per48), overall };
}

class AddressRangeCounter {
  readonly #limits: readonly number[];
  readonly #overallLimit: number;
  readonly #amounts = new Map<string, number>();
  #overall = 0;

  constructor({ perAddress, per56, per48, overall }: RangeLimits) {
    this.#limits = [perAddress, per56, per48];
    this.#overallLimit = overall;
  }

  /** Sum over all addresses, and its bound. */
  get use(): { used: number; limit: number } {
    return { used: this.#overall, limit: this.#overallLimit };
  }

  /** Adds one; returns the function that takes it back, or null where it would exceed a limit. */
  acquire(address: string): ReleaseSlot | null {
    if (!this.tryAdd(address, 1)) return null;
    let isHeld = true;
    return () => {
      if (isHeld) this.add(address, -1);
      isHeld = false;
    };
  }

  /** Adds an amount; returns false, and adds nothing, where it would exceed a limit. */
  tryAdd(address: string, amount: number): boolean {
    this.add(address, amount);
    if (!this.isExceeded(address)) return true;
    this.add(address, -amount);
    return false;
  }

  /** Adds an amount, which may be negative, regardless of the limits. */
  add(address: string, amount: number): void {
    this.#overall += amount;
    for (const range of addressRanges(address)) addToCount(this.#amounts, range, amount);
  }

  /** Whether an amount fits. @param inRangesOf restricts the check to ranges that this other address shares, and the overall sum */
  hasRoom(address: string, amount: number, inRangesOf = address): boolean {
    const shared = addressRanges(inRangesOf);
    return this.#overall + amount <= this.#overallLimit && !this.#isAbove(address, amount, (range) => shared.includes(range));
  }

  /** Whether a range of this address, or the overall sum, is above its limit. */
  isExceeded(address: string): boolean {
    return this.#overall > this.#overallLimit || this.#isAbove(address, 0, () => true);
  }

  #isAbove(address: string, amount: number, applies: (range: string) => boolean): boolean {
    return addressRanges(address).some((range, i) => applies(range) && (this.#amounts.get(range) ?? 0) + amount > this.#limits[i]!);
  }
}
