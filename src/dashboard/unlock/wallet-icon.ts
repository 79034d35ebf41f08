import { h } from '../lib/dom.ts';
import type { Wallet } from './wallets.ts';

export function renderWalletIcon({ icon, name }: Pick<Wallet, 'icon' | 'name'>) {
  if (icon === null) return h('span', { class: 'no-icon', 'aria-hidden': 'true' }, name.slice(0, 1));
  return h('img', { src: icon, alt: '', width: 28, height: 28 });
}
