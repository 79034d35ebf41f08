import type { Bought } from '../../../examples/clients/catalog.ts';
import type { Row } from '../rows/row.ts';
import type { Exchange, ResponseEdit } from '../wire/wire.ts';
import type { Payer, World } from '../world/world.ts';

/** A client's whole flow, with what it cost its wallet. */
export interface Attempt {
  payer: Payer;
  /** Null where the client has thrown. */
  bought: Bought | null;
  error: unknown;
  exchanges: Exchange[];
  /** Units that left the wallet. */
  spent: bigint;
}

interface AttemptOptions {
  /** Units of the new wallet; 0.05 USD unless set. */
  funds?: bigint;
  edit?: ResponseEdit;
  /** How far the client's clock is behind. */
  clockBehindMs?: number;
}

const FUNDS = 50_000n;

/** Runs a client with a wallet of its own. */
export async function attempt(row: Row, world: World, { funds = FUNDS, edit, clockBehindMs = 0 }: AttemptOptions = {}): Promise<Attempt> {
  const payer = await row.createPayer(world, funds);
  let bought: Bought | null = null;
  const buy = async () => {
    bought = await row.buy(world, payer);
  };
  const { exchanges, error } = await world.wire.record(() => withClockBehind(clockBehindMs, buy), edit);
  return { payer, bought, error, exchanges, spent: funds - (await world.balanceOf(payer.address)) };
}

/** Clients run in this process, the service does not: alone the client's clock is wrong. */
async function withClockBehind(ms: number, work: () => Promise<void>): Promise<void> {
  const now = Date.now;
  Date.now = () => now() - ms;
  try {
    await work();
  } finally {
    Date.now = now;
  }
}
