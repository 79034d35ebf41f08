import type { Caller } from '../caller.ts';
import type { SessionDoc, SessionStore } from '../tokens/session-store.ts';
import type { ReadGateBalance } from './gate-balance.ts';
import { GateBalanceCache } from './gate-balance-cache.ts';
import { lowerTier } from './tiers.ts';

/** Current tier of sessions: at most the tier at login, lower once the balance has fallen. */
export class SessionEntitlements {
  readonly #balances: GateBalanceCache;

  constructor({ sessions, readGate, now }: { sessions: Pick<SessionStore, 'saveGateReading'>; readGate: ReadGateBalance; now(): Date }) {
    this.#balances = new GateBalanceCache({
      readGate,
      persist: (wallet, { gate, readAt }) => sessions.saveGateReading(wallet, gate, readAt),
      now,
    });
  }

  /** The caller of a session. @throws OracleError CHAIN_UNREACHABLE when the last reading is too old */
  async getCaller({ _id: sessionId, wallet, tier, gate, gateReadAt: readAt }: SessionDoc): Promise<Caller> {
    const current = await this.#balances.get(wallet, { gate, readAt });
    return { tier: lowerTier(tier, current.tier), wallet, sessionId, balance: current.balance };
  }
}
