import { h, replaceChildren } from '../lib/dom.ts';
import { formatAccessProblem, type WantedKey } from './owner.ts';

const EXPIRIES = [
  { days: '30', label: '30 days' },
  { days: '90', label: '90 days' },
  { days: '365', label: 'a year' },
  { days: '', label: 'when I revoke it' },
];

/** Makes a key and shows it once. @param onMade called after each */
export function createKeyForm(makeKey: (key: WantedKey) => Promise<{ key: string }>, onMade: () => Promise<void>) {
  const [status, made] = [h('p', { role: 'status' }), h('div', { 'aria-live': 'polite' })];
  const name = h('input', { name: 'label', required: true, maxlength: 60, autocomplete: 'off' });
  const onsubmit = (event: Event) => {
    event.preventDefault();
    void make(event.currentTarget as HTMLFormElement);
  };
  const form = h('form', { class: 'access-form', onsubmit }, [
    h('label', {}, 'Name', name),
    h(
      'label',
      {},
      'Tier',
      h('select', { name: 'tier' }, h('option', { value: 'basic' }, 'Basic'), h('option', { value: 'premium' }, 'Premium')),
    ),
    h(
      'label',
      {},
      'Ends after',
      h(
        'select',
        { name: 'expiresInDays' },
        EXPIRIES.map(({ days, label }) => h('option', { value: days, selected: days === '90' }, label)),
      ),
    ),
    h('button', { type: 'submit', class: 'primary' }, 'Make a key'),
  ]);

  async function make(sent: HTMLFormElement) {
    const { label, tier, expiresInDays } = Object.fromEntries(new FormData(sent)) as Record<string, string>;
    status.textContent = 'Sign in the wallet: the text names the key.';
    status.classList.remove('bad');
    try {
      const body = { label: label!.trim(), tier: tier!, ...(expiresInDays === '' ? {} : { expiresInDays: Number(expiresInDays) }) };
      const { key } = await makeKey(body);
      status.textContent = '';
      sent.reset();
      replaceChildren(made, renderMadeKey(key));
      made.querySelector('input')?.select();
      await onMade();
    } catch (error) {
      status.textContent = formatAccessProblem(error);
      status.classList.add('bad');
    }
  }

  return h('section', { 'aria-labelledby': 'make-title' }, h('h2', { id: 'make-title' }, 'Make a key for a bot'), form, status, made);
}

function renderMadeKey(key: string) {
  const field = h('input', { id: 'made-key', readonly: true, value: key, spellcheck: 'false', autocomplete: 'off' });
  const copied = h('span', { role: 'status' });
  const copy = async () => {
    field.select();
    const isCopied = await navigator.clipboard?.writeText(key).then(
      () => true,
      () => false,
    );
    copied.textContent = isCopied ? 'Copied' : 'Selected: press Ctrl+C or ⌘C';
  };
  const example = `export ORACLE_TOKEN=${key}\ncurl -H "Authorization: Bearer $ORACLE_TOKEN" ${new URL('api/svc/oracle', document.baseURI).href}`;
  return h('div', { class: 'made-key' }, [
    h('p', {}, h('label', { for: 'made-key' }, 'Your key. It is shown this once: store it now.')),
    h('p', { class: 'access-choice' }, field, h('button', { type: 'button', onclick: () => void copy() }, 'Copy'), copied),
    h('pre', { tabindex: 0, 'aria-label': 'Use of the key' }, h('code', {}, example)),
  ]);
}
