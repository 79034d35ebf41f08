import { type Children, h } from '../lib/dom.ts';

/** Bubbling event that opens the dialog in which the newest call is bought. */
export const BUY_EVENT = 'oracle-buy';

/** Opens the dialog that sells the newest call of the chosen horizon. */
export function createBuyButton(label: Children = 'Buy this call') {
  const open = ({ currentTarget }: Event) => currentTarget?.dispatchEvent(new Event(BUY_EVENT, { bubbles: true }));
  return h('button', { type: 'button', 'aria-haspopup': 'dialog', onclick: open }, label);
}
