import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { parseIpv6Groups } from '../security/client-address.ts';

/** Tables of the sockets of this network namespace, Linux only (proc_net_tcp in the kernel's documentation). */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Local port, remote address and port, and the bytes that the peer has not acknowledged, all in hex. */
const ROW = /^ *\d+: [\dA-F]+:([\dA-F]{4}) ([\dA-F]+:[\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/gm;

/** Bytes in the kernel that the peer of a socket has not acknowledged; 0 where none are known. */
export type KernelSendQueues = (socket: Socket) => number;

/** Reads the send queues of all connections of a local port; null where the platform does not show them. */
export async function readKernelSendQueues(port: number): Promise<KernelSendQueues | null> {
  try {
    const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1')));
    const bytes = parseSendQueues(tables.join(''), port);
    return ({ remoteAddress, remotePort }) => bytes.get(formatQueueKey(remoteAddress, remotePort)) ?? 0;
  } catch {
    return null;
  }
}

/** Unacknowledged bytes by remote end, as the table spells it. */
export function parseSendQueues(table: string, port: number): Map<string, number> {
  const local = toHex(port, 4);
  const bytes = new Map<string, number>();
  for (const [, localPort, remote, queued] of table.matchAll(ROW)) {
    if (localPort === local && queued !== '00000000') bytes.set(remote!, Number.parseInt(queued!, 16));
  }
  return bytes;
}

/** The remote end of a socket as the table spells it: words of 32 bits in the byte order of the machine, which is little-endian. */
export function formatQueueKey(remoteAddress = '', remotePort = 0): string {
  const octets = remoteAddress.includes(':')
    ? parseIpv6Groups(remoteAddress).flatMap((group) => [group >> 8, group & 255])
    : remoteAddress.split('.').map(Number);
  const words: string[] = [];
  for (let at = 0; at < octets.length; at += 4) {
    words.push(
      octets
        .slice(at, at + 4)
        .reverse()
        .map((octet) => toHex(octet, 2))
        .join(''),
    );
  }
  return `${words.join('')}:${toHex(remotePort, 4)}`;
}

function toHex(number: number, digits: number): string {
  return number.toString(16).toUpperCase().padStart(digits, '0');
}
