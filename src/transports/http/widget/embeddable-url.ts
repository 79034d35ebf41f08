import { z } from 'zod';
import { DEFAULT_WIDGET, type WidgetOptions } from '../../../views/widget/options.ts';
import { signalDaysInput } from '../server/parsing/parameters.ts';
import { sizeInput, themeInput } from './parameters.ts';

const OPTIONS = z.object({ horizon: signalDaysInput, theme: themeInput, size: sizeInput });

const FORECAST_PATH = /^f\/\d{4}-\d\d-\d\d\/([1237]d)$/;

/** The card that stands for a page of this service; null for any other address. */
export function parseEmbeddableUrl(publicUrl: string, text: string): WidgetOptions | null {
  const base = `${publicUrl.replace(/\/+$/, '')}/`;
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return null;
  const address = `${url.origin}${url.pathname}`;
  if (`${address}/` === base) return DEFAULT_WIDGET;
  if (!address.startsWith(base)) return null;
  const path = address.slice(base.length).replace(/\/$/, '');
  const forecast = FORECAST_PATH.exec(path);
  if (forecast !== null) return parseOptions({ horizon: forecast[1] });
  const { searchParams } = url;
  // The dashboard selects a horizon by its query, too.
  if (path === '' || path === 'widget') return parseOptions(Object.fromEntries(searchParams));
  return null;
}

function parseOptions(fields: Record<string, string>): WidgetOptions | null {
  const { success, data } = OPTIONS.safeParse(fields);
  return success ? { horizonDays: data.horizon, theme: data.theme, size: data.size } : null;
}
