/** Prints verified deliveries, on PORT or 8080: WEBHOOK_SECRET=whsec_... node receive-webhook.js */

import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook } from 'bitcoin-signal-oracle-client/webhooks';

const { PORT = '8080', WEBHOOK_SECRET = '' } = process.env;

const server = createServer(async (request, response) => {
  try {
    const event = await verifyWebhook(await buffer(request), request.headers, WEBHOOK_SECRET);
    console.log(event.type, JSON.stringify(event.data));
    response.writeHead(204).end();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    response.writeHead(401).end();
  }
});
server.listen(Number(PORT), '127.0.0.1');
