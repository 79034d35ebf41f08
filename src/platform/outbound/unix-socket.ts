import { connect, type Socket } from 'node:net';

/** Connects to a socket of this machine's file system, which no other machine and no page of a browser reaches. */
export function connectUnixSocket(path: string): Socket {
  return connect({ path });
}
