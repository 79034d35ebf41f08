import { ApiProblem, requestApi } from './api.ts';
import { isPartial, requestFullScorecard, requestNewestRows } from './full-scorecard.ts';
import type { HorizonSelection } from './horizon-selection.ts';
import { notifyAll } from './notify.ts';
import { DEPENDS_ON, HORIZON_RESOURCES, RESOURCE_PATHS } from './resources.ts';
import type { ApiResponses } from './responses.ts';
import type { LoginSession, Session } from './session.ts';

/**
 * State of a resource. A failed refresh keeps the last answer and adds the problem. `at`, `requestedBy`: time and session of the answer.
 */
export interface ResourceState<T> {
  answer: T | null;
  problem: ApiProblem | null;
  at: Date | null;
  requestedBy: LoginSession | null;
  /** Earliest retry, in epoch milliseconds. */
  retryAt: number;
}

export type Store = ReturnType<typeof createStore>;
type Name = keyof ApiResponses;

const EMPTY_STATE = { answer: null, problem: null, at: null, requestedBy: null, retryAt: 0 };

/** Fetches each resource once and notifies all watching sections. */
export function createStore({ session, horizon }: { session: Session; horizon: HorizonSelection }) {
  const known = new Map<Name, ResourceState<unknown>>();
  const listeners = new Map<Name, Set<(known: ResourceState<never>) => void>>();
  /** Generation by resource; answers of earlier generations are dropped. */
  const newest = new Map<Name, number>();
  /** Answers that came with the page. */
  const primed = new Set<Name>();
  /** Null: every resource. */
  let shown: ReadonlySet<Name> | null = null;
  /** To be refreshed once they are shown. */
  const due = new Set<Name>();
  /** Whether the scorecard is requested with all rows. */
  let isWholeNeeded = false;

  function setState(name: Name, next: ResourceState<unknown>) {
    primed.delete(name);
    known.set(name, next);
    notifyAll(listeners.get(name) ?? [], next as ResourceState<never>);
  }

  function get<N extends Name>(name: N): ResourceState<ApiResponses[N]> {
    return (known.get(name) ?? EMPTY_STATE) as ResourceState<ApiResponses[N]>;
  }

  /** Invalidates requests in flight. */
  function nextGeneration(name: Name) {
    const generation = (newest.get(name) ?? 0) + 1;
    newest.set(name, generation);
    return generation;
  }

  async function refresh(name: Name) {
    due.delete(name);
    const [generation, requestedBy] = [nextGeneration(name), session.current];
    const outcome = await fetchResource(name, requestedBy);
    const isRefused = requestedBy !== null && outcome.problem?.code === 'UNAUTHENTICATED';
    // Ends only the session that made the request; another one may have begun since.
    if (isRefused && session.current?.token === requestedBy.token) session.end();
    if (newest.get(name) !== generation) return;
    if (isRefused) await refresh(name);
    else setState(name, outcome);
  }

  async function fetchResource(name: Name, requestedBy: LoginSession | null): Promise<ResourceState<unknown>> {
    const days = horizon.value;
    try {
      const path = RESOURCE_PATHS[name](days, (other) => get(other).answer);
      if (path === null) return { ...EMPTY_STATE, problem: explainWaiting(name) };
      const request = name === 'scorecard' ? (isWholeNeeded ? requestFullScorecard : requestNewestRows) : requestApi;
      const answer = await request<{ horizon?: string }>(path, { token: requestedBy?.token });
      if (HORIZON_RESOURCES.includes(name) && answer.horizon !== `${days}d`) throw otherHorizonProblem();
      return { ...EMPTY_STATE, answer, at: new Date(), requestedBy };
    } catch (error) {
      const problem = toProblem(error);
      return { ...get(name), problem, retryAt: Date.now() + 1_000 * (problem.retryAfterSeconds ?? 0) };
    }
  }

  /** The problem is that of the resource that it depends on; nothing was requested. */
  function isInherited(name: Name) {
    const { problem } = get(name);
    const other = DEPENDS_ON[name];
    return problem !== null && other !== undefined && get(other).problem === problem;
  }

  /** Null while the deciding resource is still loading. */
  function explainWaiting(name: Name) {
    const other = DEPENDS_ON[name];
    if (other !== undefined && get(other).answer === null) return get(other).problem;
    return new ApiProblem({ code: 'STEP_WAITING', detail: 'Nothing yet' });
  }

  function watch<N extends Name>(name: N, listener: (known: ResourceState<ApiResponses[N]>) => void) {
    if (!listeners.has(name)) listeners.set(name, new Set());
    listeners.get(name)?.add(listener);
    notifyAll([listener], get(name));
  }

  return {
    get,
    refresh,
    /** Refreshes those that are shown now, and the others when they are shown. */
    async refreshAll(names: readonly Name[]) {
      for (const name of names) due.add(name);
      const wanted = names.filter((name) => shown?.has(name) ?? true);
      await Promise.all(wanted.filter((name) => !DEPENDS_ON[name]).map(refresh));
      await Promise.all(wanted.filter((name) => DEPENDS_ON[name]).map(refresh));
    },
    /** From now on only these are refreshed; what has changed of them in the meantime is refreshed at once. */
    async show(names: readonly Name[]) {
      shown = new Set(names);
      await Promise.all(names.filter((name) => due.has(name)).map(refresh));
    },
    /** From now on the scorecard has all rows of the record; the first screen needs the newest only. */
    needWholeRecord() {
      if (isWholeNeeded) return;
      isWholeNeeded = true;
      const { answer } = get('scorecard');
      if (answer === null || isPartial(answer)) void refresh('scorecard');
    },
    /** Requests that failed last, among all that were answered. */
    countFailing() {
      const answered = [...known].filter(([name, { answer, problem }]) => (answer ?? problem) !== null && !isInherited(name));
      const failing = answered.filter(([, { problem }]) => problem !== null && problem.code !== 'STEP_WAITING');
      return { failing: failing.length, of: answered.length };
    },
    /** Resources without an answer, or with a problem. */
    inTrouble(): Name[] {
      return [...known].filter(([, { answer, problem }]) => answer === null || problem !== null).map(([name]) => name);
    },
    /** Drops the answer and any request in flight. */
    forget(name: Name) {
      nextGeneration(name);
      setState(name, EMPTY_STATE);
    },
    /** Takes an answer that came with the page, which a reader without a session would get. */
    prime<N extends Name>(name: N, answer: ApiResponses[N]) {
      setState(name, { ...EMPTY_STATE, answer, at: new Date() });
      primed.add(name);
    },
    /** Names of answers that came with the page, and were not requested since. */
    listPrimed: (): Name[] => [...primed],
    /** Calls the listener now and on every change. */
    watch,
    /** The answer, once it is there. @throws ApiProblem of a request that failed before */
    whenAnswered<N extends Name>(name: N): Promise<ApiResponses[N]> {
      return new Promise((resolve, reject) => {
        watch(name, function settle({ answer, problem }) {
          if (answer === null && problem === null) return;
          listeners.get(name)?.delete(settle);
          if (answer !== null) resolve(answer);
          else reject(problem);
        });
      });
    },
  };
}

function otherHorizonProblem() {
  return new ApiProblem({ code: 'UNEXPECTED', detail: 'The service returned another horizon than requested' });
}

function toProblem(error: unknown) {
  if (error instanceof ApiProblem) return error;
  reportError(error);
  return new ApiProblem({ code: 'UNEXPECTED', detail: 'The response of the service is invalid' });
}
