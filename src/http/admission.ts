import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Request, RequestHandler, Response } from 'express';
import type { WorkKind } from '../auth/auth.ts';
import type { Caller } from '../auth/caller.ts';
import { type CapacityLimits, SharedCapacity, toCapacityClient } from '../auth/rate-limits.ts';
import { OracleError } from '../errors.ts';
import { LoadShedder, type PriorityRules, type ReleaseSlot } from '../platform/load-shedder.ts';
import { hasPaymentPayload } from './problems.ts';
import { type AppOptions, getClientAddress } from './request.ts';
import { type ClientConnection, getConnection, isHandshake, NEGLIGIBLE_BYTES, type ReserveKind } from './sockets.ts';

/**
 * Highest priority first. Later units of a request that has begun, such as the next messages of a batch, go before new requests, so that few
 * hold memory at a time. A page of a stream waits instead of being shed.
 */
const PRIORITIES = {
  holder: { maxWaitMs: 5_000, share: 1 },
  begun: { maxWaitMs: 2_000, rejectAfterMs: 1_000, share: 3 / 8 },
  anonymous: { maxWaitMs: 2_000, rejectAfterMs: 1_000, share: 3 / 8, yields: true },
  page: { maxWaitMs: Number.POSITIVE_INFINITY, share: 1 / 8 },
} as const satisfies Record<string, PriorityRules>;

type Priority = keyof typeof PRIORITIES;

const RANKS = Object.keys(PRIORITIES) as Priority[];

/** Concurrent units of work per process that call the chain or verify a payment. */
export const MAX_CHAIN_WORK: CapacityLimits = {
  perClient: 16,
  per56: 24,
  per48: 48,
  anonymous: 96,
  anonymousAndPayers: 112,
  overall: 128,
};

/** Capacity for work that calls the chain, shared by all transports of a process. */
export type ChainWork = Pick<SharedCapacity, 'acquire'>;

export function createChainWork(): ChainWork {
  return new SharedCapacity({
    units: 'requests that call the chain',
    limits: MAX_CHAIN_WORK,
    suggestedAction: 'Wait for responses to earlier requests, or send a token, which has a reserved share.',
    retryAfterSeconds: 5,
  });
}

export function createLoadShedder(): LoadShedder {
  return new LoadShedder({ priorities: Object.values(PRIORITIES) });
}

interface RequestWorkOptions {
  /** Absent: work is admitted without limit. */
  loadShedder?: LoadShedder | undefined;
  chainWork?: ChainWork | undefined;
  response: Response;
  address: string;
}

/**
 * Admission of the work that one request causes, over any transport. A unit of work (the run of a skill, the reading of a page, a chain
 * call) holds capacity of this process from its begin to its end, whatever has been sent meanwhile and whether or not the client still
 * listens. Units inside another share its capacity; a later one, as of the next message of a batch, is admitted anew.
 */
export class RequestWork {
  readonly #options: RequestWorkOptions;
  #caller: Caller;
  #holds = 0;
  #entered: Promise<void> | undefined;
  #release: ReleaseSlot | undefined;
  #callsChain = false;
  #detach: (() => void) | undefined;

  constructor(options: RequestWorkOptions, caller: Caller) {
    this.#options = options;
    this.#caller = caller;
  }

  /** The caller whose share later units use. */
  identify(caller: Caller): void {
    this.#caller = caller;
  }

  /**
   * Runs a unit once there is capacity for it. `carriesPayment` is asked only where it would wait: a payment does not.
   * @throws OracleError OVERLOADED, RATE_LIMITED; errors of the work
   */
  async run<T>(work: () => Promise<T> | T, kind: WorkKind = 'work', carriesPayment = async () => false): Promise<T> {
    const leave = await this.#enter(kind, carriesPayment);
    this.#detach ??= leave;
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Ends the first unit before its function returns: what follows, if anything, is in units of its own. */
  detach(): void {
    this.#detach?.();
  }

  /** Waits for the client, without the capacity of the current unit. */
  async suspend<T>(waiting: () => Promise<T>): Promise<T> {
    const isAlone = this.#holds === 1 && this.#release !== undefined && !this.#callsChain;
    if (!isAlone) return waiting();
    this.#giveBack();
    const result = await waiting();
    await this.#acquireSlot('work');
    return result;
  }

  /** The current unit waits for the chain from here on, within the limits of such work. @throws OracleError RATE_LIMITED */
  beginChainCall(isPaying = false): void {
    const { chainWork, address } = this.#options;
    if (this.#callsChain || chainWork === undefined) return;
    if (this.#holds === 0) throw new OracleError('INTERNAL', 'A chain call belongs to no unit of work');
    const release = chainWork.acquire(toCapacityClient({ caller: this.#caller, address }, isPaying));
    this.#giveBack();
    this.#release = release;
    this.#callsChain = true;
  }

  async #enter(kind: WorkKind, carriesPayment: () => Promise<boolean>): Promise<() => void> {
    this.#holds += 1;
    let isInside = true;
    const leave = () => {
      if (!isInside) return;
      isInside = false;
      this.#holds -= 1;
      if (this.#holds > 0) return;
      this.#entered = undefined;
      this.#callsChain = false;
      this.#giveBack();
    };
    try {
      this.#entered ??= this.#admit(kind, carriesPayment);
      await this.#entered;
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #admit(kind: WorkKind, carriesPayment: () => Promise<boolean>): Promise<void> {
    if (this.#options.response.headersSent) await this.#waitForReader();
    if (kind === 'payment') this.beginChainCall(true);
    else if (kind !== 'delivery') await this.#acquireSlot(kind, carriesPayment);
  }

  /** A client gets its next answer once it has read the one before. */
  async #waitForReader(): Promise<void> {
    const { response } = this.#options;
    await nextTurn();
    if (!response.writableNeedDrain || response.closed) return;
    const over = new AbortController();
    const ended = [once(response, 'drain', over), once(response, 'close', over)];
    await Promise.race(ended).finally(() => over.abort());
    await Promise.allSettled(ended);
  }

  async #acquireSlot(kind: 'work' | 'page', carriesPayment = async () => false): Promise<void> {
    const { loadShedder, response, address } = this.#options;
    if (loadShedder === undefined) return;
    const isHolder = toCapacityClient({ caller: this.#caller, address }).class === 'holder';
    const anonymous = this.#detach === undefined ? 'anonymous' : 'begun';
    const rank = RANKS.indexOf(kind === 'page' ? 'page' : isHolder ? 'holder' : anonymous);
    const release = loadShedder.tryEnter(rank);
    if (release !== null) this.#release = release;
    else if (await carriesPayment()) this.beginChainCall(true);
    else {
      const closed = new AbortController();
      const abort = () => closed.abort();
      if (response.closed) abort();
      response.once('close', abort);
      this.#release = await loadShedder.enter(rank, closed.signal).finally(() => response.off('close', abort));
    }
  }

  #giveBack(): void {
    const release = this.#release;
    this.#release = undefined;
    release?.();
  }
}

/** Reserves memory before a response is written, which bounds the bytes held for clients that do not read. @throws OracleError OVERLOADED */
export async function requireSendCapacity(socket: object, bytes: number): Promise<void> {
  if (bytes <= NEGLIGIBLE_BYTES) return;
  const connection = getConnection(socket);
  if (connection === undefined || (await connection.reserveBytes(bytes))) return;
  const message = 'Unread responses of your network, or of all clients, use all available memory';
  const suggestedAction = 'Read the responses to earlier requests, or request compression with Accept-Encoding.';
  throw new OracleError('OVERLOADED', message, { suggestedAction, retryAfterSeconds: 10 });
}

const PROBES = new Set(['/health', '/ready']);

/**
 * Admits the first request of a connection without a slot to the reserve where it is a health probe, has a valid token or carries a
 * payment of a known form; the connection closes after it. Requests of trusted proxies acquire a slot each, for the forwarded address.
 * @throws by the handler: OracleError OVERLOADED
 */
export function createConnectionGate({ identify }: Pick<AppOptions, 'identify'>): RequestHandler {
  return (request, response, next) => {
    const connection = getConnection(request.socket);
    if (connection === undefined) return next();
    const { isProxied } = connection;
    if (isProxied ? connection.tryAdmitProxied(getClientAddress(request), response) : !connection.isProvisional) return next();
    if (!isProxied) response.setHeader('Connection', 'close');
    return acquireReserveSlot(request, connection, identify).then((releaseSlot) => {
      if (isProxied) connection.holdDuring(response, releaseSlot);
      else connection.assignSlot(releaseSlot);
      next();
    });
  };
}

async function acquireReserveSlot(
  request: Request,
  { budget, address }: ClientConnection,
  identify: AppOptions['identify'],
): Promise<ReleaseSlot> {
  const kind = await getReserveKind(request, identify);
  const releaseSlot = kind === null ? null : budget.acquireReserve(kind, address);
  if (releaseSlot !== null) return releaseSlot;
  throw new OracleError('OVERLOADED', 'All connections available to your network or to anonymous clients are in use', {
    suggestedAction: 'Close unused connections, or send a token of POST /api/svc/oracle/verify.',
    retryAfterSeconds: 10,
  });
}

async function getReserveKind(request: Request, identify: AppOptions['identify']): Promise<ReserveKind | null> {
  if (PROBES.has(request.path) && (request.method === 'GET' || request.method === 'HEAD')) return 'probe';
  // The handshake handler verifies the token or ticket before any other work.
  if (isHandshake(request) && (request.query.token ?? request.query.ticket) !== undefined) return 'token';
  if (hasPaymentPayload((name) => request.get(name))) return 'payment';
  const authorization = request.get('Authorization');
  if (authorization === undefined) return null;
  const caller = await identify(authorization).catch(() => null);
  return caller?.wallet === undefined ? null : 'token';
}
