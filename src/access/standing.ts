import type { Address } from 'viem';
import { isOracleError, type OracleError } from '../errors.ts';
import type { Caller } from '../record/caller.ts';
import type { GateReading, ReadGate } from './gate.ts';
import type { SessionDoc, Sessions } from './sessions.ts';
import { lowerTier } from './tiers.ts';

export interface StandingsOptions {
  sessions: Pick<Sessions, 'keepReading'>;
  readGate: ReadGate;
  now(): Date;
}

/** A balance is read again when it is used after this time. */
const FRESH_MS = 60_000;
/** For so long the last reading stands in for a chain that does not answer. */
const STANDS_IN_MS = 5 * 60_000;
/** After a failure the chain is left alone, so that not every request waits for it. */
const LEFT_ALONE_MS = 5_000;

/** What sessions are worth now: never more than at login, less once the balance has fallen. */
export class Standings {
  readonly #options: StandingsOptions;
  /** One reading at a time for each wallet. */
  readonly #readings = new Map<Address, Promise<GateReading>>();
  #failed: { error: OracleError; atMs: number } | undefined;

  constructor(options: StandingsOptions) {
    this.#options = options;
  }

  /** Who the holder of a session is. @throws OracleError CHAIN_UNREACHABLE when the last reading is too old to go by. */
  async callerOf(session: SessionDoc): Promise<Caller> {
    const { _id: sessionId, wallet, tier } = session;
    const gate = await this.#gateOf(session);
    return { tier: lowerTier(tier, gate.tier), wallet, sessionId, balance: gate.balance };
  }

  async #gateOf({ wallet, gate, gateReadAt }: SessionDoc): Promise<GateReading> {
    const nowMs = this.#options.now().getTime();
    const ageMs = nowMs - gateReadAt.getTime();
    if (ageMs <= FRESH_MS) return gate;
    try {
      return await this.#read(wallet, nowMs);
    } catch (error) {
      if (ageMs <= STANDS_IN_MS && isOracleError(error, 'CHAIN_UNREACHABLE')) return gate;
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
    const { readGate, sessions, now } = this.#options;
    const readAt = now();
    try {
      const gate = await readGate(wallet);
      this.#failed = undefined;
      await sessions.keepReading(wallet, gate, readAt);
      return gate;
    } catch (error) {
      if (isOracleError(error, 'CHAIN_UNREACHABLE')) this.#failed = { error, atMs: now().getTime() };
      throw error;
    }
  }
}
