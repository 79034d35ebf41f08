import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const RETRY_MS = 2;

/** Connects to a Unix socket, which other machines and browser pages cannot reach. */
export function connectUnixSocket(path: string): Socket {
  return connect({ path });
}

/** Resolves once a server accepts connections at `path`. @throws the signal's reason */
export async function waitForUnixSocket(path: string, signal: AbortSignal): Promise<void> {
  while (!(await acceptsConnection(path))) await delay(RETRY_MS, undefined, { signal });
}

async function acceptsConnection(path: string): Promise<boolean> {
  const socket = connectUnixSocket(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
