import { getSectionBody } from '../lib/dom.ts';
import { handleFragmentLinks } from '../lib/fragment-links.ts';
import { mountSafely } from '../lib/section.ts';
import { mountTabs } from '../lib/tabs.ts';
import { createHorizonSelection } from '../state/horizon-selection.ts';
import { primeStore, readInitialData } from '../state/initial-data.ts';
import type { Page } from '../state/page.ts';
import { createPoller } from '../state/poller.ts';
import { HORIZON_RESOURCES } from '../state/resources.ts';
import { createSession } from '../state/session.ts';
import { createStore } from '../state/store.ts';
import { HEADER_PARTS, PAGE_RESOURCES, SECTION_PARTS, TAB_PARTS } from './dashboard-parts.ts';

/** Resources whose content depends on the tier of the reader. */
const READER_RESOURCES = ['signal', 'scorecard', 'wagers', 'crowd'] as const;

/** Today's call and the record; the rest in tabs. */
export function mountDashboard() {
  const session = createSession();
  const horizon = createHorizonSelection();
  const store = createStore({ session, horizon });
  primeStore(store, readInitialData(), { session, horizon });
  const poller = createPoller(store);
  const page: Page = { store, session, horizon, poller };

  void store.show(PAGE_RESOURCES);
  for (const mount of HEADER_PARTS) mountSafely(() => mount(page));
  for (const [id, mount] of Object.entries(SECTION_PARTS)) mountSafely(() => mount(page), getSectionBody(id));
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

/** Mounts the content of a tab when it is first shown, and has its resources refreshed while it is. */
function createTabMounting(page: Page) {
  const mounted = new Set<string>();
  return (id: string | null) => {
    const tab = id === null ? undefined : TAB_PARTS[id];
    if (id !== null && tab !== undefined && !mounted.has(id)) {
      mounted.add(id);
      mountSafely(() => tab.mount(page), getSectionBody(id));
    }
    void page.store.show([...PAGE_RESOURCES, ...(tab?.resources ?? [])]);
  };
}
