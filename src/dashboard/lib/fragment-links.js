/**
 * Follows links to places of this very page. They are relative to the base of the page, which is another address than the page's as soon as
 * a horizon is chosen: browsers would load it anew, and what was chosen and checked would be gone.
 */
export function handleFragmentLinks() {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    const other = event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    const fragment = link?.getAttribute('href') ?? '';
    const place = document.getElementById(fragment.slice(1));
    if (other || place === null) return;
    event.preventDefault();
    scrollToElement(place);
    history.replaceState(history.state, '', `${location.pathname}${location.search}${fragment}`);
  });
}

/** Keys go on from there. @param {HTMLElement} place */
function scrollToElement(place) {
  if (place.tabIndex < 0) place.tabIndex = -1;
  place.focus({ preventScroll: true });
  place.scrollIntoView();
}
