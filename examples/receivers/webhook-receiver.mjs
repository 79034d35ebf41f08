// WEBHOOK_SECRET=whsec_... node examples/receivers/webhook-receiver.mjs
// Takes deliveries on RECEIVER_PORT (8080), and prints each event once. In this folder, or in one with standardwebhooks.
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const MAX_BODY_BYTES = 64 * 1024;
/** Ids that are remembered. A receiver that must not act twice keeps them where a restart does not lose them. */
const MAX_IDS = 10_000;

const { WEBHOOK_SECRET: secret, RECEIVER_PORT = '8080' } = process.env;
if (!secret) {
  console.error('Set WEBHOOK_SECRET to the secret that registering the webhook answered with');
  process.exit(1);
}

// A secret of your own that does not begin with whsec_ is the key itself.
const webhook = secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(Buffer.from(secret), { format: 'raw' });
const seen = new Set();

// The reader of the output has closed it, as `| head` does.
process.stdout.on('error', ({ code }) => process.exit(code === 'EPIPE' ? 0 : 1));

const server = createServer(async (request, response) => {
  try {
    response.writeHead(await receive(request)).end();
  } catch {
    response.destroy();
  }
});

/** Answers with a status: any 2xx takes the delivery, anything else has it sent again. */
async function receive(request) {
  const body = await bodyOf(request);
  if (body === null) return 413;
  let event;
  try {
    // Over the bytes as they came: JSON that was read and written again is not what was signed. Refuses what is older than 5 minutes.
    event = webhook.verify(body, request.headers);
  } catch (error) {
    console.error(`refused: ${error.message}`);
    return 401;
  }
  if (isNew(request.headers['webhook-id'])) console.log(JSON.stringify(event));
  return 204;
}

/** What was delivered and not acknowledged in time comes again, under the same id. */
function isNew(id) {
  if (seen.has(id)) return false;
  seen.add(id);
  if (seen.size > MAX_IDS) seen.delete(seen.values().next().value);
  return true;
}

async function bodyOf(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

server.listen(Number(RECEIVER_PORT), '127.0.0.1', () =>
  console.error(`waiting for deliveries at http://127.0.0.1:${server.address().port}/`),
);
