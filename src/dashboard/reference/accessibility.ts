/** Attributes that Swagger UI lacks, set whenever it has rendered. */
const FIXES: readonly (readonly [selector: string, attribute: string, value: string])[] = [
  // It is within the main content of the page.
  ['main', 'role', 'group'],
  ['main', 'aria-label', 'Operations'],
  ['.info .title', 'aria-level', '2'],
  ['h3', 'aria-level', '2'],
  ['h4', 'aria-level', '3'],
  ['h5', 'aria-level', '4'],
  ['pre.microlight', 'tabindex', '0'],
  ['#servers', 'aria-label', 'Server'],
  ['.examples-select-element', 'aria-label', 'Example'],
  ['.content-type', 'aria-label', 'Media type'],
  ['.parameters select, .parameters input', 'aria-label', 'Value'],
];

/** Names controls, and puts headings and landmarks in order, as far as attributes can. */
export function completeAccessibility(container: HTMLElement): void {
  let isScheduled = false;
  const apply = () => {
    isScheduled = false;
    for (const [selector, attribute, value] of FIXES)
      for (const element of container.querySelectorAll(selector)) element.setAttribute(attribute, value);
  };
  new MutationObserver(() => {
    if (!isScheduled) requestAnimationFrame(apply);
    isScheduled = true;
  }).observe(container, { childList: true, subtree: true });
}
