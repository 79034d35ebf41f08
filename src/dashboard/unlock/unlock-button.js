import { h } from '../lib/dom.js';

/** @import { Child } from '../lib/dom.js' */

/** What asks for the dialog that a reader logs in with; it bubbles, and carries who asked. */
export const UNLOCK_EVENT = 'oracle-unlock';

/**
 * Opens the dialog to log in, from wherever on the page something is locked.
 * @param {Child | readonly Child[]} [words]
 */
export function createUnlockButton(words = 'Unlock with your wallet') {
  const open = (/** @type {Event} */ { currentTarget }) => currentTarget?.dispatchEvent(new Event(UNLOCK_EVENT, { bubbles: true }));
  return h('button', { type: 'button', class: 'primary', 'aria-haspopup': 'dialog', onclick: open }, words);
}
