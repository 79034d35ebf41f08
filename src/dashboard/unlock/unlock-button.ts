import { type Children, h } from '../lib/dom.ts';

/** Bubbling event that opens the login dialog. */
export const UNLOCK_EVENT = 'oracle-unlock';

/** Opens the login dialog. */
export function createUnlockButton(label: Children = 'Unlock with your wallet') {
  const open = ({ currentTarget }: Event) => currentTarget?.dispatchEvent(new Event(UNLOCK_EVENT, { bubbles: true }));
  return h('button', { type: 'button', class: 'primary', 'aria-haspopup': 'dialog', onclick: open }, label);
}
