import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { OracleError } from '../../errors.ts';
import { WEBSOCKET } from '../channels.ts';
import { Connection, SLOW_READER_MS } from './connection.ts';
import { type DialogueOptions, listenTo } from './dialogue.ts';
import { FRAMES_A_MINUTE } from './frame-budget.ts';
import type { Holder } from './holder.ts';
import type { Hub } from './hub.ts';
import { MOST_MESSAGE_BYTES } from './read-message.ts';
import type { Slots } from './slots.ts';
import type { Subscription } from './subscription.ts';

/** The socket of a request, taken from whoever would have answered it. */
export interface TakenSocket {
  request: IncomingMessage;
  socket: Duplex;
  /** What came after the head of the request. */
  head: Buffer;
  /** Beside those of the protocol. */
  headers: Readonly<Record<string, string>>;
}

export interface Admitted {
  holder: Holder;
  subscription: Subscription;
  /** Id of the last event that the client has; null: nothing is sent again. */
  since: number | null;
  /** What the log names the handshake by. */
  requestId: string;
  /** Uses up what can be used once, as a ticket; called when there is room for the connection. @throws OracleError UNAUTHENTICATED */
  use(): Promise<void>;
  /** Called once everything else is settled. */
  take(): TakenSocket;
}

/** Makes a connection of a request that was let in. @throws OracleError RATE_LIMITED, SHUTTING_DOWN, and whatever `use` throws */
export type Accept = (admitted: Admitted) => Promise<void>;

export interface AcceptOptions extends DialogueOptions {
  hub: Hub;
  slots: Pick<Slots, 'claim'>;
}

/** More than any message of ours takes, and few enough to hold. */
const MOST_FRAGMENTS = 64;

export function createAccept({ hub, slots, ...dialogue }: AcceptOptions): Accept {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MOST_MESSAGE_BYTES,
    maxFragments: MOST_FRAGMENTS,
    // Known to the library, and not to its types. Both only stand behind what is done here: the time of a connection that ends, and the
    // count of frames, many of which may come at once.
    ...{ closeTimeout: SLOW_READER_MS, maxPendingAutoPongs: 2 * FRAMES_A_MINUTE.all },
  });
  const headersOf = new WeakMap<IncomingMessage, TakenSocket['headers']>();
  server.on('headers', (lines, request) => {
    for (const [name, value] of Object.entries(headersOf.get(request) ?? {})) lines.push(`${name}: ${value}`);
  });

  return async ({ holder, subscription, since, requestId, use, take }) => {
    if (hub.isClosing) throw stopping();
    const id = randomUUID();
    const slot = await slots.claim(holder.caller.wallet!.toLowerCase(), id);
    if (slot === null) throw tooMany();
    let isOpen = false;
    try {
      await use();
      if (hub.isClosing) throw stopping();
      const { request, socket, head, headers } = take();
      headersOf.set(request, headers);
      // Names that a client asks for stand for no protocol of ours, and the library would answer malformed ones by itself.
      delete request.headers['sec-websocket-protocol'];
      server.handleUpgrade(request, socket, head, (webSocket) => {
        isOpen = true;
        const lastId = since ?? hub.through;
        const connection = new Connection({ id, socket: webSocket, holder, subscription, lastId, clock: dialogue.clock });
        listenTo(webSocket, connection, dialogue);
        hub.add(connection, { slot, replays: since !== null, requestId });
      });
    } finally {
      // Its client is gone already.
      if (!isOpen) await hub.free(slot, id);
    }
  };
}

function stopping(): OracleError {
  return new OracleError('SHUTTING_DOWN', 'The service is stopping', { retryAfterSeconds: WEBSOCKET.reconnectSeconds });
}

function tooMany(): OracleError {
  const limit = WEBSOCKET.connectionsPerWallet;
  return new OracleError('RATE_LIMITED', `The wallet has ${limit} connections, which is as many as it can have`, {
    suggestedAction: 'Close one of them, or share one among your programs. One that broke off counts for up to 90 s.',
    retryAfterSeconds: 30,
    details: { policy: 'connections', limit },
  });
}
