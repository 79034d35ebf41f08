import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { isOracleError, type OracleError } from '../../platform/errors.ts';
import type { GateReading, ReadGateBalance } from './gate-balance.ts';

export interface CachedGateReading {
  gate: GateReading;
  readAt: Date;
}

export interface GateBalanceCacheOptions {
  readGate: ReadGateBalance;
  /** Stores a reading for other processes. Unset: it is cached in this process only. */
  persist?(wallet: Address, cached: CachedGateReading): Promise<void>;
  now(): Date;
}

const FRESHNESS_MS = 60_000;
/** Maximum age of a reading that replaces one of an unreachable chain. */
const STALE_FALLBACK_MS = 5 * 60_000;
/** Pause after a failed read, so that not every request waits for the timeout. */
const FAILURE_BACKOFF_MS = 5_000;
const MAX_WALLETS = 10_000;

export class GateBalanceCache {
  readonly #options: GateBalanceCacheOptions;
  readonly #latest = new LRUCache<Address, CachedGateReading>({ maxSize: MAX_WALLETS, sizeCalculation: () => 1 });
  readonly #pendingReads = new Map<Address, Promise<GateReading>>();
  #failed: { error: OracleError; atMs: number } | undefined;

  constructor(options: GateBalanceCacheOptions) {
    this.#options = options;
  }

  /** @param stored the last reading of other processes @throws OracleError CHAIN_UNREACHABLE when it is too old for a fallback */
  async get(wallet: Address, stored?: CachedGateReading): Promise<GateReading> {
    const nowMs = this.#options.now().getTime();
    const cached = pickFresher(this.#latest.get(wallet), stored, nowMs);
    const ageMs = cached === undefined ? Number.POSITIVE_INFINITY : getAgeMs(cached, nowMs);
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
      this.#latest.set(wallet, { gate, readAt });
      await persist?.(wallet, { gate, readAt });
      return gate;
    } catch (error) {
      if (isOracleError(error, 'CHAIN_UNREACHABLE')) this.#failed = { error, atMs: now().getTime() };
      throw error;
    }
  }
}

function pickFresher(
  one: CachedGateReading | undefined,
  other: CachedGateReading | undefined,
  nowMs: number,
): CachedGateReading | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return getAgeMs(one, nowMs) < getAgeMs(other, nowMs) ? one : other;
}

/** A reading dated ahead, by a clock that has been set back since, is as old as it is far ahead. */
function getAgeMs({ readAt }: CachedGateReading, nowMs: number): number {
  return Math.abs(nowMs - readAt.getTime());
}
