import type { PageKind } from '../views/page-kind.ts';
import { mountTheme } from './header/theme.ts';
import { localizeTimes } from './lib/local-time.ts';
import { mountConsent } from './pages/consent.ts';
import { mountDashboard } from './pages/dashboard.ts';
import { mountForecast } from './pages/forecast.ts';
import { mountReference } from './pages/reference.ts';
import { mountWidgetBuilder } from './pages/widget.ts';

/** What each kind of page mounts into the document that the server has written. */
const PAGES: Record<PageKind, () => void> = {
  consent: mountConsent,
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
PAGES[document.body.dataset.page as PageKind]();
