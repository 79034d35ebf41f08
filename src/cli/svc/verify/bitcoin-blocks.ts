import type { ReadBlock } from '../../../audit/claims/check-timestamps.ts';
import { getErrorMessage } from '../../../platform/errors.ts';
import { createOperatorFetch } from '../../../platform/outbound/operator-fetch.ts';
import { type BitcoinBlock, parseBlockHeader } from '../../../verify/timestamps/bitcoin-block.ts';

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 1_000;

/**
 * Reads block headers by the Esplora API (`/block-height/{height}`, `/block/{hash}/header`), which a block explorer or a node of one's own
 * offers. The header must have the hash that it is asked by; that the block is of the best chain rests on the source.
 */
export function createBlockReader(url: string): ReadBlock {
  const base = url.replace(/\/+$/, '');
  const send = createOperatorFetch({ base, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  const read = async (path: string): Promise<string> => {
    const response = await send(`${base}/${path}`, { headers: { accept: 'text/plain' } });
    const text = (await response.text()).trim();
    if (!response.ok) throw new Error(`${path} answers ${response.status}`);
    return text;
  };
  const readHeader = async (height: number): Promise<BitcoinBlock> => {
    const hash = await read(`block-height/${height}`);
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error('it names no block');
    const block = parseBlockHeader(await read(`block/${hash}/header`));
    if (block.hash !== hash) throw new Error(`the header has the hash ${block.hash}, not ${hash}`);
    return block;
  };
  const known = new Map<number, ReturnType<ReadBlock>>();
  return (height) => {
    const reading =
      known.get(height) ??
      readHeader(height).catch((error: unknown) => ({ problem: `Bitcoin block ${height} was not read: ${getErrorMessage(error)}` }));
    known.set(height, reading);
    return reading;
  };
}
