// A webhook's whole life: registered, called with a signed ping, verified, deleted: npx node examples/webhooks/receive.ts
// A service elsewhere does not call this machine. RECEIVER_PORT: where to listen, 8080.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { bearer, logIn } from '../common/login.ts';
import { ask, post } from '../common/service.ts';
import { walletOf } from '../common/wallet.ts';

const port = Number(process.env.RECEIVER_PORT || 8080);
const headers = bearer(await logIn(walletOf('basic')));

// Listening comes first: once it is registered, it may be called.
const server = createServer(async (request, response) => response.writeHead(await receive(request)).end());
await once(server.listen(port, '127.0.0.1'), 'listening');

// The secret is returned only here; it authenticates the calls of the service.
const hook = { url: `http://127.0.0.1:${port}/`, events: ['signal.new', 'signal.resolved'], horizons: ['7d'] };
const { id, secret } = await ask<{ id: string; secret: string }>('/api/svc/webhooks/register', post(hook, headers));
const webhook = new Webhook(secret);
console.log(`Registered as ${id} for ${hook.events.join(' and ')}`);

const test = await ask<{ delivered: boolean; status: number | null; reason: string | null }>(
  `/api/svc/webhooks/${id}/test`,
  post({}, headers),
);
console.log(test.delivered ? `The service was answered ${test.status}` : `Not delivered: ${test.reason}`);

await ask(`/api/svc/webhooks/${id}`, { method: 'DELETE', headers });
console.log('Deleted; a receiver that stays is examples/receivers/webhook-receiver.mjs');
server.close();
server.closeAllConnections();

/** Any 2xx takes a delivery; anything else has it sent again. */
async function receive(request: IncomingMessage): Promise<number> {
  try {
    // Over the bytes as they came. Refuses what is older than 5 minutes.
    const event = webhook.verify(await text(request), request.headers as Record<string, string>) as { type: string };
    // The same id comes again when an answer got lost: keep those that you have.
    console.log(`Received ${event.type}, signed, as ${request.headers['webhook-id']}`);
    return 204;
  } catch (error) {
    console.error(String(error));
    return 401;
  }
}
