import { Socket } from 'node:net';

/** For `node --import`: ends a process with code 70 when it opens a connection. */
Socket.prototype.connect = function refuse(): never {
  process.stderr.write('a connection was opened\n');
  process.exit(70);
};
