import { isIP, Socket } from 'node:net';
import { afterAll } from 'vitest';
import { isLoopbackAddress } from '../../../src/platform/outbound/guarded.ts';

/** Names that lead nowhere (RFC 2606, RFC 6761). */
const RESERVED = /(^|\.)(localhost|invalid|test|example|example\.(com|org|net))$/;
const KEY = Symbol.for('bitcoin-signal-oracle.unexpected-connections');
const shared = globalThis as { [KEY]?: string[] };

/** Connections to other machines since the last call, with the stack of whatever opened them: code of the service, a library or a test. */
export function takeUnexpectedConnections(): string[] {
  return shared[KEY]?.splice(0) ?? [];
}

// Processes that a suite starts, and those that they start, end at such a connection.
const GUARD_OPTION = `--import=${new URL('./no-outbound.mjs', import.meta.url)}`;
const options = process.env.NODE_OPTIONS ?? '';
if (!options.includes(GUARD_OPTION)) process.env.NODE_OPTIONS = `${options} ${GUARD_OPTION}`.trim();

// Files that share a process share the hook.
if (shared[KEY] === undefined) {
  const found: string[] = [];
  shared[KEY] = found;
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function connectWatched(this: Socket, ...options: unknown[]): Socket {
    // Its stack is rendered only where it is read.
    const opened = new Error('opened here');
    // Without a port it is the path of a Unix socket.
    this.once('connectionAttempt', (ip: string, port: number | undefined) => {
      if (port !== undefined && !isLoopbackAddress(ip)) found.push(`${ip}:${port} ${opened.stack}`);
    });
    this.once('lookup', (error: Error | null, _address, _family, host: string) => {
      // A name that was found goes on to its attempt, where an address pinned by the test is allowed.
      if (error !== null && isIP(host) === 0 && !RESERVED.test(host)) found.push(`${host} ${opened.stack}`);
    });
    return Reflect.apply(connect, this, options);
  } as typeof connect;
}

afterAll(() => {
  const found = takeUnexpectedConnections();
  if (found.length > 0) throw new Error(`connections to other machines were opened:\n${found.join('\n')}`);
});
