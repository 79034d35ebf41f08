import type { PageKind } from '../markup.ts';
import { localizeTimes, mountTheme } from './dom.ts';
import { mountDashboard } from './pages/dashboard.ts';
import { mountForecast } from './pages/forecast.ts';
import { mountReference } from './pages/reference.ts';

/** What each kind of page mounts into the document that the server has written; one with a script of its own does not load this one. */
const PAGES: Record<Exclude<PageKind, 'access' | 'consent'>, () => void> = {
  dashboard: mountDashboard,
  document: () => {},
  forecast: mountForecast,
  forecasts: () => {},
  reference: mountReference,
};

document.getElementById('script-note')?.remove();
mountTheme();
localizeTimes();
PAGES[document.body.dataset.page as keyof typeof PAGES]();
