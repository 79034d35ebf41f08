import { h } from '../lib/dom.js';

/** @import { Child } from '../lib/dom.js' */

/** Bubbling event that opens the login dialog. */
export const UNLOCK_EVENT = 'oracle-unlock';

/** Opens the login dialog. @param {Child | readonly Child[]} [label] */
export function createUnlockButton(label = 'Unlock with your wallet') {
  const open = (/** @type {Event} */ { currentTarget }) => currentTarget?.dispatchEvent(new Event(UNLOCK_EVENT, { bubbles: true }));
  return h('button', { type: 'button', class: 'primary', 'aria-haspopup': 'dialog', onclick: open }, label);
}
