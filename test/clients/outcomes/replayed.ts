import { isDeepStrictEqual } from 'node:util';
import { findPaidExchange } from '../rows/replays.ts';
import type { Cell, Row } from '../rows/row.ts';
import type { World } from '../world/world.ts';
import type { Attempt } from './attempt.ts';

/** The same payment again gets the same answer, and moves nothing. */
export async function replayPurchase(row: Row, world: World, { exchanges, payer }: Attempt): Promise<Cell> {
  const before = await world.balanceOf(payer.address);
  const replayed = await row.replay(world, exchanges);
  const spent = before - (await world.balanceOf(payer.address));
  const [first, second] = [findPaidExchange(exchanges), replayed].map(row.readDocument);
  if (first === undefined || first === null) throw new Error('the first answer cannot be read');
  if (!isDeepStrictEqual(first, second))
    throw new Error(`another answer, with status ${replayed.status}: ${replayed.responseBody.slice(0, 300)}`);
  if (spent !== 0n) throw new Error(`it was settled again, for ${spent} units`);
  return { text: 'same answer', ok: true };
}
