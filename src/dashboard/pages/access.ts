import { createAccessList } from '../access/access-list.ts';
import { createKeyForm } from '../access/key-form.ts';
import type { AccessOwner } from '../access/owner.ts';
import { mountSignIn } from '../access/sign-in.ts';
import { mountTheme } from '../header/theme.ts';
import { byId, h, replaceChildren } from '../lib/dom.ts';
import { shortenHex } from '../lib/format.ts';

/** What a wallet has granted, and keys for its bots: a script of its own, so that the dashboard does not load it. */
mountTheme();
byId('script-note').remove();
mountSignIn(byId('access'), showAccess);

function showAccess(owner: AccessOwner) {
  const list = createAccessList(owner);
  const wallet = h('p', {}, 'Wallet ', h('code', { title: owner.wallet }, shortenHex(owner.wallet)));
  const lacksTokens =
    'This wallet holds too few gate tokens for a login. It can see and end what it has granted: each asks for a signature.';
  const form = owner.makeKey ? createKeyForm(owner.makeKey, list.show) : h('p', { class: 'notice' }, lacksTokens);
  replaceChildren(byId('access'), wallet, h('section', { 'aria-label': 'Access' }, list.element), form);
  void list.show();
}
