import type { Attack, Target } from './attack.ts';
import { exchange, getRequest, open } from './sockets.ts';

const ADDRESSES = 15;
const REQUESTS_AN_ADDRESS = 50;
/** The largest public answer. */
const REQUEST = getRequest('/.well-known/openapi.json', { 'Accept-Encoding': 'identity', Connection: 'close' });

const addresses = ({ nextAddress }: Target) => Array.from({ length: ADDRESSES }, nextAddress);
const SENT = { requests: ADDRESSES * REQUESTS_AN_ADDRESS, bytes: ADDRESSES * REQUESTS_AN_ADDRESS * REQUEST.length };

/** Large answers that are asked for and left unread. */
export const SLOW_READERS: Attack = {
  name: 'slow readers',
  what: `${SENT.requests} sockets of ${ADDRESSES} addresses ask for the OpenAPI document and never read`,
  async honest(target) {
    await Promise.all(
      addresses(target).map(async (from) => {
        for (let sent = 0; sent < REQUESTS_AN_ADDRESS; sent++) await exchange(target.url, from, REQUEST);
      }),
    );
    return SENT;
  },
  async hostile(target) {
    const from = addresses(target).flatMap((address) => Array<string>(REQUESTS_AN_ADDRESS).fill(address));
    const opened = await Promise.all(from.map((address) => open(target.url, address, false)));
    for (const { socket } of opened) socket.write(REQUEST);
    return SENT;
  },
};
