import { getAddress } from 'viem';
import type { Tier } from '../record/caller.ts';
import type { ReadGate } from './gate.ts';
import { GateReadings } from './gate-readings.ts';

/** What wallets are worth while nobody is logged in with them: for what is sent to their owners. */
export class WalletTiers {
  readonly #readings: GateReadings;

  constructor(options: { readGate: ReadGate; now(): Date }) {
    this.#readings = new GateReadings(options);
  }

  /** By a reading of the last minute. @throws OracleError CHAIN_UNREACHABLE when the last one is too old to go by */
  async tierOf(wallet: string): Promise<Tier> {
    return (await this.#readings.of(getAddress(wallet))).tier;
  }
}
