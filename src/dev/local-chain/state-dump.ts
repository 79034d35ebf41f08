import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { OracleError } from '../../platform/errors.ts';
import { connectUnixSocket } from '../../platform/outbound/unix-socket.ts';

const REQUEST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_dumpState', params: [] });
const RESULT_START = '"result":"0x';

/**
 * The state as uncompressed JSON, piece by piece: ten years of blocks are hundreds of megabytes. Writes after `onSnapshot` are not part of it.
 * @throws OracleError CHAIN_REVERTED
 */
export async function dumpState(ipcPath: string, write: (state: Readable) => Promise<void>, onSnapshot = () => {}): Promise<void> {
  const socket = connectUnixSocket(ipcPath).setEncoding('latin1');
  socket.write(REQUEST);
  const state = createGunzip();
  try {
    await Promise.all([pipeline(readHexResult(socket, onSnapshot), state), write(state)]);
  } finally {
    socket.destroy();
  }
}

async function* readHexResult(chunks: AsyncIterable<string>, onBegin: () => void): AsyncGenerator<Buffer> {
  let begun = false;
  let text = '';
  for await (const chunk of chunks) {
    text += chunk;
    if (!begun) {
      const start = text.indexOf(RESULT_START);
      if (start === -1 && text.includes('\n')) throw refusedError(text);
      if (start === -1) continue;
      begun = true;
      onBegin();
      text = text.slice(start + RESULT_START.length);
    }
    const end = text.indexOf('"');
    const digits = end === -1 ? text.length - (text.length % 2) : end;
    yield Buffer.from(text.slice(0, digits), 'hex');
    if (end !== -1) return;
    text = text.slice(digits);
  }
  throw refusedError('the connection has ended');
}

function refusedError(reason: string): OracleError {
  return new OracleError('CHAIN_REVERTED', `anvil_dumpState was refused: ${reason.slice(0, 200).trim()}`);
}
