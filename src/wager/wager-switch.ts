import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../platform/mongo.ts';

/** Whether the operator lets new wagers out. */
export interface WagerSwitchState {
  paused: boolean;
  /** When it was last turned; null where it never was. */
  since: Date | null;
  /** The operator's own words, for nobody else; null while wagers go out. */
  reason: string | null;
}

/** What became of a wish to turn it: `changed` is false when it stood there already. */
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

/** The operator's switch of new wagers, one for all processes on a database: whoever is about to place one looks at it. */
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

  /** Stops new wagers. Of two reasons the first stands, with its time. */
  async pause(reason: string, at: Date): Promise<WagerSwitchChange> {
    return this.#toChange(await this.#trySetPaused(reason, at));
  }

  /** Lets new wagers out again. */
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
      // What is paused does not match, and there is one document only.
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async #toChange(changed: boolean): Promise<WagerSwitchChange> {
    return { ...(await this.getState()), changed };
  }
}
