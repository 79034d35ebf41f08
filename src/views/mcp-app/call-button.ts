import { el, type Markup, type MarkupElement } from '../markup.ts';
import { type AppView, VIEW_TOOLS } from './app-views.ts';

/** A button that calls the tool of a view through the host. */
export function renderCallButton(view: AppView, label: Markup, input: Readonly<Record<string, string>>): MarkupElement {
  return el('button', { type: 'button', 'data-view': view, 'data-tool': VIEW_TOOLS[view], 'data-input': JSON.stringify(input) }, label);
}

/** A button that returns to what was shown before. */
export function renderBackButton(): MarkupElement {
  return el('button', { type: 'button', class: 'back' }, '← Back');
}

/** One button a horizon, except the one that is shown. @param horizons such as `7d` */
export function renderHorizonButtons(view: AppView, horizons: readonly string[], shown: string): MarkupElement[] {
  return horizons.filter((one) => one !== shown).map((one) => renderCallButton(view, formatHorizon(one), { horizon: one }));
}

/** `7 days` for `7d`. */
export function formatHorizon(horizon: string): string {
  const days = /^(\d+)d$/.exec(horizon)?.[1];
  if (days === undefined) return horizon;
  return days === '1' ? '1 day' : `${days} days`;
}
