import type { RawData, WebSocket } from 'ws';
import { isOracleError, OracleError, toldError } from '../../errors.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import { FrameBudget } from './frame-budget.ts';
import type { Holder } from './holder.ts';
import type { ClientMessage } from './messages.ts';
import { readMessage } from './read-message.ts';
import { subscriptionOf } from './subscription.ts';

export interface DialogueOptions {
  clock: Clock;
  /** Who holds a token, if it opens connections. @throws OracleError UNAUTHENTICATED, TIER_REQUIRED, CHAIN_UNREACHABLE */
  identify(token: string): Promise<Holder>;
  /** Hears of errors that are nobody's but ours. */
  onFault(error: unknown): void;
}

/** Listens to a client: carries out what it sends, one message after the other, and ends it when that is too much. */
export function listenTo(socket: WebSocket, connection: Connection, { clock, identify, onFault }: DialogueOptions): void {
  const frames = new FrameBudget(() => clock.now());
  let work: Promise<void> = Promise.resolve();

  function isWithin(kind: 'all' | 'invalid'): boolean {
    const within = frames.take(kind);
    if (!within) connection.close('policy');
    return within;
  }

  async function answer(data: RawData, isBinary: boolean): Promise<void> {
    if (connection.isEnding) return;
    try {
      await carryOut(readMessage(data, isBinary), connection, identify);
    } catch (error) {
      if (!isOracleError(error)) onFault(error);
      if (isWithin('invalid')) tellError(connection, error);
    }
  }

  socket.on('message', (data, isBinary) => {
    if (!isWithin('all')) return;
    work = work.then(() => answer(data, isBinary));
  });
  // Each ping makes an answer.
  socket.on('ping', () => isWithin('all'));
  socket.on('pong', () => isWithin('all'));
}

async function carryOut(message: ClientMessage, connection: Connection, identify: DialogueOptions['identify']): Promise<void> {
  switch (message.type) {
    case 'ping':
      return connection.tell('pong', { lastEventId: connection.lastId });
    case 'subscribe':
      return connection.subscribe(subscriptionOf(message.data));
    case 'authenticate': {
      const holder = await identify(message.data.token);
      if (holder.caller.wallet!.toLowerCase() !== connection.wallet.toLowerCase()) throw otherWallet();
      // The old token may have come to its end meanwhile.
      if (!connection.isEnding) connection.renew(holder);
    }
  }
}

function tellError(connection: Connection, error: unknown): void {
  const { code, message, field, suggestedAction } = toldError(error);
  // A token comes in a message here.
  const named = field === 'Authorization' ? 'data.token' : field;
  connection.tell('error', { code, message, ...(named === undefined ? {} : { field: named }), suggestedAction });
}

function otherWallet(): OracleError {
  return new OracleError('INPUT_INVALID', 'The token belongs to another wallet than the connection', {
    field: 'data.token',
    suggestedAction: 'Send a token of the same wallet, or open a connection for the other one.',
  });
}
