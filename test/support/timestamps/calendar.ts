import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '../network/loopback-server.ts';
import { mineHeader } from './bitcoin-blocks.ts';

export type Calendar = Awaited<ReturnType<typeof startCalendar>>;

/** `silent` never answers, `elsewhere` promises a proof at another server, `cut` and `trailing` are malformed, `rootless` names a block wrongly. */
type Behaviour = 'honest' | 'failing' | 'silent' | 'oversized' | 'elsewhere' | 'cut' | 'trailing' | 'rootless';

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const hex = (text: string) => Buffer.from(text, 'hex');
const sized = (bytes: Uint8Array) => Buffer.concat([Buffer.from([bytes.length]), bytes]);
const step = (tag: string, argument: Uint8Array) => Buffer.concat([hex(tag), sized(argument)]);

const BITCOIN = hex('000588960d73d71901');
const PENDING = hex('0083dfe30d2ef90c8e');

/** Little-endian base 128, of a height of three bytes. */
const encodeHeight = (height: number) => Buffer.from([(height & 127) | 128, ((height >> 7) & 127) | 128, height >> 14]);

/**
 * An OpenTimestamps calendar as opentimestamps-server answers: a digest gets a nonce, a time and a promise; its commitment gets its block once
 * `confirm` has mined one. The bytes are written by hand.
 */
export async function startCalendar() {
  const state = { behaviour: 'honest' as Behaviour, submitted: [] as string[], asked: 0 };
  const commitments = new Map<string, Buffer | null>();
  const headers = new Map<number, string>();

  function submit(digest: Buffer): Buffer {
    state.submitted.push(digest.toString('hex'));
    const [nonce, time, mac] = [randomBytes(16), randomBytes(4), randomBytes(8)];
    const commitment = Buffer.concat([time, sha256(digest, nonce), mac]);
    commitments.set(commitment.toString('hex'), null);
    const uri = Buffer.from(state.behaviour === 'elsewhere' ? 'http://10.0.0.1/' : server.url.replace(/\/$/, ''));
    return Buffer.concat([step('f0', nonce), hex('08'), step('f1', time), step('f0', mac), PENDING, sized(sized(uri))]);
  }

  function respond(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const [, operation, commitment = ''] = (request.url ?? '').split('/');
    const isSubmission = request.method === 'POST' && operation === 'digest';
    if (!isSubmission) state.asked += 1;
    if (state.behaviour === 'silent') return;
    if (state.behaviour === 'failing') return void response.writeHead(500).end('<html>');
    const honest = isSubmission ? submit(body) : (commitments.get(commitment) ?? null);
    if (honest === null) return void response.writeHead(404).end('Pending confirmation in Bitcoin blockchain');
    response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(distort(honest, state.behaviour));
  }

  const server = await listenOnLoopback(
    createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => respond(request, response, Buffer.concat(chunks)));
    }),
  );
  return {
    url: server.url.replace(/\/$/, ''),
    close: server.close,
    state,
    /** Headers of the mined blocks by height. */
    headers,
    /** Puts each pending commitment into a block of its own. */
    confirm(at: Date): void {
      for (const [commitment, proof] of commitments) {
        if (proof !== null) continue;
        const sibling = randomBytes(32);
        const height = 900_000 + headers.size;
        headers.set(height, mineHeader(sha256(sha256(hex(commitment), sibling)), at));
        const block = Buffer.concat([BITCOIN, sized(encodeHeight(height))]);
        commitments.set(commitment, Buffer.concat([step('f0', sibling), hex('0808'), block]));
      }
    },
  };
}

function distort(honest: Buffer, behaviour: Behaviour): Buffer {
  if (behaviour === 'oversized') return Buffer.alloc(20_000, honest);
  if (behaviour === 'cut') return honest.subarray(0, -1);
  if (behaviour === 'trailing') return Buffer.concat([honest, hex('00')]);
  return behaviour === 'rootless' ? Buffer.concat([BITCOIN, sized(encodeHeight(900_000))]) : honest;
}
