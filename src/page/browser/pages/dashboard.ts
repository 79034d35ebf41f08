import { type InitialData, renderOriginMark } from '../../first-screen.ts';
import { el, formatCount, formatDate, type Markup } from '../../markup.ts';
import { ApiProblem, createSession, type LoginSession, watchLimitWait } from '../api.ts';
import { BUY_EVENT, createBuyDialog, createUnlockDialog } from '../buy.ts';
import { byId, createRelativeTime, createTime, formatTier, formatUtcTime, getSectionBody, shortenHex, startTimeUpdates } from '../dom.ts';
import { renderAccuracy } from '../parts/accuracy.ts';
import { renderCrowd } from '../parts/crowd.ts';
import { mountEvents } from '../parts/events.ts';
import { mountFeeds } from '../parts/feeds.ts';
import { mountMove } from '../parts/move.ts';
import { mountPrice } from '../parts/price.ts';
import { renderRegimes } from '../parts/regimes.ts';
import { renderCalibration, renderScores } from '../parts/skill.ts';
import { renderWagers } from '../parts/wagers.ts';
import { mountAttestations } from '../record.ts';
import type { ApiResponses } from '../responses.ts';
import { handleFragmentLinks, onReveal } from '../section.ts';
import {
  createHorizonSelection,
  createPoller,
  createStore,
  HORIZON_RESOURCES,
  type Page,
  RESOURCE_PATHS,
  readInitialData,
  type ServiceHealth,
} from '../state.ts';
import { mountToday } from '../today.ts';
import {
  attemptLogin,
  createDialogButton,
  endSession,
  isSameAccount,
  logInAsDemo,
  logInByWallet,
  UNLOCK_EVENT,
  type WalletWatch,
  watchWallet,
} from '../unlock.ts';
import { draw, mountResource, mountWholeRecord, runSafely } from '../view.ts';

/** Time before expiry from which a session can be renewed. */
const RENEWABLE_BEFORE_MS = 5 * 60_000;

/** Login button, or wallet, tier, remaining time and logout of the session. */
function mountAccount(page: Page) {
  const { session, store } = page;
  const place = byId('account');
  let notice = '';
  const showNotice = (message: string) => {
    notice = message;
    redraw();
  };
  const focusNotice = () => place.querySelector<HTMLElement>('.account-notice')?.focus();
  const wallets = watchWallet({ onAccounts: (accounts) => onAccountsChanged(accounts) });
  const leave = (message: string) => {
    wallets.forget();
    logOut(session, message, showNotice);
    focusNotice();
  };

  function onAccountsChanged(accounts: readonly string[]) {
    const { current } = session;
    if (current !== null && !accounts.includes(current.wallet.toLowerCase())) leave('The wallet switched accounts: logged out.');
  }

  const onLoggedIn = (next: LoginSession) => {
    showNotice('Logged in.');
    session.set(next);
  };
  const dialog = createUnlockDialog({ wallets, onLoggedIn, fallback: focusNotice, getInfo: () => store.get('info').answer });
  const buying = createBuyDialog(page, wallets, showNotice);
  document.body.append(dialog.element, buying.element);
  document.addEventListener(UNLOCK_EVENT, dialog.open);
  document.addEventListener(BUY_EVENT, () => {
    dialog.close();
    buying.open();
  });
  const viewAs = createViewAs({ session, say: showNotice, leave: () => leave('Logged out.'), buy: buying.open });
  mountDemoButtons(page, viewAs);
  const renewByWallet = createRenewal({ session, wallets, say: showNotice, openDialog: dialog.open });
  const renew = () => {
    const info = store.get('info').answer;
    const role = info && wallets.used === null ? getViewRole(session, info) : null;
    return role === 'basic' || role === 'premium' ? viewAs(role) : renewByWallet();
  };
  function redraw() {
    const { current } = session;
    const hadFocus = place.contains(document.activeElement);
    const content =
      current === null
        ? createDialogButton('Unlock', UNLOCK_EVENT, 'primary')
        : renderSession(current, { renew, leave: () => leave('Logged out.') });
    draw(place, el('div', { class: 'account' }, content), el('p', { class: 'account-notice', role: 'status', tabindex: -1 }, notice));
    // Focus must not move to a button with another function.
    if (hadFocus && !place.contains(document.activeElement)) focusNotice();
  }
  session.onChange(() => {
    if (session.hasEnded) notice = 'The session has ended. Unlock again to continue.';
    redraw();
  });
  session.onRenewal(redraw);
  redraw();
  watchTokenExpiry(session, redraw);
  buying.resume();
  if (location.hash === '#unlock' && session.current === null) store.whenAnswered('info').then(dialog.open, dialog.open);
}

type ViewRole = (typeof VIEW_ROLES)[number];

const VIEW_ROLES = ['public', 'basic', 'premium', 'buyer'] as const;
const BUYER_STORAGE_KEY = 'oracle-demo-buyer';

type Viewer = Pick<Page, 'store' | 'session'>;

/** Buttons that view the page as one of the demo wallets; for services with a local chain. */
function mountDemoButtons({ store, session }: Viewer, viewAs: (role: ViewRole) => Promise<void>) {
  const place = document.getElementById('demo');
  if (place === null) return;
  const about = 'Demo wallets of a local chain, whose tokens and money have no value';
  const redraw = () => {
    const info = store.get('info').answer;
    const active = info?.demo && getViewRole(session, info);
    const buttons = VIEW_ROLES.map((role) => {
      const onclick = () => {
        void viewAs(role);
        redraw();
      };
      return el('button', { type: 'button', 'aria-pressed': info?.demo && String(role === active), onclick }, formatTier(role));
    });
    const label = el('span', { title: about }, 'Demo wallets, local chain: view as');
    draw(place, el('div', { class: 'demo', role: 'group', 'aria-label': 'View as: demo wallets of a local chain' }, label, buttons));
  };
  store.watch('info', redraw);
  session.onChange(redraw);
}

/** Null for a wallet of the reader's own. */
function getViewRole({ current }: Viewer['session'], { demo }: Pick<ApiResponses['info'], 'demo'>): ViewRole | null {
  if (current !== null) return demo?.wallets.find(({ address }) => isSameAccount(address, current.wallet))?.role ?? null;
  return sessionStorage.getItem(BUYER_STORAGE_KEY) === null ? 'public' : 'buyer';
}

/** Logs the demo wallet of a role in, or out for a role without a session. The last choice counts. */
function createViewAs(options: { session: Page['session']; say: (message: string) => void; leave: () => void; buy: () => void }) {
  const { session, say, leave, buy } = options;
  let chosen = 0;
  return async (role: ViewRole) => {
    const ownChoice = ++chosen;
    const before = session.current;
    setBuyerView(role === 'buyer');
    if (role === 'public' || role === 'buyer') {
      if (before !== null) leave();
      if (role === 'buyer') buy();
      return;
    }
    await attemptLogin({
      login: () => logInAsDemo(role),
      counts: () => ownChoice === chosen,
      say,
      onDone(next) {
        say(`Viewing as ${formatTier(role)}.`);
        session.set(next);
        if (before !== null) endSession(before).catch(() => undefined);
      },
    });
  };
}

/** The buyer has no session: the page is the public one, with a wallet that can pay. */
function setBuyerView(isBuyer: boolean) {
  if (isBuyer) sessionStorage.setItem(BUYER_STORAGE_KEY, 'yes');
  else sessionStorage.removeItem(BUYER_STORAGE_KEY);
}

/** Renews the session with the same account; open elements of the page stay open. */
export function createRenewal(options: {
  session: Page['session'];
  wallets: Pick<WalletWatch, 'used'>;
  say: (message: string) => void;
  openDialog: () => void;
}) {
  const { session, wallets, say: showNotice, openDialog } = options;
  return async () => {
    const { current } = session;
    const wallet = wallets.used;
    if (wallet === null) return openDialog();
    await attemptLogin({
      login: (sayStage) => logInByWallet(wallet, sayStage, current?.wallet),
      // The reader may have logged out in the meantime.
      counts: () => session.current === current || session.hasEnded,
      say: showNotice,
      onDone(next) {
        showNotice(isSameAccount(next.wallet, current?.wallet) ? 'Renewed.' : 'Logged in.');
        session.set(next);
      },
    });
  };
}

/** Logs out locally first, whether or not the service answers. */
function logOut(session: Page['session'], message: string, showNotice: (message: string) => void) {
  const { current } = session;
  if (current === null) return;
  showNotice(message);
  session.set(null);
  endSession(current).catch((error) => {
    if (!(error instanceof ApiProblem)) throw error;
    // The session has already ended at the service.
    if (error.code === 'UNAUTHENTICATED') return;
    showNotice(`${message} The service could not be reached; the token expires at ${formatUtcTime(current.expiresAt)}.`);
  });
}

function renderSession({ wallet, tier, expiresAt }: LoginSession, { renew, leave }: { renew: () => void; leave: () => void }) {
  const endsSoon = Date.parse(expiresAt) - Date.now() <= RENEWABLE_BEFORE_MS;
  return [
    el('span', { class: 'tier' }, formatTier(tier)),
    el('span', { title: wallet }, shortenHex(wallet)),
    el('span', { class: 'quiet' }, 'expires ', createRelativeTime(expiresAt)),
    endsSoon && el('button', { key: 'renew', type: 'button', onclick: renew }, 'Renew'),
    el('button', { key: 'leave', type: 'button', onclick: leave }, 'Log out'),
  ];
}

/** Clears the session when its token expires, and redraws when it becomes renewable. */
function watchTokenExpiry(session: Page['session'], onEndNear: () => void) {
  let timers: ReturnType<typeof setTimeout>[] = [];
  const arm = (current: LoginSession | null) => {
    timers.forEach(clearTimeout);
    if (current === null) return;
    const left = Date.parse(current.expiresAt) - Date.now();
    timers = [setTimeout(session.end, Math.max(0, left)), setTimeout(onEndNear, Math.max(0, left - RENEWABLE_BEFORE_MS))];
  };
  session.onChange(arm);
  session.onRenewal(arm);
  arm(session.current);
}

type DataOrigin = NonNullable<ReturnType<typeof getDataOrigin>>;

/** Line about the data: simulated, recorded or live, replayed or stale; the rest is in a disclosure. The server has written its mark. */
function mountOrigin({ store }: Page) {
  const place = byId('origin');
  const redraw = () => {
    const origin = getDataOrigin(store);
    if (origin === null) return;
    const { kind, staleSince: since } = origin;
    place.dataset.kind = kind;
    const mark = renderOriginMark(kind, { isStale: since !== null });
    const more = describeOrigin(origin);
    const stale = since === null ? [] : [kind === 'csv' ? 'The files end at ' : 'The newest price is stale: ', createTime(since), '.'];
    const isAll = more.length + stale.length === 0;
    const text = el('p', { class: 'origin-more' }, more.join(' '), ' ', stale);
    draw(place, isAll ? el('p', { class: 'origin-mark' }, mark) : el('details', {}, el('summary', { class: 'origin-mark' }, mark), text));
  };
  for (const name of ['info', 'price', 'scorecard'] as const) store.watch(name, redraw);
}

/** @returns null before `info` is loaded */
function getDataOrigin(store: Page['store']) {
  const { answer: info } = store.get('info');
  const { answer: price } = store.get('price');
  if (info === null) return null;
  const { kind, source } = info.data;
  // Rows are sorted newest first.
  const { answer: scorecard } = store.get('scorecard');
  const replayed = scorecard?.predictions.find((row) => row.replayed);
  // Only a demo replays days, which may be older than the newest rows.
  if (scorecard !== null && replayed === undefined && info.demo) store.needWhole();
  return { kind, source, replayedThrough: replayed?.date ?? null, staleSince: price?.stale ? price.timestamp : null };
}

/** Sentences on where the prices come from, which days were replayed, and what it is worth. */
function describeOrigin({ kind, source, replayedThrough: through }: DataOrigin): string[] {
  const replayed = through && `Days up to ${formatDate(through)} were replayed at the first start of this demo`;
  if (kind === 'simulated') {
    // `seed 2` from `simulated (seed 2)`.
    const seed = /seed \S+?(?=\))/.exec(source)?.[0] ?? 'a seed';
    const worth = 'It shows nothing about performance on the real market.';
    return [`Prices and quotes are generated from ${seed}.`, ...(replayed ? [`${replayed}.`] : []), worth];
  }
  return [
    ...(kind === 'csv' ? [`Prices come from recorded files (${source}), not from the current market.`] : []),
    ...(replayed ? [`${replayed}: their forecasts were not made on those dates.`] : []),
  ];
}

type ConnectionState = ServiceHealth['state'] | 'failing' | 'limited';

/** Connection status: of the service, and of the requests of this page. Screen readers announce changes only. */
function mountConnection({ poller, store }: Page) {
  const element = byId('connection');
  let health: ServiceHealth['state'] | null = null;
  let lostAt: string | null = null;
  let limitedUntil: string | null = null;
  function redraw() {
    const count = store.countFailing();
    const working = limitedUntil !== null ? 'limited' : count.failing > 0 ? 'failing' : 'up';
    const state: ConnectionState | null = health === 'up' ? working : health;
    if (state !== null) element.dataset.state = state;
    const label = el('span', { class: 'connection-label' }, state === null ? 'Connecting…' : renderState(state, count));
    draw(element, el('span', { class: 'dot', 'aria-hidden': 'true' }), label);
  }
  function renderState(state: ConnectionState, { failing, of }: { failing: number; of: number }): Markup {
    if (state === 'up') return 'Connected';
    if (state === 'starting') return 'Starting up';
    if (state === 'limited') return ['Limit of requests reached; goes on at ', createTime(limitedUntil, 'clock')];
    if (state === 'failing') return `Service has errors: ${failing} of ${of} requests fail`;
    return ['Offline since ', createTime(lostAt, 'clock'), '. Showing earlier data; reconnecting'];
  }
  startTimeUpdates();
  poller.onLook(({ state }) => {
    lostAt = state === 'offline' ? (lostAt ?? new Date().toISOString()) : null;
    health = state;
    redraw();
  });
  watchLimitWait((until) => {
    limitedUntil = until?.toISOString() ?? null;
    redraw();
  });
  for (const name of Object.keys(RESOURCE_PATHS) as (keyof ApiResponses)[]) store.watch(name, redraw);
}

/** Startup progress. */
function mountStartup({ poller }: Page) {
  poller.onLook(({ state, setup }) => {
    if (state === 'up') draw(byId('setup'));
    if (state !== 'starting' || setup === null) return;
    const { what, done, total } = setup;
    const step = `${what.slice(0, 1).toUpperCase()}${what.slice(1)}`;
    const isCounted = done !== null && total !== null;
    // Indeterminate without a count.
    const bar = { id: 'setup-bar', ...(isCounted && total > 0 && { max: total, value: done }) };
    const panel = el('div', { class: 'setup' }, [
      el('label', { for: 'setup-bar' }, isCounted ? `${step}: ${formatCount(done)} of ${formatCount(total)}` : `${step}…`),
      el('progress', bar),
      el('p', { class: 'setup-note quiet' }, 'Sections fill as this progresses.'),
    ]);
    draw(byId('setup'), panel);
  });
}

/** Resources whose content depends on the tier of the reader. */
const READER_RESOURCES = ['signal', 'scorecard', 'wagers', 'crowd'] as const;

/** Today's call and the record; the rest in tabs. */
export function mountDashboard() {
  const session = createSession();
  const horizon = createHorizonSelection();
  const store = createStore({ session, horizon });
  primeStore({ store, session, horizon }, readInitialData());
  const poller = createPoller(store);
  const page: Page = { store, session, horizon, poller };

  void store.show(PAGE_RESOURCES);
  for (const mount of HEADER_PARTS) mountSafely(mount, page);
  for (const [id, mount] of Object.entries(SECTION_PARTS)) mountSafely(mount, page, getSectionBody(id));
  mountTabs(createTabMounting(page));

  // Responses depend on session and horizon. Answers of an ended session are dropped at once, even when the service does not answer; the
  // public call is dropped on login.
  session.onChange((current) => {
    for (const name of current === null ? READER_RESOURCES : (['signal'] as const)) store.forget(name);
    void store.refreshAll(READER_RESOURCES);
  });
  horizon.onChange(() => {
    for (const name of HORIZON_RESOURCES) store.forget(name);
    void store.refreshAll(HORIZON_RESOURCES);
  });
  poller.onLook(({ state }) => {
    document.body.toggleAttribute('data-starting', state === 'starting');
    document.body.toggleAttribute('data-offline', state === 'offline');
  });
  handleFragmentLinks();
  void poller.start();
}

/**
 * Links that show one section each, by its address; a second click hides it. Hidden sections stay searchable (`hidden=until-found`).
 * @param onChange id of the section that is shown, if any
 */
function mountTabs(onChange: (shown: string | null) => void) {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.tabs a[href^="#"]')];
  const ids = links.map(getTarget);
  let shown: string | null = null;

  function show(id: string | null) {
    if (id === shown) return;
    shown = id;
    for (const link of links) link.setAttribute('aria-expanded', String(getTarget(link) === id));
    for (const one of ids) {
      if (one === id) byId(one).removeAttribute('hidden');
      else byId(one).setAttribute('hidden', 'until-found');
    }
    onChange(id);
  }
  function showSectionOf(element: Element | null) {
    const section = element?.closest('section');
    if (section && ids.includes(section.id)) show(section.id);
  }
  onReveal((id) => showSectionOf(document.getElementById(id)));
  document.addEventListener('beforematch', ({ target }) => showSectionOf(target as Element));
  byId('tabs').addEventListener('click', (event) => {
    const link = (event.target as Element).closest('a');
    if (link === null || getTarget(link) !== shown) return;
    event.preventDefault();
    show(null);
    history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  });
}

function getTarget(link: Element) {
  return (link.getAttribute('href') ?? '').slice(1);
}

/** The answers are whole responses of the API: with them the first screen needs no request. A reader with a session has another call. */
function primeStore({ store, session, horizon }: Omit<Page, 'poller'>, initial: InitialData | null) {
  if (initial === null) return;
  const { range, price, signals } = initial;
  const call = session.current === null ? signals[`${horizon.value}d`] : undefined;
  if (range !== null) store.prime('range', range as ApiResponses['range']);
  if (price !== null) store.prime('price', price as ApiResponses['price']);
  if (call !== undefined) store.prime('signal', call as ApiResponses['signal']);
}

/** Mounts the content of a tab when it is first shown, and has its resources refreshed while it is. */
function createTabMounting(page: Page) {
  const mounted = new Set<string>();
  return (id: string | null) => {
    const tab = id === null ? undefined : TAB_PARTS[id];
    if (id !== null && tab !== undefined && !mounted.has(id)) {
      mounted.add(id);
      mountSafely(tab.mount, page, getSectionBody(id));
    }
    void page.store.show([...PAGE_RESOURCES, ...(tab?.resources ?? [])]);
  };
}

/** A part that cannot be mounted says so in its section; the others are mounted. */
function mountSafely(mount: Mount, page: Page, body: HTMLElement = document.createElement('div')) {
  const failed = () => draw(body, el('p', { class: 'trouble' }, 'This part failed. Reload the page.'));
  runSafely(() => mount(page, body), failed);
}

type Mount = (page: Page, body: HTMLElement) => void;
type Draw<Name extends keyof ApiResponses> = (answer: ApiResponses[Name]) => Markup;

const mountDrawing =
  <Name extends keyof ApiResponses>(name: Name, draw: Draw<Name>): Mount =>
  ({ store }, body) =>
    mountResource({ store, name, body, draw });
const mountRecordDrawing =
  (draw: Draw<'scorecard'>): Mount =>
  ({ store }, body) =>
    mountWholeRecord({ store, body, draw });

const HEADER_PARTS = [mountConnection, mountAccount, mountOrigin, mountStartup];

/** By the id of the section. */
const SECTION_PARTS = {
  today: mountToday,
  size: mountMove,
  scores: ({ store }: Page, body: HTMLElement) =>
    mountResource({ store, name: 'series', body, draw: (series) => renderScores(series, () => store.needWhole('series')) }),
  attestations: mountAttestations,
};

/** Refreshed whatever is shown. */
const PAGE_RESOURCES: readonly (keyof ApiResponses)[] = ['info', 'stats', 'price', 'signal', 'range', 'scorecard', 'series'];

/** Mounted when they are first shown; their resources are refreshed while they are. */
const TAB_PARTS: Readonly<Record<string, { mount: Mount; resources: readonly (keyof ApiResponses)[] }>> = {
  price: { mount: mountPrice, resources: [] },
  regimes: { mount: mountRecordDrawing(renderRegimes), resources: [] },
  accuracy: { mount: mountRecordDrawing(renderAccuracy), resources: [] },
  calibration: { mount: mountRecordDrawing(renderCalibration), resources: [] },
  crowd: { mount: mountDrawing('crowd', renderCrowd), resources: ['crowd'] },
  wagers: { mount: mountDrawing('wagers', renderWagers), resources: ['wagers'] },
  events: { mount: mountEvents, resources: [] },
  feeds: { mount: mountFeeds, resources: ['feeds'] },
};
