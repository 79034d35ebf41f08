import { readJobEvents } from '../../../chain/erc8183/jobs.ts';
import type { ConfirmedBlock } from '../../../chain/rpc/block-depth.ts';
import type { JobDeps } from './deps.ts';

/** Blocks that are read before they are written down as read. */
const BLOCKS_PER_STEP = 5_000;
/** How far the first start looks back: about a day of Base. */
const LOOK_BACK_BLOCKS = 43_200;

/**
 * Notes the events since the last block seen, up to one at the confirmation depth. The cursor moves once they are written, so that a
 * process that dies in between reads them again.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function collectJobEvents({ chain, contract, wallet, store, now }: JobDeps, confirmedBlock: ConfirmedBlock): Promise<void> {
  const last = Number(confirmedBlock.number);
  let cursor = await store.getCursor(contract);
  let next = cursor === null ? Math.max(0, last - LOOK_BACK_BLOCKS) : cursor + 1;
  while (next <= last) {
    const to = Math.min(next + BLOCKS_PER_STEP - 1, last);
    const source = { contract, provider: wallet.address };
    const events = await readJobEvents(chain, source, { fromBlock: BigInt(next), toBlock: BigInt(to) });
    if (events.length > 0) await store.recordEvents(contract, events, now());
    await store.moveCursor(contract, cursor, to);
    cursor = to;
    next = to + 1;
  }
}
