import type { Caller } from '../record/caller.ts';
import type { ReadGate } from './gate.ts';
import { GateReadings } from './gate-readings.ts';
import type { SessionDoc, Sessions } from './sessions.ts';
import { lowerTier } from './tiers.ts';

export interface StandingsOptions {
  sessions: Pick<Sessions, 'keepReading'>;
  readGate: ReadGate;
  now(): Date;
}

/** What sessions are worth now: never more than at login, less once the balance has fallen. */
export class Standings {
  readonly #readings: GateReadings;

  constructor({ sessions, readGate, now }: StandingsOptions) {
    this.#readings = new GateReadings({ readGate, keep: (wallet, { gate, readAt }) => sessions.keepReading(wallet, gate, readAt), now });
  }

  /** Who the holder of a session is. @throws OracleError CHAIN_UNREACHABLE when the last reading is too old to go by. */
  async callerOf({ _id: sessionId, wallet, tier, gate, gateReadAt: readAt }: SessionDoc): Promise<Caller> {
    const now = await this.#readings.of(wallet, { gate, readAt });
    return { tier: lowerTier(tier, now.tier), wallet, sessionId, balance: now.balance };
  }
}
