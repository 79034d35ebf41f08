import { createSocket } from 'node:dgram';
import { connect } from 'node:tls';

const PORT = 123;
const PACKET_BYTES = 48;
/** Version 4, client (RFC 4330, section 4). */
const REQUEST_HEADER = 0x23;
const TRANSMIT_OFFSET = 40;
/** Seconds from 1900 to 1970. */
const EPOCH_OFFSET_S = 2_208_988_800;

/** The server's clock minus ours, in milliseconds; half of the round trip is its error. @throws Error without a valid answer in time */
export function readSntpOffsetMs(host: string, { port = PORT, timeoutMs = 3_000 } = {}): Promise<number> {
  const socket = createSocket('udp4');
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  let sentAtMs = 0;
  socket.once('error', reject);
  socket.on('message', (packet) => {
    const middleMs = (sentAtMs + Date.now()) / 2;
    if (packet.length >= PACKET_BYTES && packet.readUInt32BE(TRANSMIT_OFFSET) > EPOCH_OFFSET_S) resolve(readTransmitMs(packet) - middleMs);
  });
  const request = Buffer.alloc(PACKET_BYTES);
  request[0] = REQUEST_HEADER;
  sentAtMs = Date.now();
  socket.send(request, port, host, (error) => error && reject(error));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.close();
  });
}

function readTransmitMs(packet: Buffer): number {
  const seconds = packet.readUInt32BE(TRANSMIT_OFFSET) - EPOCH_OFFSET_S;
  return 1_000 * (seconds + packet.readUInt32BE(TRANSMIT_OFFSET + 4) / 2 ** 32);
}

interface ServedCertificate {
  subject: string;
  validTo: Date;
}

/** The certificate of a server that the operator names, which must be valid for its name. @throws Error of TLS or the connection */
export function readCertificate({ hostname, port }: { hostname: string; port: number }, timeoutMs: number): Promise<ServedCertificate> {
  const { promise, resolve, reject } = Promise.withResolvers<ServedCertificate>();
  const socket = connect({ host: hostname, port, servername: hostname, rejectUnauthorized: true, timeout: timeoutMs }, () => {
    const { subject, valid_to: validTo } = socket.getPeerCertificate();
    resolve({ subject: String(subject?.CN ?? hostname), validTo: new Date(validTo) });
  });
  socket.once('timeout', () => reject(new Error(`no answer within ${timeoutMs} ms`)));
  socket.once('error', reject);
  return promise.finally(() => socket.destroy());
}
