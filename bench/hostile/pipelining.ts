import type { Attack } from './attack.ts';
import { exchange, getRequest, open } from './sockets.ts';

const SOCKETS = 10;
const BYTES_A_SOCKET = 63_200;
/** Of one address in a minute: below its limit. */
const HONEST_AN_ADDRESS = 50;

const REQUEST = getRequest('/');
const LAST = getRequest('/', { Connection: 'close' });
const HONEST_ADDRESSES = Math.floor((SOCKETS * BYTES_A_SOCKET) / LAST.length / HONEST_AN_ADDRESS);

/** Requests on one socket behind each other, whose answers are never read. */
export const PIPELINING: Attack = {
  name: 'pipelining',
  what: `${SOCKETS} sockets send ${BYTES_A_SOCKET.toLocaleString('en-US')} bytes of GET / each and never read`,
  async honest({ url, nextAddress }) {
    for (const from of Array.from({ length: HONEST_ADDRESSES }, nextAddress))
      for (let sent = 0; sent < HONEST_AN_ADDRESS; sent++) await exchange(url, from, LAST);
    const requests = HONEST_ADDRESSES * HONEST_AN_ADDRESS;
    return { requests, bytes: requests * LAST.length };
  },
  async hostile({ url, nextAddress }) {
    const requests = Math.floor(BYTES_A_SOCKET / REQUEST.length);
    const opened = await Promise.all(Array.from({ length: SOCKETS }, () => open(url, nextAddress(), false)));
    for (const { socket } of opened) socket.write(REQUEST.repeat(requests));
    return { requests: SOCKETS * requests, bytes: SOCKETS * requests * REQUEST.length };
  },
};
