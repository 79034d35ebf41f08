import type { Db } from 'mongodb';
import type { Access } from '../access/access.ts';
import type { SessionDoc } from '../access/sessions.ts';
import { requireTier } from '../access/tiers.ts';
import { isOracleError, OracleError } from '../errors.ts';
import type { AppOptions } from '../http/app.ts';
import { createHandshakeApp } from '../http/app.ts';
import type { HttpServer } from '../http/server.ts';
import { createWebSocketDoor, type WebSocketParts } from '../http/websocket/door.ts';
import { isDatabaseSilent } from '../mongo.ts';
import { Turns } from '../platform/turns.ts';
import { WEBSOCKET } from '../push/channels.ts';
import type { EventViewOptions } from '../push/events/view.ts';
import { createAccept } from '../push/websocket/accept.ts';
import { type Clock, systemClock } from '../push/websocket/clock.ts';
import type { Holder, Standing } from '../push/websocket/holder.ts';
import { Hub } from '../push/websocket/hub.ts';
import { SLOT_INDEXES, Slots } from '../push/websocket/slots.ts';
import { TICKET_INDEXES, Tickets } from '../push/websocket/tickets.ts';
import type { Frame } from './frame.ts';
import type { Push } from './push.ts';

export const WEBSOCKET_INDEXES = [...SLOT_INDEXES, ...TICKET_INDEXES] as const;

export interface WebSocketComposition {
  db: Db;
  access: Access;
  push: Push;
  view: EventViewOptions;
  now(): Date;
}

/** The WebSocket of a process. */
export interface WebSocketService {
  tickets: Tickets;
  /** Begins to follow the log. @param clock unset: that of the platform */
  open(clock?: Clock): Promise<OpenWebSocket>;
  /** Deletes what has expired. */
  purge(now: Date): Promise<void>;
}

export interface OpenWebSocket {
  hub: Hub;
  parts: WebSocketParts;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** So many balances are read from the chain at once when connections are looked after. */
const BALANCES_READ = 16;

export function composeWebSocket({ log }: Pick<Frame, 'log'>, { db, access, push, view, now }: WebSocketComposition): WebSocketService {
  const tickets = new Tickets({ db, now });
  const standings = standingsBy(access);

  async function open(clock = systemClock(now)): Promise<OpenWebSocket> {
    const stop = new AbortController();
    const slots = new Slots(db);
    const hub = new Hub({ events: push.events, slots, view, standings, clock, log });
    const tail = await push.follow((events) => hub.broadcast(events), stop.signal);
    hub.start(tail.seen());
    const identify = (token: string) => identifyHolder(access, token);
    const onFault = (error: unknown) => log.error({ err: error }, 'a message of a WebSocket failed');
    return {
      hub,
      parts: {
        identifyToken: (token) => access.identifyToken(token),
        identifyTicket: (ticket) => identifyByTicket(access, tickets, ticket),
        redeemTicket: (ticket) => redeem(tickets, ticket),
        lastEventId: () => push.events.lastId(),
        accept: createAccept({ hub, slots, clock, identify, onFault }),
      },
      async close() {
        stop.abort();
        await hub.close();
      },
    };
  }

  return { tickets, open, purge: async (at) => void (await Promise.all([tickets.purge(at), new Slots(db).purge()])) };
}

/** Has a server of HTTP take handshakes; returns how that ends. */
export async function serveWebSocket(server: HttpServer, { websocket, door }: ServedWebSocket): Promise<() => Promise<void>> {
  const { parts, close } = await websocket.open();
  server.upgrade(createHandshakeApp({ path: WEBSOCKET.path, handler: createWebSocketDoor(parts, door) }, door));
  return close;
}

interface ServedWebSocket {
  websocket: WebSocketService;
  door: AppOptions;
}

/** For a message of an open connection: what HTTP would refuse is refused, in the same words. */
async function identifyHolder(access: Access, token: string): Promise<Holder> {
  try {
    const holder = await access.identifyToken(token);
    requireTier(holder.caller, 'basic');
    return holder;
  } catch (error) {
    throw isDatabaseSilent(error) ? new OracleError('DATABASE_UNAVAILABLE', 'The database does not answer', { cause: error }) : error;
  }
}

async function identifyByTicket(access: Access, tickets: Tickets, ticket: string): Promise<Holder> {
  const sessionId = await tickets.sessionOf(ticket);
  if (sessionId === null) throw noTicket();
  return access.identifySession(sessionId);
}

async function redeem(tickets: Tickets, ticket: string): Promise<void> {
  if (!(await tickets.redeem(ticket))) throw noTicket();
}

function noTicket(): OracleError {
  return new OracleError('UNAUTHENTICATED', 'The ticket has expired, was used before or was never issued', {
    field: 'ticket',
    suggestedAction: 'Get a new one by POST /api/svc/ws/ticket: each opens one connection.',
  });
}

/** What sessions are worth now: one question to the database, and to the chain one for each wallet whose last answer is old. */
function standingsBy(access: Access): (sessionIds: readonly string[]) => Promise<Map<string, Standing>> {
  const turns = new Turns({ underWay: BALANCES_READ, waiting: Number.POSITIVE_INFINITY });
  return async (sessionIds) => {
    const live = await access.liveSessions(sessionIds);
    const ofWallets = [...Map.groupBy(live, ({ wallet }) => wallet).values()];
    // Those of one wallet at once: they share a reading.
    const standings = ofWallets.map((sessions) => turns.run(() => Promise.all(sessions.map((session) => standingOf(access, session)))));
    return new Map((await Promise.all(standings)).flat());
  };
}

async function standingOf(access: Access, session: SessionDoc): Promise<[string, Standing]> {
  try {
    return [session._id, (await access.callerOf(session)).tier];
  } catch (error) {
    if (isOracleError(error, 'CHAIN_UNREACHABLE')) return [session._id, 'unknown'];
    throw error;
  }
}
