import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../mongo.ts';

/** Whether the operator lets new wagers out. */
export interface WagerSwitchState {
  paused: boolean;
  /** When it was last turned; null where it never was. */
  since: Date | null;
  /** The operator's own words, for nobody else; null while wagers go out. */
  reason: string | null;
}

/** What became of a wish to turn it: `changed` is false when it stood there already. */
export interface SwitchTurn extends WagerSwitchState {
  changed: boolean;
}

interface SwitchDoc {
  _id: string;
  paused: boolean;
  since: Date;
  reason: string | null;
}

const ID = 'wagers';
const NEVER_TURNED: WagerSwitchState = { paused: false, since: null, reason: null };

/** The operator's switch of new wagers, one for all processes on a database: whoever is about to place one looks at it. */
export class WagerSwitch {
  readonly #switches: Collection<SwitchDoc>;

  constructor(db: Db) {
    this.#switches = db.collection('switches');
  }

  async state(): Promise<WagerSwitchState> {
    const doc = await this.#switches.findOne({ _id: ID });
    if (doc === null) return NEVER_TURNED;
    const { paused, since, reason } = doc;
    return { paused, since, reason };
  }

  /** Stops new wagers. Of two reasons the first stands, with its time. */
  async pause(reason: string, at: Date): Promise<SwitchTurn> {
    return this.#turned(await this.#pausedNow(reason, at));
  }

  /** Lets new wagers out again. */
  async resume(at: Date): Promise<SwitchTurn> {
    const change = { $set: { paused: false, since: at, reason: null } };
    const { modifiedCount } = await this.#switches.updateOne({ _id: ID, paused: true }, change);
    return this.#turned(modifiedCount === 1);
  }

  async #pausedNow(reason: string, since: Date): Promise<boolean> {
    try {
      await this.#switches.updateOne({ _id: ID, paused: false }, { $set: { paused: true, since, reason } }, { upsert: true });
      return true;
    } catch (error) {
      // What is paused does not match, and there is one document only.
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async #turned(changed: boolean): Promise<SwitchTurn> {
    return { ...(await this.state()), changed };
  }
}
