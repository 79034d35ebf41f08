import { byId } from './dom.ts';
import { onReveal } from './fragment-links.ts';

/**
 * Links that show one section each, by its address; a second click hides it. Hidden sections stay searchable (`hidden=until-found`).
 * @param onChange id of the section that is shown, if any
 */
export function mountTabs(onChange: (shown: string | null) => void) {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.tabs a')];
  const ids = links.map(getTarget);
  let shown: string | null = null;

  function show(id: string | null) {
    if (id === shown) return;
    shown = id;
    for (const link of links) link.setAttribute('aria-expanded', String(getTarget(link) === id));
    for (const one of ids) {
      if (one === id) byId(one).removeAttribute('hidden');
      else byId(one).setAttribute('hidden', 'until-found');
    }
    onChange(id);
  }
  function showSectionOf(element: Element | null) {
    const section = element?.closest('section');
    if (section && ids.includes(section.id)) show(section.id);
  }
  onReveal((id) => showSectionOf(document.getElementById(id)));
  document.addEventListener('beforematch', ({ target }) => showSectionOf(target as Element));
  byId('tabs').addEventListener('click', (event) => {
    const link = (event.target as Element).closest('a');
    if (link === null || getTarget(link) !== shown) return;
    event.preventDefault();
    show(null);
    history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  });
}

function getTarget(link: Element) {
  return (link.getAttribute('href') ?? '').slice(1);
}
