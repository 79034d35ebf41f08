import { connect, type Socket } from 'node:net';

/** Connects to a Unix socket, which other machines and browser pages cannot reach. */
export function connectUnixSocket(path: string): Socket {
  return connect({ path });
}
