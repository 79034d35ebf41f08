import type { Address } from 'viem';
import { isOracleError, type OracleError } from '../errors.ts';
import type { GateReading, ReadGate } from './gate.ts';

/** What the chain said of a wallet, and when. */
export interface KnownGate {
  gate: GateReading;
  readAt: Date;
}

export interface GateReadingsOptions {
  readGate: ReadGate;
  /** Keeps a reading for other processes. Unset: it is remembered here only. */
  keep?(wallet: Address, known: KnownGate): Promise<void>;
  now(): Date;
}

/** A balance is read again when it is used after this time. */
const FRESH_MS = 60_000;
/** For so long the last reading stands in for a chain that does not answer. */
const STANDS_IN_MS = 5 * 60_000;
/** After a failure the chain is left alone, so that not everybody waits for it. */
const LEFT_ALONE_MS = 5_000;
const MOST_WALLETS = 10_000;

/** Balances of the gate token that are used for longer than they are looked at once. */
export class GateReadings {
  readonly #options: GateReadingsOptions;
  /** The latest of this process. */
  readonly #latest = new Map<Address, KnownGate>();
  /** One reading at a time for each wallet. */
  readonly #readings = new Map<Address, Promise<GateReading>>();
  #failed: { error: OracleError; atMs: number } | undefined;

  constructor(options: GateReadingsOptions) {
    this.#options = options;
  }

  /**
   * What a wallet holds, by what is known of it as long as that is fresh.
   * @param stored what other processes know of it
   * @throws OracleError CHAIN_UNREACHABLE when what is known is too old to go by
   */
  async of(wallet: Address, stored?: KnownGate): Promise<GateReading> {
    const known = newer(this.#latest.get(wallet), stored);
    const nowMs = this.#options.now().getTime();
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : nowMs - known.readAt.getTime();
    if (known !== undefined && ageMs <= FRESH_MS) return known.gate;
    try {
      return await this.#read(wallet, nowMs);
    } catch (error) {
      if (known !== undefined && ageMs <= STANDS_IN_MS && isOracleError(error, 'CHAIN_UNREACHABLE')) return known.gate;
      throw error;
    }
  }

  #read(wallet: Address, nowMs: number): Promise<GateReading> {
    if (this.#failed !== undefined && Math.abs(nowMs - this.#failed.atMs) < LEFT_ALONE_MS) return Promise.reject(this.#failed.error);
    const under = this.#readings.get(wallet);
    if (under !== undefined) return under;
    const reading = this.#readAndKeep(wallet).finally(() => this.#readings.delete(wallet));
    this.#readings.set(wallet, reading);
    return reading;
  }

  async #readAndKeep(wallet: Address): Promise<GateReading> {
    const { readGate, keep, now } = this.#options;
    const readAt = now();
    try {
      const gate = await readGate(wallet);
      this.#failed = undefined;
      this.#remember(wallet, { gate, readAt });
      await keep?.(wallet, { gate, readAt });
      return gate;
    } catch (error) {
      if (isOracleError(error, 'CHAIN_UNREACHABLE')) this.#failed = { error, atMs: now().getTime() };
      throw error;
    }
  }

  /** At the end, so that whoever was asked for longest ago is forgotten first. */
  #remember(wallet: Address, known: KnownGate): void {
    this.#latest.delete(wallet);
    const [oldest] = this.#latest.size >= MOST_WALLETS ? this.#latest.keys() : [];
    if (oldest !== undefined) this.#latest.delete(oldest);
    this.#latest.set(wallet, known);
  }
}

function newer(one: KnownGate | undefined, other: KnownGate | undefined): KnownGate | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.readAt > other.readAt ? one : other;
}
