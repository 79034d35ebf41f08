import { h, replaceChildren, s } from './dom.ts';

/** Also read by the inline script of each page, before the first paint. */
const THEME_STORAGE_KEY = 'oracle-theme';

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

/** Button that switches between the theme of the system, light and dark. */
export function mountTheme() {
  const place = document.getElementById('theme');
  if (place === null) return;
  let theme = getTheme();
  const next = () => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  const button = h('button', { type: 'button', class: 'theme', onclick: () => choose(next()) });
  function draw() {
    const label = `Theme: ${theme}`;
    button.setAttribute('aria-label', label);
    button.title = label;
    replaceChildren(button, renderIcon(theme));
  }
  function choose(chosen: Theme) {
    theme = chosen;
    const { dataset } = document.documentElement;
    if (theme === 'auto') delete dataset.theme;
    else dataset.theme = theme;
    storeTheme(theme);
    draw();
  }
  draw();
  replaceChildren(place, button);
}

function getTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === 'light' || theme === 'dark' ? theme : 'auto';
}

/** Without storage the choice lasts as long as the page. */
function storeTheme(theme: Theme) {
  try {
    if (theme === 'auto') localStorage.removeItem(THEME_STORAGE_KEY);
    else localStorage.setItem(THEME_STORAGE_KEY, theme);
  } catch {}
}

/** A disc that is half, not, or wholly filled. */
function renderIcon(theme: Theme) {
  const fill = { auto: 'M10 3a7 7 0 0 1 0 14z', light: '', dark: 'M10 3a7 7 0 0 1 0 14a7 7 0 0 1 0-14z' }[theme];
  return s('svg', { width: 20, height: 20, viewBox: '0 0 20 20', 'aria-hidden': 'true' }, [
    s('circle', { cx: 10, cy: 10, r: 7, fill: 'none', stroke: 'currentColor', 'stroke-width': 2 }),
    fill === '' ? null : s('path', { d: fill, fill: 'currentColor' }),
  ]);
}
