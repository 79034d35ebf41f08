// Events over a WebSocket, as a page gets them: by a ticket: npx node examples/websocket/listen.ts [<last id>]
// Prints what was missed since an event (0: all of 90 days) and ends; examples/receivers/watch.mjs goes on for ever.

import { bearer, logIn } from '../common/login.ts';
import { ask, post } from '../common/service.ts';
import { walletOf } from '../common/wallet.ts';

/** Events have an id; what concerns the connection has none. */
interface Message {
  id?: number;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

const session = await logIn(walletOf('basic'));
// Opens one connection within 30 seconds, and keeps the token out of URLs, which end up in logs.
const { url } = await ask<{ url: string }>('/api/svc/ws/ticket', post({}, bearer(session)));
const address = new URL(url);
address.searchParams.set('since', process.argv[2] ?? '0');
address.searchParams.set('events', 'signal.new,signal.resolved');
address.searchParams.set('horizons', '7d');

const socket = new WebSocket(address);
socket.onmessage = ({ data }) => take(JSON.parse(data as string) as Message);
socket.onerror = () => console.error('The connection was refused, or has failed');
socket.onclose = ({ code, reason }) => console.log(`Closed: ${code} ${reason}`.trimEnd());

function take({ id, type, timestamp, data }: Message): void {
  if (type === 'connected') console.log(`Connected as ${data.tier}`);
  else if (type === 'signal.new') console.log(`${id}  ${timestamp}  ${data.signal} for ${data.horizon} with ${data.confidence}`);
  else if (type === 'signal.resolved') console.log(`${id}  ${timestamp}  ${data.date}: ${data.signal} was a ${data.outcome}`);
  else if (type === 'replay.complete') {
    console.log(`Nothing was missed up to event ${data.through}; what happens now would come here`);
    socket.close(1000);
  }
}
