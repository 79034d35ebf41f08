import { readJobEvents } from '../../../chain/erc8183/jobs.ts';
import type { ConfirmedBlock } from '../../../chain/rpc/block-depth.ts';
import type { JobDeps } from './deps.ts';

const BLOCKS_PER_STEP = 5_000;
/** Blocks that the first start looks back, about a day on Base. */
const LOOK_BACK_BLOCKS = 43_200;

/** The cursor moves after the events are stored, so a process that crashes in between reads them again. */
export async function collectJobEvents({ chain, contract, wallet, store, now }: JobDeps, confirmedBlock: ConfirmedBlock): Promise<void> {
  const last = Number(confirmedBlock.number);
  let cursor = await store.getCursor(contract);
  let next = cursor === null ? Math.max(0, last - LOOK_BACK_BLOCKS) : cursor + 1;
  while (next <= last) {
    const to = Math.min(next + BLOCKS_PER_STEP - 1, last);
    const range = { fromBlock: BigInt(next), toBlock: BigInt(to) };
    const events = await readJobEvents(chain, { contract, provider: wallet.address }, range);
    if (events.length > 0) await store.recordEvents(contract, events, now());
    await store.moveCursor(contract, cursor, to);
    cursor = to;
    next = to + 1;
  }
}
