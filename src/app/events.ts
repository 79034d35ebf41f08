import type { AuthService, Credential } from '../auth/auth.ts';
import { requireTier } from '../auth/tiers.ts';
import { allowsLocalWebhooks } from '../config.ts';
import type { Context } from '../context.ts';
import { OracleError, orElse } from '../errors.ts';
import type { EventViewOptions } from '../events/event-view.ts';
import { WEBSOCKET } from '../events/events.ts';
import { type EventListener, EventLog, followEvents, publishChanges } from '../events/log.ts';
import { DeliveryQueue, publishWebhookNotices, startWebhookWorker, type WebhookWorkerDeps } from '../events/webhooks/queue.ts';
import { WebhookRegistry } from '../events/webhooks/registry.ts';
import { type Clock, createSystemClock, type SessionEntitlement, type SessionHolder } from '../events/websocket/connection.ts';
import { ConnectionHub, ConnectionSlotStore, createConnectionAcceptor, TicketStore } from '../events/websocket/hub.ts';
import type { AppOptions } from '../http/request.ts';
import { createHandshakeHandler, type WebSocketDeps } from '../http/routes/websocket.ts';
import { createHandshakeApp, type HttpServer } from '../http/server.ts';
import { Semaphore, type SemaphoreLimits } from '../platform/concurrency.ts';
import { toDatabaseError } from '../platform/mongo.ts';
import { createResolver, type TargetRules } from '../platform/outbound/guarded.ts';
import { HostLimiter } from '../platform/outbound/host-limits.ts';
import { createSecretBox } from '../platform/secrets.ts';
import type { ServiceCore } from './core.ts';
import type { ProcessContext } from './infrastructure.ts';

export interface WebSocketService {
  tickets: TicketStore;
  /** Begins to follow the event log. @param clock default: the system clock */
  open(clock?: Clock): Promise<OpenWebSocket>;
}

export interface OpenWebSocket {
  hub: ConnectionHub;
  deps: WebSocketDeps;
  close(): Promise<void>;
}

const MAX_BALANCE_READS = 16;

export function composeWebSocket(
  { db, log, now }: Context,
  { access, push, view }: { access: AuthService; push: EventPublishing; view: EventViewOptions },
): WebSocketService {
  const tickets = new TicketStore({ db, now });
  const entitlements = createEntitlementReader(access);

  async function open(clock = createSystemClock(now)): Promise<OpenWebSocket> {
    const stop = new AbortController();
    const slots = new ConnectionSlotStore(db);
    const hub = new ConnectionHub({ events: push.events, slots, view, readEntitlements: entitlements, clock, log });
    const tail = await push.follow((events) => hub.broadcast(events), stop.signal);
    hub.start(tail.getSeenId());
    const identify = (token: string) => identifyTokenHolder(access, token);
    const onFault = (error: unknown) => log.error({ err: error }, 'a message of a WebSocket failed');
    return {
      hub,
      deps: {
        identifyToken: (token) => access.identifyToken(token),
        identifyTicket: (ticket) => identifyByTicket(access, tickets, ticket),
        async redeemTicket(ticket) {
          if (!(await tickets.redeem(ticket))) throw invalidTicketError();
        },
        lastEventId: () => push.events.lastId(),
        accept: createConnectionAcceptor({ hub, slots, clock, identify, onFault }),
      },
      async close() {
        stop.abort();
        await hub.close();
      },
    };
  }

  return { tickets, open };
}

/** Serves handshakes on an HTTP server until all connections are closed. */
export async function serveWebSocket(
  server: HttpServer,
  { websocket, appOptions }: { websocket: WebSocketService; appOptions: AppOptions },
): Promise<{ close(): Promise<void>; count(): number }> {
  const { deps, hub, close } = await websocket.open();
  server.serveHandshakes(createHandshakeApp({ path: WEBSOCKET.path, handler: createHandshakeHandler(deps, appOptions) }, appOptions));
  return { close, count: () => hub.size };
}

/** Identifies the token of a message on an open connection, with the errors of an HTTP request. */
async function identifyTokenHolder(access: AuthService, token: string): Promise<SessionHolder> {
  try {
    const holder = await access.identifyToken(token);
    requireTier(holder.caller, 'basic');
    return holder;
  } catch (error) {
    throw toDatabaseError(error);
  }
}

async function identifyByTicket(access: AuthService, tickets: TicketStore, ticket: string): Promise<SessionHolder> {
  const credentialId = await tickets.findCredentialId(ticket);
  if (credentialId === null) throw invalidTicketError();
  return access.identifyCredential(credentialId);
}

function invalidTicketError(): OracleError {
  return new OracleError('UNAUTHENTICATED', 'The ticket has expired, was used before or was never issued', {
    field: 'ticket',
    suggestedAction: 'Get a new one by POST /api/svc/ws/ticket: each opens one connection.',
  });
}

/** Reads the entitlements of sessions and API keys: two database queries, and one chain call per wallet with a stale reading. */
function createEntitlementReader(access: AuthService): (credentialIds: readonly string[]) => Promise<Map<string, SessionEntitlement>> {
  const semaphore = new Semaphore({ maxConcurrent: MAX_BALANCE_READS, maxQueued: Number.POSITIVE_INFINITY });
  return async (credentialIds) => {
    const live = await access.listLiveCredentials(credentialIds);
    const ofWallets = [...Map.groupBy(live, ({ doc }) => doc.wallet).values()];
    // Credentials of one wallet run together and share its reading.
    const entitlements = ofWallets.map((credentials) => semaphore.run(() => Promise.all(credentials.map(readEntitlement))));
    return new Map((await Promise.all(entitlements)).flat());
  };
  async function readEntitlement(credential: Credential): Promise<[string, SessionEntitlement]> {
    const caller = await access.getCaller(credential).catch(orElse('CHAIN_UNREACHABLE', null));
    return [credential.doc._id, caller?.tier ?? 'unknown'];
  }
}

export interface EventPublishing {
  events: EventLog;
  /** Moves pending changes into the log and wakes the followers in this process. */
  publish(): Promise<number>;
  follow(listener: EventListener, until?: AbortSignal): Promise<EventTail>;
}

export type EventTail = Awaited<ReturnType<typeof followEvents>>;

export function composeEvents({ db, log, now, record, shutdown, wagers }: Context): EventPublishing {
  const tails = new Set<EventTail>();
  const events = new EventLog(db, () => {
    for (const tail of tails) tail.wake();
  });
  return {
    events,
    async publish() {
      const changes = await publishChanges({ log: events, record, wagers, now });
      return changes + (await publishWebhookNotices({ db, log: events, now }));
    },
    async follow(listener, until) {
      const signal = until === undefined ? shutdown.signal : AbortSignal.any([shutdown.signal, until]);
      // A subscriber that queries this process after an event must find the change.
      const notify: EventListener = (found) => record.known.catchUp().then(() => listener(found));
      const tail = await followEvents({ events, listener: notify, log, signal });
      tails.add(tail);
      void tail.ended.then(() => tails.delete(tail));
      shutdown.onStop('events', () => tail.ended);
      return tail;
    },
  };
}

type ComposeDeliveryDeps = Pick<ServiceCore, 'db' | 'encryptionSecret' | 'now' | 'time'> &
  Pick<WebhookWorkerDeps, 'view' | 'tierOf' | 'observeAttempt'> & {
    push: EventPublishing;
    resolve?: TargetRules['resolve'];
    /** Replaces default times. */
    timing?: DeliveryTiming;
  };

export type DeliveryTiming = Pick<WebhookWorkerDeps, 'leaseMs' | 'marginMs' | 'timeoutMs' | 'pollMs'>;

export interface WebhookDelivery {
  start(): Promise<void>;
}

/** Share of a worker per host: a quarter of its concurrent calls. Over all hosts, a wallet gets a quarter of the calls. */
const HOST_SHARES = {
  maxConcurrent: 4,
  perMinute: 300,
  perWallet: { maxConcurrent: 2, perMinute: 100 },
  maxConcurrentPerWallet: 4,
} as const;
const UNLIMITED_SHARES = { perMinute: null, perWallet: { maxConcurrent: HOST_SHARES.perWallet.maxConcurrent, perMinute: null } } as const;
/** More concurrent lookups than a worker has calls: slow lookups of one webhook delay no other. */
const LOOKUP_LIMITS = { maxConcurrent: 64, maxQueued: 64, maxWaitMs: 1_000 } as const satisfies SemaphoreLimits;
const GRACE_MS = 4_000;

export function composeWebhookDelivery(
  { config, log, shutdown }: Pick<ProcessContext, 'config' | 'log' | 'shutdown'>,
  deps: ComposeDeliveryDeps,
): WebhookDelivery {
  const { db, push, encryptionSecret, view, tierOf, observeAttempt, now, time, timing } = deps;
  const allowLocal = allowsLocalWebhooks(config);
  const queue = new DeliveryQueue(db);
  return {
    async start() {
      let wake = () => {};
      // First, since it may fail, and may be repeated then.
      await push.follow(() => wake());
      const worker = startWebhookWorker({
        ...{ db, queue, view, tierOf, observeAttempt, log, now, time, ...timing },
        events: push.events,
        publish: push.publish,
        box: createSecretBox(encryptionSecret),
        targets: { allowLocal, resolve: deps.resolve ?? createResolver({ limits: LOOKUP_LIMITS }) },
        // A developer's calls go to one host.
        hosts: new HostLimiter({ ...HOST_SHARES, ...(allowLocal ? UNLIMITED_SHARES : {}), now }),
        stopping: shutdown.signal,
        abortCalls: abortLater(shutdown.signal, GRACE_MS),
      });
      shutdown.onStop('webhooks', () => worker.ended);
      wake = worker.wake;
    },
  };
}

function abortLater(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => controller.abort(), ms).unref(), { once: true });
  return controller.signal;
}

/** Test calls per host: the caller may not be the owner of the host. */
const TEST_SHARES = { maxConcurrent: 4, perMinute: 60, perWallet: { maxConcurrent: 2, perMinute: 30 }, maxConcurrentPerWallet: 4 } as const;

export function composeWebhooks(
  deps: Pick<ServiceCore, 'db' | 'encryptionSecret' | 'publicUrl' | 'now'> & { events: EventLog; allowLocal: boolean },
): WebhookRegistry {
  const { db, events, encryptionSecret, allowLocal, publicUrl, now } = deps;
  return new WebhookRegistry({
    ...{ db, events, publicUrl, now },
    queue: new DeliveryQueue(db),
    box: createSecretBox(encryptionSecret),
    targets: { allowLocal, resolve: createResolver() },
    hosts: new HostLimiter({ ...TEST_SHARES, now }),
  });
}
