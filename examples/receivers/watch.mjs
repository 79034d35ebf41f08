// PRIVATE_KEY=0x... node examples/receivers/watch.mjs [<last id>]    without a key: as a demonstration wallet of `npm start`
// Prints every event, one line each, through drops and restarts of the service. In this folder, or in one with viem and ws.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { privateKeyToAccount } from 'viem/accounts';
import WebSocket from 'ws';

const service = (process.env.SERVICE_URL || `http://127.0.0.1:${process.env.PORT || 3000}`).replace(/\/+$/, '');
/** `EVENTS=signal.new,signal.resolved` asks for less, `HORIZONS=all` or `HORIZONS=2d,7d` for more than the 7 days of the default. */
const { EVENTS: events, HORIZONS: horizons } = process.env;
const reconnectSeconds = Number(process.env.RECONNECT_SECONDS ?? 5);
/** The service pings every 30 seconds: who hears nothing for longer has lost the connection. */
const SILENCE_MS = 75_000;
const TOKEN_ENDED = 4001;
const account = privateKeyToAccount(process.env.PRIVATE_KEY || demonstrationKey());

/** Where to go on: keep it with what you do with the events, and nothing is lost or done twice. */
let lastId = process.argv[2];
/** Token and its end; kept over drops, since logins are limited. */
let session = null;

// The reader of the output has closed it, as `| head` does.
process.stdout.on('error', ({ code }) => process.exit(code === 'EPIPE' ? 0 : 1));

/** Of the wallet that `npm start` makes in its folder. */
function demonstrationKey() {
  const path = `${process.env.DATA_DIR || './data'}/demo.json`;
  try {
    return JSON.parse(readFileSync(path, 'utf8')).wallets.premium.privateKey;
  } catch {
    throw new Error(`Set PRIVATE_KEY to that of a wallet with gate tokens: ${path} has no demonstration wallet`);
  }
}

/** A token for 30 minutes, for a signature; the one there is, as long as it lasts. */
async function tokenOfNow() {
  if (session === null || Date.parse(session.expiresAt) - Date.now() < 60_000) session = await logIn();
  return session.token;
}

async function logIn() {
  const timestamp = Date.now();
  const wallet = account.address;
  const signature = await account.signMessage({ message: `Verify svc balance: ${wallet}:${timestamp}` });
  const response = await fetch(`${service}/api/svc/oracle/verify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ wallet, signature, timestamp }),
  });
  const answer = await response.json();
  if (response.ok) return answer;
  throw refusal(answer);
}

/** Connects, and resolves to why the connection has ended; rejects when it was refused. */
async function watch() {
  const token = await tokenOfNow();
  const url = new URL(`${service.replace(/^http/, 'ws')}/ws/signal`);
  for (const [name, value] of Object.entries({ events, horizons, since: lastId })) {
    if (value !== undefined && value !== '') url.searchParams.set(name, value);
  }
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` }, handshakeTimeout: 10_000 });
  const silence = setTimeout(() => socket.terminate(), SILENCE_MS);
  socket.on('ping', () => silence.refresh());
  socket.on('message', (text) => take(socket, JSON.parse(text)));
  return new Promise((done, fail) => {
    socket.on('unexpected-response', (_, response) => bodyOf(response).then((body) => fail(refusal(body)), fail));
    socket.on('error', fail);
    socket.on('close', (code, reason) => {
      if (code === TOKEN_ENDED) session = null;
      done(`closed: ${code} ${reason}`.trimEnd());
    });
  }).finally(() => clearTimeout(silence));
}

function take(socket, { id, type, data, timestamp }) {
  if (id !== undefined) {
    console.log(JSON.stringify({ id, type, timestamp, data }));
    lastId = id;
  } else if (type === 'connected') {
    // From here on, also when the first connection drops before the first event.
    lastId ??= data.lastEventId;
    console.error(`connected as ${data.tier}, the newest event is ${data.lastEventId}`);
  } else if (type === 'token.expiring') {
    session = null;
    void tokenOfNow().then(
      (token) => socket.send(JSON.stringify({ type: 'authenticate', data: { token } })),
      // The connection ends with 4001 then, and the next one begins with a login of its own.
      (error) => console.error(error.message),
    );
  } else if (type === 'authenticated') {
    console.error(`goes on until ${data.expiresAt}`);
  } else if (type === 'replay.gap' || type === 'error') {
    console.error(`${type}: ${JSON.stringify(data)}`);
  }
}

/** What the service says of a request that it refuses (RFC 9457). */
function refusal({ code, detail, suggestedAction, retryable }) {
  // A token that is no good any more: the next login gets another one.
  const stale = code === 'UNAUTHENTICATED' && session !== null;
  if (stale) session = null;
  return Object.assign(new Error(`${code}: ${detail}. ${suggestedAction}`), { final: retryable === false && !stale });
}

async function bodyOf(response) {
  let text = '';
  for await (const chunk of response) text += chunk;
  return JSON.parse(text);
}

/** An error without a status comes from the network: no server, or another one. */
function wordsOf(error) {
  if (error.final !== undefined) return error.message;
  return `No service answers at ${service} (${error.cause?.code ?? error.code ?? error.message}; SERVICE_URL names another)`;
}

for (;;) {
  const { words, final } = await watch().then(
    (ending) => ({ words: ending, final: false }),
    // Another try would be refused as well, as without the balance for it.
    (error) => ({ words: wordsOf(error), final: error.final === true }),
  );
  console.error(final ? words : `${words}; again in ${reconnectSeconds} s`);
  if (final) process.exit(1);
  await delay(reconnectSeconds * 1_000);
}
