import { type Fields, readFields, readText } from '../../views/mcp-app/fields.ts';

/** Variables of the host that the style sheet uses. */
const COLORS = ['--color-background-primary', '--color-text-primary', '--color-text-secondary', '--color-border-primary'];
const OTHERS = ['--font-sans', '--border-radius-md'];

/** Applies theme and style variables of a host, of which a change brings some. Without a theme, that of the browser applies. */
export function applyHostContext(context: Fields): void {
  const root = document.documentElement;
  const theme = readText(context.theme);
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  const variables = readFields(readFields(context.styles).variables);
  // Some colours of a host beside others of this view could be illegible.
  const names = COLORS.every((name) => readText(variables[name]) !== '') ? [...COLORS, ...OTHERS] : OTHERS;
  for (const name of names) if (readText(variables[name]) !== '') root.style.setProperty(name, readText(variables[name]));
}
