import { type Address, getAddress } from 'viem';
import { isOracleError, type OracleError } from '../errors.ts';
import type { Tier } from '../record/caller.ts';
import type { GateReading, ReadGate } from './gate.ts';

/** A reading serves for this time, as with sessions. */
const FRESH_MS = 60_000;
/** For so long the last reading stands in for a chain that does not answer. */
const STANDS_IN_MS = 5 * 60_000;
/** After a failure the chain is left alone. */
const LEFT_ALONE_MS = 5_000;
const MOST_WALLETS = 10_000;

interface Known {
  gate: GateReading;
  atMs: number;
}

/** What wallets are worth while nobody is logged in with them: for what is sent to their owners. */
export class WalletTiers {
  readonly #readGate: ReadGate;
  readonly #now: () => Date;
  readonly #known = new Map<Address, Known>();
  /** One reading at a time for each wallet. */
  readonly #readings = new Map<Address, Promise<Known>>();
  #failed: { error: OracleError; atMs: number } | undefined;

  constructor(options: { readGate: ReadGate; now(): Date }) {
    this.#readGate = options.readGate;
    this.#now = () => options.now();
  }

  /** By a reading of the last minute. @throws OracleError CHAIN_UNREACHABLE when the last one is too old to go by */
  async tierOf(wallet: string): Promise<Tier> {
    const address = getAddress(wallet);
    const known = this.#known.get(address);
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : this.#now().getTime() - known.atMs;
    if (known !== undefined && ageMs <= FRESH_MS) return known.gate.tier;
    try {
      return (await this.#read(address)).gate.tier;
    } catch (error) {
      if (known !== undefined && ageMs <= STANDS_IN_MS && isOracleError(error, 'CHAIN_UNREACHABLE')) return known.gate.tier;
      throw error;
    }
  }

  #read(address: Address): Promise<Known> {
    const failed = this.#failed;
    if (failed !== undefined && Math.abs(this.#now().getTime() - failed.atMs) < LEFT_ALONE_MS) return Promise.reject(failed.error);
    const under = this.#readings.get(address);
    if (under !== undefined) return under;
    const reading = this.#readAndKeep(address).finally(() => this.#readings.delete(address));
    this.#readings.set(address, reading);
    return reading;
  }

  async #readAndKeep(address: Address): Promise<Known> {
    const atMs = this.#now().getTime();
    try {
      const known = { gate: await this.#readGate(address), atMs };
      this.#failed = undefined;
      this.#keep(address, known);
      return known;
    } catch (error) {
      if (isOracleError(error, 'CHAIN_UNREACHABLE')) this.#failed = { error, atMs: this.#now().getTime() };
      throw error;
    }
  }

  /** At the end, so that whoever was asked for longest ago is forgotten first. */
  #keep(address: Address, known: Known): void {
    this.#known.delete(address);
    const [oldest] = this.#known.size >= MOST_WALLETS ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(address, known);
  }
}
