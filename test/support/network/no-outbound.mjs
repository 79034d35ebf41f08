/**
 * Loaded by `NODE_OPTIONS` into every Node process that a suite starts, and into those that it starts: a connection to another machine
 * ends the process, whether code of the service or a library opens it.
 */
import { isIP, Socket } from 'node:net';

/** Exit code that no part of the service uses. */
const OUTBOUND_EXIT_CODE = 86;
/** A connection to 0.0.0.0 reaches this machine; by that name a chain counts as an external one. */
const LOOPBACK = /^(127\.|0\.0\.0\.0$|::1$|::ffff:127\.)/i;

const { connect } = Socket.prototype;
Socket.prototype.connect = function connectWatched(...options) {
  const opened = new Error('opened here');
  this.once('connectionAttempt', (ip, port) => {
    // The path of a Unix socket is no address.
    if (isIP(ip) === 0 || LOOPBACK.test(ip)) return;
    process.stderr.write(`a connection to ${ip}:${port} was attempted\n${opened.stack}\n`);
    process.exit(OUTBOUND_EXIT_CODE);
  });
  return Reflect.apply(connect, this, options);
};
