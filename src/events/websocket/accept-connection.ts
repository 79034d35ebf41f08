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

/** The socket of a request, taken from whoever would have answered it. */
export interface ClaimedSocket {
  request: IncomingMessage;
  socket: Duplex;
  /** What came after the head of the request. */
  head: Buffer;
  /** Beside those of the protocol. */
  headers: Readonly<Record<string, string>>;
}

export interface AdmittedHandshake {
  holder: SessionHolder;
  subscription: ConnectionSubscription;
  /** Id of the last event that the client has; null: nothing is sent again. */
  since: number | null;
  /** What the log names the handshake by. */
  requestId: string;
  /** Uses up what can be used once, as a ticket; called when there is room for the connection. @throws OracleError UNAUTHENTICATED */
  redeemProof(): Promise<void>;
  /** Called once everything else is settled. */
  claimSocket(): ClaimedSocket;
}

/** Makes a connection of a request that was let in. @throws OracleError RATE_LIMITED, SHUTTING_DOWN, and whatever `use` throws */
export type AcceptConnection = (admitted: AdmittedHandshake) => Promise<void>;

export interface AcceptConnectionOptions extends MessageHandlerOptions {
  hub: ConnectionHub;
  slots: Pick<ConnectionSlotStore, 'claim'>;
}

/** More than any message of ours takes, and few enough to hold. */
const MAX_FRAGMENTS = 64;

export function createConnectionAcceptor({ hub, slots, ...handlerOptions }: AcceptConnectionOptions): AcceptConnection {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    maxFragments: MAX_FRAGMENTS,
    // Known to the library, and not to its types. Both only stand behind what is done here: the time of a connection that ends, and the
    // count of frames, many of which may come at once.
    ...{ closeTimeout: SLOW_READER_TIMEOUT_MS, maxPendingAutoPongs: 2 * MAX_FRAMES_PER_MINUTE.all },
  });
  const responseHeaders = new WeakMap<IncomingMessage, ClaimedSocket['headers']>();
  server.on('headers', (lines, request) => {
    for (const [name, value] of Object.entries(responseHeaders.get(request) ?? {})) lines.push(`${name}: ${value}`);
  });

  return async ({ holder, subscription, since, requestId, redeemProof: use, claimSocket: take }) => {
    if (hub.isClosing) throw serviceStopping();
    const id = randomUUID();
    const slot = await slots.claim(holder.caller.wallet!.toLowerCase(), id);
    if (slot === null) throw tooManyConnections();
    let isOpen = false;
    try {
      await use();
      if (hub.isClosing) throw serviceStopping();
      const { request, socket, head, headers } = take();
      responseHeaders.set(request, headers);
      // Names that a client asks for stand for no protocol of ours, and the library would answer malformed ones by itself.
      delete request.headers['sec-websocket-protocol'];
      server.handleUpgrade(request, socket, head, (webSocket) => {
        isOpen = true;
        const lastId = since ?? hub.lastBroadcastId;
        const connection = new Connection({ id, socket: webSocket, holder, subscription, lastId, clock: handlerOptions.clock });
        handleMessages(webSocket, connection, handlerOptions);
        hub.add(connection, { slot, replays: since !== null, requestId });
      });
    } finally {
      // Its client is gone already.
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
