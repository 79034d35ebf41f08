import { el, type Markup } from '../markup.ts';
import { type AppView, VIEW_TITLES } from './app-views.ts';
import { renderErrorCard } from './cards/error-card.ts';
import { renderForecastCard } from './cards/forecast-card.ts';
import { renderRecordCard } from './cards/record-card.ts';
import { renderVerificationCard } from './cards/verification-card.ts';
import { type Fields, isFields } from './fields.ts';

const CARDS: Record<AppView, (answer: Fields, now: string) => Markup> = {
  forecast: renderForecastCard,
  record: renderRecordCard,
  verification: renderVerificationCard,
};

/** What a view shows for a tool result (MCP, `CallToolResult`). @param now ISO 8601, against which steps are done or due */
export function renderResult(view: AppView, result: Fields, now: string): Markup {
  if (result.isError === true || !isFields(result.structuredContent)) return renderErrorCard(view, result);
  return CARDS[view](result.structuredContent, now);
}

/** A line in place of a result. */
export function renderLine(view: AppView, text: string): Markup {
  return [el('h1', { tabindex: -1 }, VIEW_TITLES[view]), el('p', { class: 'quiet' }, text)];
}
