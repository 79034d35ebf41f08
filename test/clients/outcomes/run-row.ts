import { setTimeout as delay } from 'node:timers/promises';
import type { Cell, OutcomeName, Row } from '../rows/row.ts';
import type { World } from '../world/world.ts';
import type { Attempt } from './attempt.ts';
import { buyCall, buyHold } from './bought.ts';
import { expectRejection } from './rejected.ts';
import { replayPurchase } from './replayed.ts';

const CELL_TIMEOUT_MS = 60_000;

type Outcome = (row: Row, world: World) => Promise<Cell>;

export type RowResult = Record<OutcomeName, Cell>;

/** All outcomes of a row; one that differs from what is promised fails its cell and no other. */
export async function runRow(row: Row, world: World): Promise<RowResult> {
  let purchase: Attempt | null = null;
  const paid: Outcome = async () => {
    const bought = await buyCall(row, world);
    purchase = bought.purchase;
    return bought.cell;
  };
  const replayed: Outcome = async () => {
    if (purchase === null) throw new Error('nothing was bought');
    return replayPurchase(row, world, purchase);
  };
  return {
    paid: await runCell(row, world, { name: 'paid', outcome: paid }),
    HOLD: await runCell(row, world, { name: 'HOLD', outcome: buyHold }),
    'no funds': await runCell(row, world, rejection('no funds')),
    'wrong amount': await runCell(row, world, rejection('wrong amount')),
    replayed: await runCell(row, world, { name: 'replayed', outcome: replayed }),
    expired: await runCell(row, world, rejection('expired')),
  };
}

function rejection(name: 'no funds' | 'wrong amount' | 'expired'): { name: OutcomeName; outcome: Outcome } {
  return { name, outcome: (row, world) => expectRejection(row, world, name) };
}

async function runCell(row: Row, world: World, { name, outcome }: { name: OutcomeName; outcome: Outcome }): Promise<Cell> {
  const reason = row.notApplicable[name];
  if (reason !== undefined) return { text: 'n/a', ok: true, note: reason };
  try {
    return await Promise.race([outcome(row, world), delay(CELL_TIMEOUT_MS, null, { ref: false }).then(failLate)]);
  } catch (error) {
    return { text: 'FAILED', ok: false, note: error instanceof Error ? error.message : String(error) };
  }
}

function failLate(): never {
  throw new Error(`no end after ${CELL_TIMEOUT_MS / 1_000} s`);
}
