/**
 * Handles links to fragments of this page. They resolve against the base URL, which differs from the page URL once a horizon is chosen, so
 * browsers would reload the page and lose its state.
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

/** Moves the focus as well, for keyboard navigation. */
function scrollToElement(place: HTMLElement) {
  if (place.tabIndex < 0) place.tabIndex = -1;
  place.focus({ preventScroll: true });
  place.scrollIntoView();
}
