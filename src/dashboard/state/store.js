import { ask, Problem } from './api.js';
import { DEPENDS_ON, OF_THE_HORIZON, RESOURCES } from './resources.js';
import { tellAll } from './tell.js';
import { askWholeScorecard } from './whole-scorecard.js';

/** @import { Answers } from './answers.ts' */
/** @import { LoggedIn, Session } from './session.js' */
/** @import { Choice } from './choice.js' */

/**
 * What is known of a resource. A failure keeps the last answer beside it, so that the page goes on showing it, and says so.
 * @template T
 * @typedef {{ answer: T | null, problem: Problem | null, at: Date | null, asker: LoggedIn | null, retryAt: number }} Known `at` and `asker`:
 * when the answer came, and who has asked for it; `retryAt`: when the service may be asked again after a problem, in milliseconds
 */

/** @typedef {ReturnType<typeof createStore>} Store */
/** @typedef {keyof Answers} Name */

const NOTHING_YET = { answer: null, problem: null, at: null, asker: null, retryAt: 0 };

/**
 * Asks for resources once however many sections want them, and tells all of these.
 * @param {{ session: Session, horizon: Choice }} who
 */
export function createStore({ session, horizon }) {
  /** @type {Map<Name, Known<any>>} */
  const known = new Map();
  /** @type {Map<Name, Set<(known: Known<any>) => void>>} */
  const watchers = new Map();
  /** @type {Map<Name, number>} the newest request of each: an older answer that comes after a newer one is dropped */
  const newest = new Map();

  /** @param {Name} name @param {Known<any>} next */
  function tell(name, next) {
    known.set(name, next);
    tellAll(watchers.get(name) ?? [], next);
  }

  /**
   * @template {Name} N
   * @param {N} name
   * @returns {Known<Answers[N]>}
   */
  function get(name) {
    return known.get(name) ?? NOTHING_YET;
  }

  /** What was asked before is void. @param {Name} name */
  function nextTurn(name) {
    const turn = (newest.get(name) ?? 0) + 1;
    newest.set(name, turn);
    return turn;
  }

  /** @param {Name} name */
  async function refresh(name) {
    const [turn, asker] = [nextTurn(name), session.current];
    const outcome = await answerOf(name, asker);
    const isRefused = asker !== null && outcome.problem?.code === 'UNAUTHENTICATED';
    // Only the session that has asked: it may have ended since, and another one begun.
    if (isRefused && session.current?.token === asker.token) session.end();
    if (newest.get(name) !== turn) return;
    if (isRefused) await refresh(name);
    else tell(name, outcome);
  }

  /** @param {Name} name @param {LoggedIn | null} asker @returns {Promise<Known<any>>} */
  async function answerOf(name, asker) {
    const days = horizon.value;
    try {
      const path = RESOURCES[name](days, (other) => get(other).answer);
      if (path === null) return { ...NOTHING_YET, problem: waitingFor(name) };
      const askAll = name === 'scorecard' ? askWholeScorecard : ask;
      const answer = await askAll(path, { token: asker?.token });
      if (OF_THE_HORIZON.includes(name) && answer.horizon !== `${days}d`) throw ofAnotherHorizon();
      return { ...NOTHING_YET, answer, at: new Date(), asker };
    } catch (error) {
      const problem = asProblem(error);
      return { ...get(name), problem, retryAt: Date.now() + 1_000 * (problem.retryAfterSeconds ?? 0) };
    }
  }

  /** Why there is nothing to ask for; null while what decides that is still coming. @param {Name} name */
  function waitingFor(name) {
    const other = DEPENDS_ON[name];
    if (other !== undefined && get(other).answer === null) return get(other).problem;
    return new Problem({ code: 'STEP_WAITING', detail: 'There is nothing yet' });
  }

  return {
    get,
    refresh,
    /** @param {readonly Name[]} names */
    async refreshAll(names) {
      const [first, after] = [names.filter((name) => !DEPENDS_ON[name]), names.filter((name) => DEPENDS_ON[name])];
      await Promise.all(first.map(refresh));
      await Promise.all(after.map(refresh));
    },
    /** What was asked for and is not there, or is old because of a problem. @returns {Name[]} */
    inTrouble() {
      return [...known].filter(([, { answer, problem }]) => answer === null || problem !== null).map(([name]) => name);
    },
    /** Forgets an answer that is no longer of what is chosen, and one that is still to come. @param {Name} name */
    forget(name) {
      nextTurn(name);
      tell(name, NOTHING_YET);
    },
    /**
     * Calls with what is known now, and at each change.
     * @template {Name} N
     * @param {N} name
     * @param {(known: Known<Answers[N]>) => void} watcher
     */
    watch(name, watcher) {
      if (!watchers.has(name)) watchers.set(name, new Set());
      watchers.get(name)?.add(watcher);
      tellAll([watcher], get(name));
    },
  };
}

function ofAnotherHorizon() {
  return new Problem({ code: 'UNEXPECTED', detail: 'The service answers of another horizon than was asked for' });
}

/** An answer that is not what it should be is a problem like others. @param {unknown} error */
function asProblem(error) {
  if (error instanceof Problem) return error;
  reportError(error);
  return new Problem({ code: 'UNEXPECTED', detail: 'What the service says is not as expected' });
}
