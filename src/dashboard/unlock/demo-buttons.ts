import { h, replaceChildren } from '../lib/dom.ts';
import { formatTier } from '../lib/format-text.ts';
import type { Page } from '../state/page.ts';
import type { ApiResponses } from '../state/responses.ts';
import { isSameAccount } from './login.ts';

/** Bubbling `CustomEvent` with the role to view the page as. */
export const VIEW_AS_EVENT = 'oracle-view-as';

export type ViewRole = (typeof VIEW_ROLES)[number];

const VIEW_ROLES = ['public', 'basic', 'premium', 'buyer'] as const;
const BUYER_STORAGE_KEY = 'oracle-demo-buyer';

type Viewer = Pick<Page, 'store' | 'session'>;

/** Buttons that view the page as one of the demo wallets; for services with a local chain. */
export function createDemoButtons({ store, session }: Viewer) {
  const element = h('div', { class: 'demo', role: 'group', 'aria-label': 'View as: demo wallets of a local chain' });
  const buttons = VIEW_ROLES.map((role) => {
    const choose = () => element.dispatchEvent(new CustomEvent(VIEW_AS_EVENT, { bubbles: true, detail: role }));
    return { role, button: h('button', { type: 'button', onclick: choose }, formatTier(role)) };
  });
  replaceChildren(
    element,
    renderLabel(),
    buttons.map(({ button }) => button),
  );
  const draw = () => {
    const info = store.get('info').answer;
    if (!info?.demo) return;
    const active = getViewRole(session, info);
    for (const { role, button } of buttons) button.setAttribute('aria-pressed', String(role === active));
  };
  store.watch('info', draw);
  session.onChange(draw);
  // After the handler, which stores the choice of a role without a session.
  document.addEventListener(VIEW_AS_EVENT, () => queueMicrotask(draw));
  return element;
}

/** Null for a wallet of the reader's own. */
export function getViewRole({ current }: Viewer['session'], { demo }: Pick<ApiResponses['info'], 'demo'>): ViewRole | null {
  if (current !== null) return demo?.wallets.find(({ address }) => isSameAccount(address, current.wallet))?.role ?? null;
  return sessionStorage.getItem(BUYER_STORAGE_KEY) === null ? 'public' : 'buyer';
}

/** The buyer has no session: the page is the public one, with a wallet that can pay. */
export function setBuyerView(isBuyer: boolean) {
  if (isBuyer) sessionStorage.setItem(BUYER_STORAGE_KEY, 'yes');
  else sessionStorage.removeItem(BUYER_STORAGE_KEY);
}

function renderLabel() {
  const about = 'Demo wallets of a local chain, whose tokens and money have no value';
  return h('span', { title: about }, 'Demo wallets, local chain: view as');
}
