import type { RawData, WebSocket } from 'ws';
import { isOracleError, OracleError, toClientError } from '../../platform/errors.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import { FrameRateLimit } from './frame-rate-limit.ts';
import type { ClientMessage } from './messages/message-schemas.ts';
import { parseClientMessage } from './messages/parse-client-message.ts';
import type { SessionHolder } from './session-holder.ts';
import { buildSubscription } from './subscription.ts';

export interface MessageHandlerOptions {
  clock: Clock;
  /** Identifies an access token. @throws OracleError UNAUTHENTICATED, TIER_REQUIRED, CHAIN_UNREACHABLE */
  identify(token: string): Promise<SessionHolder>;
  onFault(error: unknown): void;
}

/** Processes messages of a client one after the other, and closes the connection beyond the frame limits. */
export function handleMessages(socket: WebSocket, connection: Connection, { clock, identify, onFault }: MessageHandlerOptions): void {
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
      if (isWithin('invalid')) sendError(connection, error);
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

async function executeMessage(message: ClientMessage, connection: Connection, identify: MessageHandlerOptions['identify']): Promise<void> {
  switch (message.type) {
    case 'ping':
      return connection.sendMessage('pong', { lastEventId: connection.lastId });
    case 'subscribe':
      return connection.subscribe(buildSubscription(message.data));
    case 'authenticate': {
      const holder = await identify(message.data.token);
      if (holder.caller.wallet!.toLowerCase() !== connection.wallet.toLowerCase()) throw walletMismatch();
      // The old token may have expired meanwhile.
      if (!connection.isClosing) connection.reauthenticate(holder);
    }
  }
}

function sendError(connection: Connection, error: unknown): void {
  const { code, message, field, suggestedAction } = toClientError(error);
  // Over a WebSocket the token is in a message.
  const publicField = field === 'Authorization' ? 'data.token' : field;
  connection.sendMessage('error', { code, message, ...(publicField === undefined ? {} : { field: publicField }), suggestedAction });
}

function walletMismatch(): OracleError {
  return new OracleError('INPUT_INVALID', 'The token belongs to another wallet than the connection', {
    field: 'data.token',
    suggestedAction: 'Send a token of the same wallet, or open a connection for the other one.',
  });
}
