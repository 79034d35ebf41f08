import { byId } from '../lib/dom.ts';
import { completeAccessibility } from '../reference/accessibility.ts';
import { followTheme } from '../reference/theme.ts';
import { startViewer } from '../reference/viewer.ts';

/** The API reference: Swagger UI, and a filter of its operations. */
export function mountReference() {
  const form = byId('reference-filter') as HTMLFormElement;
  const count = byId('reference-count');
  followTheme();
  completeAccessibility(byId('reference'));
  const url = new URL('.well-known/openapi.json', document.baseURI).href;
  removeBase();
  const viewer = startViewer(byId('reference'), url, applyFilter);
  form.addEventListener('input', applyFilter);
  form.addEventListener('submit', (event) => event.preventDefault());

  function applyFilter() {
    const { tag, access, text } = Object.fromEntries(new FormData(form)) as Record<string, string>;
    const wanted = { tag, access, text: text.trim() };
    byId('main').toggleAttribute('data-filtered', Object.values(wanted).join('') !== '');
    viewer.filter(wanted);
    const shown = viewer.count();
    count.textContent = shown === 1 ? '1 operation' : `${shown} operations`;
  }
}

/** Swagger UI writes `#...` into the address for a link to an operation, which a base would lead to the first page. */
function removeBase() {
  for (const link of document.links) link.setAttribute('href', link.href);
  for (const image of document.images) image.setAttribute('src', image.src);
  document.querySelector('base')?.remove();
}
