import { formatUnits, type Hex } from 'viem';
import { checkReceipt } from '../../../src/cli/svc/pay/check-receipt.ts';
import { findPaidExchange } from '../rows/replays.ts';
import type { Cell, Row } from '../rows/row.ts';
import { readPayment } from '../wire/payments.ts';
import type { World } from '../world/world.ts';
import { type Attempt, attempt } from './attempt.ts';

/** A call is paid once, with a receipt of the seller for exactly this answer. */
export async function buyCall(row: Row, world: World): Promise<{ cell: Cell; purchase: Attempt }> {
  const purchase = await world.withSignal('BUY', () => attempt(row, world));
  return { cell: await checkSale(world, purchase), purchase };
}

/** HOLD is free at `/oracle` and leaves the wallet untouched; it is charged elsewhere. */
export async function buyHold(row: Row, world: World): Promise<Cell> {
  const purchase = await world.withSignal('HOLD', () => attempt(row, world));
  const { answer, settlement } = getBought(purchase);
  if (answer.signal !== 'HOLD') throw new Error(`the answer is ${answer.signal}`);
  if (row.hold === 'charged') return checkSale(world, purchase);
  findPaidExchange(purchase.exchanges);
  if (answer.charged !== false || settlement || purchase.spent !== 0n) throw new Error(`HOLD has cost ${purchase.spent} units`);
  return { text: 'free', ok: true };
}

async function checkSale({ seller, demo, sales }: World, purchase: Attempt): Promise<Cell> {
  const { answer, settlement } = getBought(purchase);
  const payment = readPayment(findPaidExchange(purchase.exchanges)) as Parameters<typeof checkReceipt>[1]['payment'];
  const checks = await checkReceipt(answer, { payment, seller, chainId: demo.chainId });
  const failed = checks.filter(({ ok }) => !ok).map(({ what }) => what);
  if (failed.length > 0) throw new Error(`does not hold: ${failed.join('; ')}`);
  const { amount, txHash } = (answer.receipt as { message: { amount: string; txHash: Hex } }).message;
  if (settlement?.success !== true || settlement.transaction !== txHash) throw new Error('the protocol receipt names another transaction');
  if (purchase.spent !== BigInt(amount)) throw new Error(`the receipt is for ${amount} units, the wallet paid ${purchase.spent}`);
  sales.push({ txHash, units: BigInt(amount) });
  return { text: formatUnits(BigInt(amount), 6), ok: true };
}

/** @throws what the client has thrown */
function getBought({ bought, error }: Attempt) {
  if (bought === null) throw error;
  return bought;
}
