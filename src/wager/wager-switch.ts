import type { Collection, Db } from 'mongodb';
import { isFirstWrite } from '../platform/mongo.ts';

interface WagerSwitchState {
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

const SWITCH_ID = 'wagers';
const INITIAL_STATE: WagerSwitchState = { paused: false, since: null, reason: null };

/** The operator's switch, shared by all processes of a database and read before each placement. */
export class WagerSwitch {
  readonly #switches: Collection<WagerSwitchState & { _id: string }>;

  constructor(db: Db) {
    this.#switches = db.collection('switches');
  }

  async getState(): Promise<WagerSwitchState> {
    const { paused, since, reason } = (await this.#switches.findOne({ _id: SWITCH_ID })) ?? INITIAL_STATE;
    return { paused, since, reason };
  }

  /** Pauses new wagers; the first of two reasons stays, with its time. */
  async pause(reason: string, since: Date): Promise<WagerSwitchChange> {
    const change = { $set: { paused: true, since, reason } };
    // A paused switch does not match, so the upsert violates the key of the only document.
    return this.#toChange(await isFirstWrite(this.#switches.updateOne({ _id: SWITCH_ID, paused: false }, change, { upsert: true })));
  }

  async resume(at: Date): Promise<WagerSwitchChange> {
    const change = { $set: { paused: false, since: at, reason: null } };
    const { modifiedCount } = await this.#switches.updateOne({ _id: SWITCH_ID, paused: true }, change);
    return this.#toChange(modifiedCount === 1);
  }

  async #toChange(changed: boolean): Promise<WagerSwitchChange> {
    return { ...(await this.getState()), changed };
  }
}
