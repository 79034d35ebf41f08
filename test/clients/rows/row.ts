import type { Bought } from '../../../examples/clients/catalog.ts';
import type { Exchange } from '../wire/wire.ts';
import type { Payer, World } from '../world/world.ts';

/** One client with one kind of wallet at one interface; `listRows` has all. */
export interface Row {
  client: string;
  interface: string;
  /** Reasons by outcome that cannot be had here. */
  notApplicable: Partial<Record<OutcomeName, string>>;
  /** A new wallet with this many units of the stablecoin. */
  createPayer(world: World, units: bigint): Promise<Payer>;
  buy(world: World, payer: Payer): Promise<Bought>;
  /** What was sold, in the response to a paid request. */
  readDocument(response: Exchange): unknown;
  /** Sends the payment of a purchase once more. */
  replay(world: World, purchase: readonly Exchange[]): Promise<Exchange>;
}

export type OutcomeName = 'paid' | 'HOLD' | 'no funds' | 'wrong amount' | 'replayed' | 'expired';

export interface Cell {
  text: string;
  /** False fails the run. */
  ok: boolean;
  /** Printed below the table. */
  note?: string;
}
