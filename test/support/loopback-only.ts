import { Socket } from 'node:net';

const LOOPBACK = /^(127(\.\d+){3}|::1|localhost)$/;
const { connect } = Socket.prototype;

/** For `node --import`: ends a process with code 70 when it opens a connection to another machine. */
Socket.prototype.connect = function connectNearby(this: Socket, ...words: unknown[]): Socket {
  // Node normalizes what `connect` is called with to an array before it comes here.
  const [first] = words.flat() as [{ host?: string; path?: string } | number | string, unknown];
  const host = typeof first === 'object' ? (first.path === undefined ? (first.host ?? 'localhost') : 'localhost') : 'localhost';
  if (!LOOPBACK.test(host)) {
    process.stderr.write(`a connection to ${host} was opened\n`);
    process.exit(70);
  }
  return Reflect.apply(connect, this, words);
} as typeof connect;
