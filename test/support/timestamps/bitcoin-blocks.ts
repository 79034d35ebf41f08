import { createServer } from 'node:http';
import { sha256 } from 'viem';
import { parseBlockHeader } from '../../../src/verify/timestamps/bitcoin-block.ts';
import { listenOnLoopback } from '../network/loopback-server.ts';

/** The easiest target that there is, of regression tests of Bitcoin Core: every second hash meets it. */
const EASIEST_BITS = 0x207fffff;

/** A header in hex with this Merkle root (32 bytes, internal order) whose hash meets its target. */
export function mineHeader(merkleRoot: Uint8Array, at: Date): string {
  const header = Buffer.alloc(80);
  header.writeInt32LE(0x20000000, 0);
  header.set(merkleRoot, 36);
  header.writeUInt32LE(at.getTime() / 1_000, 68);
  header.writeUInt32LE(EASIEST_BITS, 72);
  while (sha256(sha256(header, 'bytes'), 'bytes')[31]! >= 0x7f) header.writeUInt32LE(header.readUInt32LE(76) + 1, 76);
  return header.toString('hex');
}

/** Blocks by height under the two operations of the Esplora API that name a header. */
export async function serveBitcoinBlocks(headers: ReadonlyMap<number, string>) {
  const byHash = new Map([...headers.values()].map((header) => [parseBlockHeader(header).hash, header]));
  const server = createServer((request, response) => {
    const [, resource, id, part] = (request.url ?? '').split('/');
    const header = headers.get(Number(id));
    const found =
      resource === 'block-height' ? header && parseBlockHeader(header).hash : part === 'header' ? byHash.get(id ?? '') : undefined;
    response.writeHead(found === undefined ? 404 : 200, { 'Content-Type': 'text/plain' }).end(found ?? 'Block not found');
  });
  return listenOnLoopback(server);
}
