import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../platform/mongo.ts';

/** The operator's pause of new wagers. */
export interface WagerSwitchState {
  paused: boolean;
  /** Time of the last change; null before the first. */
  since: Date | null;
  /** The operator's reason, shown on admin routes only; null while not paused. */
  reason: string | null;
}

/** Result of a change: `changed` is false when the state was already as requested. */
export interface WagerSwitchChange extends WagerSwitchState {
  changed: boolean;
}

interface SwitchDoc {
  _id: string;
  paused: boolean;
  since: Date;
  reason: string | null;
}

const SWITCH_ID = 'wagers';
const INITIAL_STATE: WagerSwitchState = { paused: false, since: null, reason: null };

/** The operator's switch, shared by all processes of a database and read before each placement. */
export class WagerSwitch {
  readonly #switches: Collection<SwitchDoc>;

  constructor(db: Db) {
    this.#switches = db.collection('switches');
  }

  async getState(): Promise<WagerSwitchState> {
    const doc = await this.#switches.findOne({ _id: SWITCH_ID });
    if (doc === null) return INITIAL_STATE;
    const { paused, since, reason } = doc;
    return { paused, since, reason };
  }

  /** Pauses new wagers; the first of two reasons stays, with its time. */
  async pause(reason: string, at: Date): Promise<WagerSwitchChange> {
    return this.#toChange(await this.#trySetPaused(reason, at));
  }

  async resume(at: Date): Promise<WagerSwitchChange> {
    const change = { $set: { paused: false, since: at, reason: null } };
    const { modifiedCount } = await this.#switches.updateOne({ _id: SWITCH_ID, paused: true }, change);
    return this.#toChange(modifiedCount === 1);
  }

  async #trySetPaused(reason: string, since: Date): Promise<boolean> {
    try {
      await this.#switches.updateOne({ _id: SWITCH_ID, paused: false }, { $set: { paused: true, since, reason } }, { upsert: true });
      return true;
    } catch (error) {
      // A paused switch does not match, so the upsert violates the key of the only document.
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async #toChange(changed: boolean): Promise<WagerSwitchChange> {
    return { ...(await this.getState()), changed };
  }
}
