import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { parseIp } from '../security/client-address.ts';

/** Socket tables of this network namespace, on Linux only (proc_net_tcp in the kernel documentation). */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Local port, remote address and port, and `tx_queue`, all in hex. */
const ROW = /^ *\d+: [\dA-F]+:([\dA-F]{4}) ([\dA-F]+:[\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/gm;

/** Bytes of a socket that the peer has not acknowledged; 0 where unknown. */
export type KernelSendQueues = (socket: Socket) => number;

/** Reads the send queues of all connections of a local port; null where the platform has no such table. */
export async function readKernelSendQueues(port: number): Promise<KernelSendQueues | null> {
  try {
    const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1')));
    const bytes = parseSendQueues(tables.join(''), port);
    return ({ remoteAddress, remotePort }) =>
      remoteAddress === undefined ? 0 : (bytes.get(formatQueueKey(remoteAddress, remotePort)) ?? 0);
  } catch {
    return null;
  }
}

function parseSendQueues(table: string, port: number): Map<string, number> {
  const local = toHex(port, 4);
  const bytes = new Map<string, number>();
  for (const [, localPort, remote, queued] of table.matchAll(ROW)) {
    if (localPort === local && queued !== '00000000') bytes.set(remote!, Number.parseInt(queued!, 16));
  }
  return bytes;
}

/** Endpoint in the spelling of the table: 32-bit words in host byte order, which is little-endian. */
function formatQueueKey(remoteAddress: string, remotePort = 0): string {
  const octets = parseIp(remoteAddress).toByteArray();
  const words = Array.from({ length: octets.length / 4 }, (_, i) => octets.slice(4 * i, 4 * i + 4).reverse());
  return `${words.map((word) => word.map((octet) => toHex(octet, 2)).join('')).join('')}:${toHex(remotePort, 4)}`;
}

function toHex(number: number, digits: number): string {
  return number.toString(16).toUpperCase().padStart(digits, '0');
}
