import { h, replaceChildren } from '../lib/dom.ts';
import { formatUtcTime } from '../lib/format.ts';
import { renderTable } from '../lib/table.ts';
import type { AccessReply } from '../state/responses.ts';
import { type AccessOwner, formatAccessProblem } from './owner.ts';

type Entry = AccessReply['access'][number];

const KINDS = { key: 'API key', application: 'Application' } as const;

/** What the wallet has granted, each with a button that revokes it. */
export function createAccessList(owner: AccessOwner) {
  const [table, status] = [h('div', {}), h('p', { role: 'status' })];
  const confirmation = createConfirmation();

  function say(message: string, isProblem = false) {
    status.textContent = message;
    status.classList.toggle('bad', isProblem);
  }

  async function refresh() {
    const { access } = await owner.list();
    replaceChildren(table, access.length === 0 ? h('p', {}, 'This wallet has granted no access.') : renderEntries(access, revoke));
  }

  async function revoke(entry: Entry) {
    if (!(await confirmation.ask(entry))) return;
    say('Revoking…');
    try {
      await owner.revoke(entry.id);
      await refresh();
      say(`${entry.name}, made ${formatUtcTime(entry.createdAt)}: revoked.`);
    } catch (error) {
      say(formatAccessProblem(error), true);
    }
  }

  return {
    element: h('div', {}, table, status, confirmation.element),
    /** Shows a failure in place of the list. */
    async show() {
      try {
        await refresh();
      } catch (error) {
        say(formatAccessProblem(error), true);
      }
    },
  };
}

function renderEntries(entries: readonly Entry[], onRevoke: (entry: Entry) => Promise<void>) {
  const revokeButton = (entry: Entry) =>
    h(
      'button',
      { type: 'button', 'aria-label': `Revoke ${entry.name}`, 'aria-haspopup': 'dialog', onclick: () => void onRevoke(entry) },
      'Revoke',
    );
  return renderTable({
    caption: 'Access that this wallet has granted',
    rows: entries,
    columns: [
      { heading: 'Name', cell: ({ name }) => name },
      // Beside the name, so that it is in sight on a phone.
      { heading: 'Revoke', cell: revokeButton },
      { heading: 'Kind', cell: ({ kind }) => KINDS[kind] },
      { heading: 'Tier', cell: ({ tier }) => (tier === 'premium' ? 'Premium' : 'Basic') },
      { heading: 'Made', cell: ({ createdAt }) => formatUtcTime(createdAt) },
      { heading: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : formatUtcTime(lastUsedAt)) },
      { heading: 'Ends', cell: ({ expiresAt }) => (expiresAt === null ? 'when you revoke it' : formatUtcTime(expiresAt)) },
    ],
  });
}

/** A dialog that asks before access is revoked. */
function createConfirmation() {
  const text = h('p', {});
  const close = (answer: string) => () => element.close(answer);
  const element = h('dialog', { 'aria-labelledby': 'revoke-title' }, [
    h('h2', { id: 'revoke-title' }, 'Revoke this access?'),
    text,
    h('div', { class: 'access-choice' }, [
      h('button', { type: 'button', class: 'primary', onclick: close('revoke') }, 'Revoke access'),
      h('button', { type: 'button', onclick: close('keep') }, 'Keep it'),
    ]),
  ]);
  return {
    element,
    ask({ name, kind, createdAt }: Entry): Promise<boolean> {
      text.textContent = `${KINDS[kind]}: ${name}, made ${formatUtcTime(createdAt)}. It is rejected from then on. This cannot be undone.`;
      element.returnValue = 'keep';
      element.showModal();
      return new Promise((resolve) => element.addEventListener('close', () => resolve(element.returnValue === 'revoke'), { once: true }));
    },
  };
}
