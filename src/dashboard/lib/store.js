import { ask, Problem } from './api.js';
import { DEPENDENT, RESOURCES } from './resources.js';

/** @import { Answers } from './answers.ts' */
/** @import { Session } from './session.js' */
/** @import { Choice } from './choice.js' */

/**
 * What is known of a resource. A failure keeps the last answer beside it, so that the page goes on showing it, and says so.
 * @template T
 * @typedef {{ answer: T | null, problem: Problem | null, at: Date | null }} Known
 */

/** @typedef {ReturnType<typeof createStore>} Store */

const NOTHING_YET = { answer: null, problem: null, at: null };

/**
 * Asks for resources once however many sections want them, and tells all of these.
 * @param {{ session: Session, horizon: Choice }} who
 */
export function createStore({ session, horizon }) {
  /** @type {Map<string, Known<any>>} */
  const known = new Map();
  /** @type {Map<string, Set<(known: Known<any>) => void>>} */
  const watchers = new Map();
  /** @type {Map<string, number>} the newest request of each: an older answer that comes after a newer one is dropped */
  const newest = new Map();

  /** @param {string} name @param {Known<any>} next */
  function tell(name, next) {
    known.set(name, next);
    for (const watcher of watchers.get(name) ?? []) watcher(next);
  }

  /**
   * @template {keyof Answers} Name
   * @param {Name} name
   * @returns {Known<Answers[Name]>}
   */
  function get(name) {
    return known.get(name) ?? NOTHING_YET;
  }

  /** @param {keyof Answers} name */
  async function refresh(name) {
    const turn = (newest.get(name) ?? 0) + 1;
    newest.set(name, turn);
    const outcome = await answerOf(name);
    if (newest.get(name) === turn) tell(name, outcome);
  }

  /** @param {keyof Answers} name @returns {Promise<Known<any>>} */
  async function answerOf(name) {
    const path = RESOURCES[name](horizon.value, (other) => get(other).answer);
    if (path === null) return { ...NOTHING_YET, problem: new Problem({ code: 'STEP_WAITING', detail: 'There is nothing yet' }) };
    try {
      const answer = await ask(path, { token: session.current?.token });
      return { answer, problem: null, at: new Date() };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === 'UNAUTHENTICATED') session.set(null);
      return { ...get(name), problem: error };
    }
  }

  return {
    get,
    refresh,
    /** @param {readonly (keyof Answers)[]} names */
    async refreshAll(names) {
      const [first, after] = [names.filter((name) => !DEPENDENT.includes(name)), names.filter((name) => DEPENDENT.includes(name))];
      await Promise.all(first.map(refresh));
      await Promise.all(after.map(refresh));
    },
    /** Forgets an answer that is no longer of what is chosen. @param {keyof Answers} name */
    forget: (name) => tell(name, NOTHING_YET),
    /**
     * Calls with what is known now, and at each change.
     * @template {keyof Answers} Name
     * @param {Name} name
     * @param {(known: Known<Answers[Name]>) => void} watcher
     */
    watch(name, watcher) {
      if (!watchers.has(name)) watchers.set(name, new Set());
      watchers.get(name)?.add(watcher);
      watcher(get(name));
    },
  };
}
