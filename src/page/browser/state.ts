import { MINUTE_MS } from '../../forecast/day.ts';
import { DEFAULT_HORIZON_DAYS, type InitialData, SELECTABLE_HORIZONS } from '../first-screen.ts';
import { ApiProblem, type LoginSession, notifyAll, requestApi, type Session } from './api.ts';
import type { ApiResponses, HealthReport, StartupStatus } from './responses.ts';

/** What every part of the page is mounted with. */
export interface Page {
  store: Store;
  session: Session;
  horizon: HorizonSelection;
  poller: Poller;
}

/** The chosen horizon in days, kept in the URL of the page. */

const HORIZON_PARAMETER = 'horizon';

type HorizonSelection = ReturnType<typeof createHorizonSelection>;

export function createHorizonSelection() {
  const listeners = new Set<() => void>();
  const named = Number(new URLSearchParams(location.search).get(HORIZON_PARAMETER)?.replace(/d$/, ''));
  let value = SELECTABLE_HORIZONS.includes(named) ? named : DEFAULT_HORIZON_DAYS;
  return {
    get value() {
      return value;
    },
    set(next: number) {
      value = next;
      const url = new URL(location.href);
      url.searchParams.set(HORIZON_PARAMETER, String(next));
      history.replaceState(null, '', url);
      notifyAll(listeners, undefined);
    },
    onChange(listener: () => void) {
      listeners.add(listener);
    },
  };
}

export interface ServiceHealth {
  state: 'up' | 'starting' | 'offline';
  detail: string;
  setup: StartupStatus | null;
  uptimeSeconds: number;
  /** Resources other than `health` are served; before that they return 503. */
  isOpen: boolean;
}

/** Change with the record. */
const RECORD_RESOURCES: readonly Name[] = ['signal', 'range', 'scorecard', 'series', 'wagers', 'crowd'];
const ALL_RESOURCES: readonly Name[] = ['info', 'stats', 'price', 'feeds', ...RECORD_RESOURCES];
/** Filled during a replay. */
const REPLAY_RESOURCES: readonly Name[] = ['signal', 'range', 'scorecard', 'series'];
const MINUTE_RESOURCES: readonly Name[] = ['stats', 'price'];

/** `health` is not rate limited; other resources are. */
const POLL_INTERVAL_MS = { up: 15_000, starting: 1_000, offline: 2_000 };
const REPLAY_REFRESH_MS = 6_000;
/** Maximum age of resources that change independently of the record. */
const MAX_AGE_MS: readonly (readonly [Name, number])[] = [['feeds', 5 * MINUTE_MS]];

type Poller = ReturnType<typeof createPoller>;

/** Polls the health of the service and refreshes resources that changed; all of them after an outage. */
export function createPoller(store: Store) {
  const listeners = new Set<(health: ServiceHealth) => void>();
  let health: ServiceHealth = { state: 'offline', detail: 'connecting', setup: null, uptimeSeconds: 0, isOpen: false };
  // The service was down or has restarted since the last full refresh, possibly while the page was hidden.
  let wasUnavailable = true;
  let filledAt = 0;
  let minuteAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function poll() {
    clearTimeout(timer);
    try {
      await pollOnce();
    } catch (error) {
      reportError(error);
    } finally {
      // Polling continues after any error.
      clearTimeout(timer);
      timer = setTimeout(poll, POLL_INTERVAL_MS[health.state]);
    }
  }

  async function pollOnce() {
    const before = health;
    health = await fetchHealth();
    if (health.state !== 'up' || health.uptimeSeconds < before.uptimeSeconds) wasUnavailable = true;
    notifyAll(listeners, health);
    // A hidden page does not refresh.
    if (!document.hidden) await refreshStale();
  }

  async function refreshStale() {
    const now = Date.now();
    if (health.state === 'up' && wasUnavailable) {
      wasUnavailable = false;
      filledAt = minuteAt = now;
      await store.refreshAll(listUnprimed(now));
    } else if (health.state === 'starting' && health.isOpen && now - filledAt >= REPLAY_REFRESH_MS) {
      const first = filledAt === 0;
      filledAt = now;
      await store.refreshAll(first ? ALL_RESOURCES : REPLAY_RESOURCES);
    } else if (health.state === 'up' && now - minuteAt >= MINUTE_MS) {
      minuteAt = now;
      await refreshEachMinute(now);
    } else if (health.state === 'up') {
      // The service answers again.
      await store.refreshAll(store.inTrouble().filter((name) => store.get(name).problem?.code === 'UNREACHABLE'));
    }
  }

  /** All but what came with the page just now, which the next minute requests. */
  function listUnprimed(now: number) {
    const fresh = store.listPrimed().filter((name) => now - (store.get(name).at?.getTime() ?? 0) < MINUTE_MS);
    return ALL_RESOURCES.filter((name) => !fresh.includes(name));
  }

  /** A changed attestation count means that the record has changed. */
  async function refreshEachMinute(now: number) {
    const { answer: before } = store.get('stats');
    const names = new Set([...MINUTE_RESOURCES, ...store.inTrouble(), ...store.listPrimed(), ...listStale(now)]);
    // Respects Retry-After.
    await store.refreshAll([...names].filter((name) => store.get(name).retryAt <= now));
    const { answer: after } = store.get('stats');
    if (before?.totalAttestations !== after?.totalAttestations) await store.refreshAll([...RECORD_RESOURCES, 'feeds']);
  }

  function listStale(now: number) {
    return MAX_AGE_MS.filter(([name, ms]) => now - (store.get(name).at?.getTime() ?? now) >= ms).map(([name]) => name);
  }

  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void poll();
  });

  return {
    start: poll,
    /** Refreshes the resources that change with the record. */
    recordMoved: () => store.refreshAll(['stats', ...RECORD_RESOURCES]),
    /** @param listener called after each poll */
    onLook(listener: (health: ServiceHealth) => void) {
      listeners.add(listener);
    },
  };
}

/** `health` always returns 200; browsers log other statuses as errors. */
async function fetchHealth(): Promise<ServiceHealth> {
  try {
    const health = await requestApi<HealthReport>('health');
    const { status, setup } = health;
    const uptimeSeconds = health.status === 'ok' ? health.uptimeSeconds : 0;
    if (setup === null) return { state: 'up', detail: 'up to date', setup, uptimeSeconds, isOpen: true };
    return { state: 'starting', detail: setup.what, setup, uptimeSeconds, isOpen: status === 'ok' };
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    return { state: 'offline', detail: error.message, setup: null, uptimeSeconds: 0, isOpen: false };
  }
}

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
  const wholeNeeded = new Set<Name>();

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
      const path = RESOURCE_PATHS[name](days, get('scorecard').answer);
      if (path === null) return { ...EMPTY_STATE, problem: explainWaiting(name) };
      const token = requestedBy?.token;
      // With the newest rows only, `nextCursor` is null when they are all.
      const request = wholeNeeded.has(name)
        ? requestAllPages(name as keyof typeof PAGED, path, token)
        : requestApi<{ horizon?: string }>(name === 'scorecard' ? `${path}&limit=${FIRST_ROWS}` : path, { token });
      const answer = await request;
      if (HORIZON_RESOURCES.includes(name) && answer.horizon !== `${days}d`)
        throw new ApiProblem({ code: 'UNEXPECTED', detail: 'The service returned another horizon than requested' });
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
    /** From now on it has all rows of the record; the first screen needs the newest only. */
    needWhole(name: keyof typeof PAGED = 'scorecard') {
      if (wholeNeeded.has(name)) return;
      wholeNeeded.add(name);
      const { answer } = get(name);
      if (answer === null || isPartial(answer)) void refresh(name);
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

function toProblem(error: unknown) {
  if (error instanceof ApiProblem) return error;
  reportError(error);
  return new ApiProblem({ code: 'UNEXPECTED', detail: 'The response of the service is invalid' });
}

type Scorecard = ApiResponses['scorecard'];

/** Rows that the page shows first and checks, with their neighbours. */
const FIRST_ROWS = 40;
const PAGE_ROWS = 1_000;

/** Resources whose first page has the newest rows only, and the member of its answer that has them. */
const PAGED = { scorecard: 'predictions', series: 'points' } as const;

/** All pages of a resource, for charts and shares of the whole record. @throws {ApiProblem} */
async function requestAllPages(name: keyof typeof PAGED, path: string, token: string | undefined) {
  const paged = `${path}&limit=${PAGE_ROWS}`;
  type Paged = Pick<Scorecard, 'nextCursor'> & { horizon?: string } & Record<string, unknown>;
  const newest = await requestApi<Paged>(paged, { token });
  const rows = [...(newest[PAGED[name]] as unknown[])];
  let cursor = newest.nextCursor;
  while (cursor) {
    const page: Paged = await requestApi(`${paged}&before=${cursor}`, { token });
    rows.push(...(page[PAGED[name]] as unknown[]));
    cursor = page.nextCursor === cursor ? null : page.nextCursor;
  }
  return { ...newest, [PAGED[name]]: rows, ...('count' in newest && { count: rows.length }), nextCursor: null };
}

/** Whether rows of the record are missing. */
export function isPartial({ nextCursor }: Pick<Scorecard, 'nextCursor'>): boolean {
  return nextCursor !== null && nextCursor !== undefined;
}

/** URL of each resource by horizon in days; null when it cannot exist yet. */
export const RESOURCE_PATHS: Record<Name, (horizonDays: number, scorecard: Scorecard | null) => string | null> = {
  info: () => 'api/svc/info',
  // Without a forecast the service would return an error.
  signal: (days, scorecard) => (scorecard?.predictions.length ? `api/svc/open/signal?horizon=${days}d` : null),
  range: (_, scorecard) => (scorecard?.predictions.length ? 'api/svc/open/range?horizons=all' : null),
  scorecard: (days) => `api/svc/scorecard?horizon=${days}`,
  series: (days) => `api/svc/scorecard/series?horizon=${days}`,
  stats: () => 'api/svc/onchain-oracle/stats?horizons=all',
  price: () => 'api/btc-price',
  crowd: () => 'api/svc/crowd-vs-oracle',
  wagers: () => 'api/svc/wagers',
  feeds: () => 'api/cache/stats',
};

/** Resources that are requested after the one that they depend on. */
const DEPENDS_ON: Partial<Record<Name, Name>> = { signal: 'scorecard', range: 'scorecard' };

/** Resources whose answers name their horizon. */
export const HORIZON_RESOURCES: readonly Name[] = ['signal', 'scorecard', 'series'];

/** What the server has drawn the page from. Null while it starts, and in a document that is none of this service's. */
export function readInitialData(): InitialData | null {
  const text = document.getElementById('initial')?.textContent;
  return text ? (JSON.parse(text) as InitialData) : null;
}
