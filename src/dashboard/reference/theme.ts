/** Swagger UI is dark below this class, which nothing else sets in the layout of this page. */
const DARK_CLASS = 'dark-mode';

/** Keeps the theme of Swagger UI equal to that of the page: the chosen one, else that of the system. */
export function followTheme(): void {
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => root.classList.toggle(DARK_CLASS, root.dataset.theme === undefined ? system.matches : root.dataset.theme === 'dark');
  apply();
  system.addEventListener('change', apply);
  new MutationObserver(apply).observe(root, { attributeFilter: ['data-theme'] });
}
