import type { AuthService, Credential } from '../../auth/auth-service.ts';
import { requireTier } from '../../auth/tiers/tiers.ts';
import { WEBSOCKET } from '../../events/channels.ts';
import type { EventViewOptions } from '../../events/event-view.ts';
import { createConnectionAcceptor } from '../../events/websocket/accept-connection.ts';
import { type Clock, createSystemClock } from '../../events/websocket/clock.ts';
import { ConnectionHub } from '../../events/websocket/connection-hub.ts';
import { ConnectionSlotStore, SLOT_INDEXES } from '../../events/websocket/connection-slot-store.ts';
import type { SessionEntitlement, SessionHolder } from '../../events/websocket/session-holder.ts';
import { TICKET_INDEXES, TicketStore } from '../../events/websocket/ticket-store.ts';
import { Semaphore } from '../../platform/concurrency/semaphore.ts';
import { OracleError, orElse } from '../../platform/errors.ts';
import { toDatabaseError } from '../../platform/mongo.ts';
import { createHandshakeApp } from '../../transports/http/server/app.ts';
import type { AppOptions } from '../../transports/http/server/app-options.ts';
import type { HttpServer } from '../../transports/http/server/http-server.ts';
import { createHandshakeHandler, type WebSocketDeps } from '../../transports/http/websocket/handshake-handler.ts';
import type { ServiceCore } from '../core.ts';
import type { ProcessContext } from '../process-context.ts';
import type { EventPublishing } from './event-log.ts';

export const WEBSOCKET_INDEXES = [...SLOT_INDEXES, ...TICKET_INDEXES] as const;

export interface ComposeWebSocketDeps extends Pick<ServiceCore, 'db' | 'now'> {
  access: AuthService;
  push: EventPublishing;
  view: EventViewOptions;
}

export interface WebSocketService {
  tickets: TicketStore;
  /** Begins to follow the event log. @param clock default: the system clock */
  open(clock?: Clock): Promise<OpenWebSocket>;
  purge(now: Date): Promise<void>;
}

export interface OpenWebSocket {
  hub: ConnectionHub;
  deps: WebSocketDeps;
  close(): Promise<void>;
}

const MAX_BALANCE_READS = 16;

export function composeWebSocket(
  { log }: Pick<ProcessContext, 'log'>,
  { db, access, push, view, now }: ComposeWebSocketDeps,
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
        redeemTicket: (ticket) => redeemTicket(tickets, ticket),
        lastEventId: () => push.events.lastId(),
        accept: createConnectionAcceptor({ hub, slots, clock, identify, onFault }),
      },
      async close() {
        stop.abort();
        await hub.close();
      },
    };
  }

  return { tickets, open, purge: async (at) => void (await Promise.all([tickets.purge(at), new ConnectionSlotStore(db).purge()])) };
}

export interface ServedWebSockets extends Pick<OpenWebSocket, 'close'> {
  count(): number;
}

/** Serves handshakes on an HTTP server until all connections are closed. */
export async function serveWebSocket(
  server: HttpServer,
  { websocket, appOptions }: { websocket: WebSocketService; appOptions: AppOptions },
): Promise<ServedWebSockets> {
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

async function redeemTicket(tickets: TicketStore, ticket: string): Promise<void> {
  if (!(await tickets.redeem(ticket))) throw invalidTicketError();
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
    const entitlements = ofWallets.map((credentials) =>
      semaphore.run(() => Promise.all(credentials.map((credential) => readEntitlement(access, credential)))),
    );
    return new Map((await Promise.all(entitlements)).flat());
  };
}

async function readEntitlement(access: AuthService, credential: Credential): Promise<[string, SessionEntitlement]> {
  const caller = await access.getCaller(credential).catch(orElse('CHAIN_UNREACHABLE', null));
  return [credential.doc._id, caller?.tier ?? 'unknown'];
}
