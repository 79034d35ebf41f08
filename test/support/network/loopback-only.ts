import { Socket } from 'node:net';

const LOOPBACK = /^(127(\.\d+){3}|::1|localhost)$/;
const { connect } = Socket.prototype;

/** For `node --import`: ends a process with code 70 when it opens a connection to another machine. */
Socket.prototype.connect = function connectNearby(this: Socket, ...words: unknown[]): Socket {
  const host = hostOf(words.flat());
  if (!LOOPBACK.test(host)) {
    process.stderr.write(`a connection to ${host} was opened\n`);
    process.exit(70);
  }
  return Reflect.apply(connect, this, words);
} as typeof connect;

/** Of the three ways to call `connect`: options, a port with or without a host, a path. */
function hostOf([first, second]: unknown[]): string {
  if (typeof first !== 'object' || first === null) return typeof second === 'string' ? second : 'localhost';
  const { host, path } = first as { host?: string; path?: string };
  return path === undefined ? (host ?? 'localhost') : 'localhost';
}
