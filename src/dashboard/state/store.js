import { ApiProblem, requestApi } from './api.js';
import { requestFullScorecard } from './full-scorecard.js';
import { notifyAll } from './notify.js';
import { DEPENDS_ON, HORIZON_RESOURCES, RESOURCE_PATHS } from './resources.js';

/** @import { ApiResponses } from './responses.ts' */
/** @import { LoginSession, Session } from './session.js' */
/** @import { HorizonSelection } from './horizon-selection.js' */

/**
 * State of a resource. A failed refresh keeps the last answer and adds the problem.
 * @template T
 * @typedef {{ answer: T | null, problem: ApiProblem | null, at: Date | null, requestedBy: LoginSession | null, retryAt: number }}
 * ResourceState `at`, `requestedBy`: time and session of the answer; `retryAt`: earliest retry, in epoch milliseconds
 */

/** @typedef {ReturnType<typeof createStore>} Store */
/** @typedef {keyof ApiResponses} Name */

const EMPTY_STATE = { answer: null, problem: null, at: null, requestedBy: null, retryAt: 0 };

/** Fetches each resource once and notifies all watching sections. @param {{ session: Session, horizon: HorizonSelection }} who */
export function createStore({ session, horizon }) {
  /** @type {Map<Name, ResourceState<any>>} */
  const known = new Map();
  /** @type {Map<Name, Set<(known: ResourceState<any>) => void>>} */
  const listeners = new Map();
  /** @type {Map<Name, number>} generation by resource; answers of earlier generations are dropped */
  const newest = new Map();

  /** @param {Name} name @param {ResourceState<any>} next */
  function setState(name, next) {
    known.set(name, next);
    notifyAll(listeners.get(name) ?? [], next);
  }

  /** @template {Name} N @param {N} name @returns {ResourceState<ApiResponses[N]>} */
  function get(name) {
    return known.get(name) ?? EMPTY_STATE;
  }

  /** Invalidates requests in flight. @param {Name} name */
  function nextGeneration(name) {
    const generation = (newest.get(name) ?? 0) + 1;
    newest.set(name, generation);
    return generation;
  }

  /** @param {Name} name */
  async function refresh(name) {
    const [generation, requestedBy] = [nextGeneration(name), session.current];
    const outcome = await fetchResource(name, requestedBy);
    const isRefused = requestedBy !== null && outcome.problem?.code === 'UNAUTHENTICATED';
    // Ends only the session that made the request; another one may have begun since.
    if (isRefused && session.current?.token === requestedBy.token) session.end();
    if (newest.get(name) !== generation) return;
    if (isRefused) await refresh(name);
    else setState(name, outcome);
  }

  /** @param {Name} name @param {LoginSession | null} requestedBy @returns {Promise<ResourceState<any>>} */
  async function fetchResource(name, requestedBy) {
    const days = horizon.value;
    try {
      const path = RESOURCE_PATHS[name](days, (other) => get(other).answer);
      if (path === null) return { ...EMPTY_STATE, problem: explainWaiting(name) };
      const request = name === 'scorecard' ? requestFullScorecard : requestApi;
      const answer = await request(path, { token: requestedBy?.token });
      if (HORIZON_RESOURCES.includes(name) && answer.horizon !== `${days}d`) throw otherHorizonProblem();
      return { ...EMPTY_STATE, answer, at: new Date(), requestedBy };
    } catch (error) {
      const problem = toProblem(error);
      return { ...get(name), problem, retryAt: Date.now() + 1_000 * (problem.retryAfterSeconds ?? 0) };
    }
  }

  /** Null while the deciding resource is still loading. @param {Name} name */
  function explainWaiting(name) {
    const other = DEPENDS_ON[name];
    if (other !== undefined && get(other).answer === null) return get(other).problem;
    return new ApiProblem({ code: 'STEP_WAITING', detail: 'Nothing yet' });
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
    /** Resources without an answer, or with a problem. @returns {Name[]} */
    inTrouble() {
      return [...known].filter(([, { answer, problem }]) => answer === null || problem !== null).map(([name]) => name);
    },
    /** Drops the answer and any request in flight. @param {Name} name */
    forget(name) {
      nextGeneration(name);
      setState(name, EMPTY_STATE);
    },
    /**
     * Calls the listener now and on every change.
     * @template {Name} N @param {N} name @param {(known: ResourceState<ApiResponses[N]>) => void} listener
     */
    watch(name, listener) {
      if (!listeners.has(name)) listeners.set(name, new Set());
      listeners.get(name)?.add(listener);
      notifyAll([listener], get(name));
    },
  };
}

function otherHorizonProblem() {
  return new ApiProblem({ code: 'UNEXPECTED', detail: 'The service returned another horizon than requested' });
}

/** @param {unknown} error */
function toProblem(error) {
  if (error instanceof ApiProblem) return error;
  reportError(error);
  return new ApiProblem({ code: 'UNEXPECTED', detail: 'The response of the service is invalid' });
}
