import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { OracleError } from '../../platform/errors.ts';
import { WEBSOCKET } from '../channels.ts';
import { Connection, SLOW_READER_TIMEOUT_MS } from './connection.ts';
import type { ConnectionHub } from './connection-hub.ts';
import type { ConnectionSlotStore } from './connection-slot-store.ts';
import { MAX_FRAMES_PER_MINUTE } from './frame-rate-limit.ts';
import { handleMessages, type MessageHandlerOptions } from './handle-messages.ts';
import { MAX_MESSAGE_BYTES } from './messages/parse-client-message.ts';
import type { SessionHolder } from './session-holder.ts';
import type { ConnectionSubscription } from './subscription.ts';

export interface ClaimedSocket {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  headers: Readonly<Record<string, string>>;
}

export interface AdmittedHandshake {
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

export interface AcceptConnectionOptions extends MessageHandlerOptions {
  hub: ConnectionHub;
  slots: Pick<ConnectionSlotStore, 'claim'>;
}

/** More than any valid message needs. */
const MAX_FRAGMENTS = 64;

export function createConnectionAcceptor({ hub, slots, ...handlerOptions }: AcceptConnectionOptions): AcceptConnection {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    maxFragments: MAX_FRAGMENTS,
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
    if (slot === null) throw tooManyConnections();
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

function serviceStopping(): OracleError {
  return new OracleError('SHUTTING_DOWN', 'The service is stopping', { retryAfterSeconds: WEBSOCKET.reconnectSeconds });
}

function tooManyConnections(): OracleError {
  const limit = WEBSOCKET.connectionsPerWallet;
  return new OracleError('RATE_LIMITED', `The wallet has ${limit} connections, which is as many as it can have`, {
    suggestedAction: 'Close one of them, or share one among your programs. One that broke off counts for up to 90 s.',
    retryAfterSeconds: 30,
    details: { policy: 'connections', limit },
  });
}
