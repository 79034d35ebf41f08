import type { Address } from 'viem';
import { isOracleError, type OracleError } from '../../platform/errors.ts';
import type { GateReading, ReadGateBalance } from './gate-balance.ts';

/** What the chain said of a wallet, and when. */
export interface CachedGateReading {
  gate: GateReading;
  readAt: Date;
}

export interface GateBalanceCacheOptions {
  readGate: ReadGateBalance;
  /** Keeps a reading for other processes. Unset: it is remembered here only. */
  persist?(wallet: Address, cached: CachedGateReading): Promise<void>;
  now(): Date;
}

/** A balance is read again when it is used after this time. */
const FRESHNESS_MS = 60_000;
/** For so long the last reading stands in for a chain that does not answer. */
const STALE_FALLBACK_MS = 5 * 60_000;
/** After a failure the chain is left alone, so that not everybody waits for it. */
const FAILURE_BACKOFF_MS = 5_000;
const MAX_WALLETS = 10_000;

/** Balances of the gate token that are used for longer than they are looked at once. */
export class GateBalanceCache {
  readonly #options: GateBalanceCacheOptions;
  /** The latest of this process. */
  readonly #latest = new Map<Address, CachedGateReading>();
  /** One reading at a time for each wallet. */
  readonly #pendingReads = new Map<Address, Promise<GateReading>>();
  #failed: { error: OracleError; atMs: number } | undefined;

  constructor(options: GateBalanceCacheOptions) {
    this.#options = options;
  }

  /**
   * What a wallet holds, by what is known of it as long as that is fresh.
   * @param stored what other processes know of it
   * @throws OracleError CHAIN_UNREACHABLE when what is known is too old to go by
   */
  async get(wallet: Address, stored?: CachedGateReading): Promise<GateReading> {
    const cached = pickNewer(this.#latest.get(wallet), stored);
    const nowMs = this.#options.now().getTime();
    const ageMs = cached === undefined ? Number.POSITIVE_INFINITY : nowMs - cached.readAt.getTime();
    if (cached !== undefined && ageMs <= FRESHNESS_MS) return cached.gate;
    try {
      return await this.#read(wallet, nowMs);
    } catch (error) {
      if (cached !== undefined && ageMs <= STALE_FALLBACK_MS && isOracleError(error, 'CHAIN_UNREACHABLE')) return cached.gate;
      throw error;
    }
  }

  #read(wallet: Address, nowMs: number): Promise<GateReading> {
    if (this.#failed !== undefined && Math.abs(nowMs - this.#failed.atMs) < FAILURE_BACKOFF_MS) return Promise.reject(this.#failed.error);
    const pending = this.#pendingReads.get(wallet);
    if (pending !== undefined) return pending;
    const reading = this.#readAndStore(wallet).finally(() => this.#pendingReads.delete(wallet));
    this.#pendingReads.set(wallet, reading);
    return reading;
  }

  async #readAndStore(wallet: Address): Promise<GateReading> {
    const { readGate, persist, now } = this.#options;
    const readAt = now();
    try {
      const gate = await readGate(wallet);
      this.#failed = undefined;
      this.#store(wallet, { gate, readAt });
      await persist?.(wallet, { gate, readAt });
      return gate;
    } catch (error) {
      if (isOracleError(error, 'CHAIN_UNREACHABLE')) this.#failed = { error, atMs: now().getTime() };
      throw error;
    }
  }

  /** At the end, so that whoever was asked for longest ago is forgotten first. */
  #store(wallet: Address, cached: CachedGateReading): void {
    this.#latest.delete(wallet);
    const [oldest] = this.#latest.size >= MAX_WALLETS ? this.#latest.keys() : [];
    if (oldest !== undefined) this.#latest.delete(oldest);
    this.#latest.set(wallet, cached);
  }
}

function pickNewer(one: CachedGateReading | undefined, other: CachedGateReading | undefined): CachedGateReading | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.readAt > other.readAt ? one : other;
}
