import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net';

/** Of one port: libuv accepts one connection of a listener in a turn of the event loop, and a loaded process has few turns a second. */
const LISTENERS = 16;
/** Where the kernel shares the connections of a port out to its listeners (`SO_REUSEPORT`). */
const SHARES_PORT = process.platform === 'linux';

type Address = Required<Pick<ListenOptions, 'port' | 'host'>>;

export interface Listeners {
  /** Rejects with the error of the system where the address cannot be bound. */
  listen(port: number, host: string): Promise<void>;
  /** Stops listening. Resolves once the last connection has ended. */
  close(): Promise<void>;
}

/** Listeners of an HTTP server, which gets the connections of all of them. */
export function createListeners(server: Server): Listeners {
  const further: Server[] = [];
  const close = async () => void (await Promise.all([server, ...further].map(closeListener)));
  return {
    async listen(port, host) {
      if (!SHARES_PORT) return openListener(server, { port, host });
      if (port !== 0) await requireUnused({ port, host });
      await openListener(server, { port, host, reusePort: true });
      const bound = { port: (server.address() as AddressInfo).port, host, reusePort: true };
      while (further.length < LISTENERS - 1) {
        // Options of an HTTP server's own sockets.
        const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => server.emit('connection', socket));
        further.push(listener);
        await openListener(listener, bound);
      }
    },
    close,
  };
}

/** Listeners that share a port would otherwise join those of another process of this user. */
async function requireUnused(address: Address): Promise<void> {
  const probe = createServer();
  await openListener(probe, address);
  await closeListener(probe);
}

function openListener(listener: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(options, () => {
      listener.off('error', reject);
      // Of a connection that could not be accepted: its client tries again.
      listener.on('error', () => undefined);
      resolve();
    });
  });
}

function closeListener(listener: Server): Promise<void> {
  return new Promise((resolve) => listener.close(() => resolve()));
}
