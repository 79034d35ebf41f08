import { renderPreview, type WidgetChoice } from '../../views/widget/builder.ts';
import { buildEmbedLine } from '../../views/widget/embed-line.ts';
import { buildWidgetQuery, EMBED_KINDS, parseWidgetOptions } from '../../views/widget/options.ts';
import { byId } from '../lib/dom.ts';
import { toNodes } from '../lib/markup-dom.ts';

/** The builder updates at each choice, which without a script takes a request. */
export function mountWidgetBuilder() {
  const form = byId('widget-form') as HTMLFormElement;
  byId('widget-show').hidden = true;
  byId('widget-copy').hidden = false;
  byId('widget-copy').addEventListener('click', () => void copyLine());
  form.addEventListener('change', () => showChoice(form.dataset.base!, readChoice(form)));
  form.addEventListener('submit', (event) => event.preventDefault());
  document.querySelector('.skip')?.addEventListener('click', skipToMain);
  // Browsers restore the fields of a page that they return to, and not what followed from them.
  showChoice(form.dataset.base!, readChoice(form));
}

/** The link leads to the page without its query, which would drop the choices. */
function skipToMain(event: Event) {
  event.preventDefault();
  byId('main').focus();
}

function readChoice(form: HTMLFormElement): WidgetChoice {
  const data = new FormData(form);
  return {
    ...parseWidgetOptions((name) => String(data.get(name))),
    kind: EMBED_KINDS.find((kind) => kind === data.get('kind')) ?? EMBED_KINDS[0],
  };
}

function showChoice(base: string, choice: WidgetChoice) {
  const preview = byId('widget-preview');
  const next = renderPreview(choice);
  if (preview.firstElementChild?.getAttribute('src') !== next.attributes.src) {
    preview.replaceChildren(...toNodes(next));
  }
  const line = byId('widget-line') as HTMLTextAreaElement;
  const text = buildEmbedLine(base, choice.kind, choice);
  if (line.value === text) return;
  line.value = text;
  byId('widget-copied').textContent = '';
  history.replaceState(null, '', `widget?${buildWidgetQuery(choice)}&kind=${choice.kind}`);
}

/** The clipboard API needs a secure context and permission; without them the line is selected for the reader's own copy command. */
async function copyLine() {
  const line = byId('widget-line') as HTMLTextAreaElement;
  const status = byId('widget-copied');
  status.textContent = '';
  line.select();
  const isCopied = await navigator.clipboard?.writeText(line.value).then(
    () => true,
    () => false,
  );
  status.textContent = isCopied ? 'Copied' : 'Selected: press Ctrl+C or ⌘C';
}
