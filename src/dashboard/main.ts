import type { PageKind } from '../views/page-kind.ts';
import { mountTheme } from './header/theme.ts';
import { localizeTimes } from './lib/local-time.ts';
import { mountDashboard } from './pages/dashboard.ts';
import { mountForecast } from './pages/forecast.ts';
import { mountReference } from './pages/reference.ts';
import { mountWidgetBuilder } from './pages/widget.ts';

/** What each kind of page mounts into the document that the server has written; one with a script of its own does not load this one. */
const PAGES: Record<Exclude<PageKind, 'access' | 'consent'>, () => void> = {
  dashboard: mountDashboard,
  document: () => {},
  forecast: mountForecast,
  forecasts: () => {},
  widget: mountWidgetBuilder,
  reference: mountReference,
};

document.getElementById('script-note')?.remove();
mountTheme();
localizeTimes();
PAGES[document.body.dataset.page as keyof typeof PAGES]();
