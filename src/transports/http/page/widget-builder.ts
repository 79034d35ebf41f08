import { el } from '../../../views/markup.ts';
import { renderBuilder, type WidgetChoice } from '../../../views/widget/builder.ts';
import { buildWidgetQuery } from '../../../views/widget/options.ts';
import { renderOembedLink } from '../widget/oembed-link.ts';
import { PAGE_HEADERS, renderPage } from './shell.ts';

/** Without a script, choices are sent as a form to this page. */
export const WIDGET_BUILDER_HEADERS = {
  ...PAGE_HEADERS,
  'Content-Security-Policy': PAGE_HEADERS['Content-Security-Policy'].replace("form-action 'none'", "form-action 'self'"),
};

export function renderWidgetBuilderPage(publicUrl: string, choice: WidgetChoice): string {
  return renderPage(publicUrl, {
    title: 'Embed the forecast',
    path: 'widget',
    kind: 'widget',
    head: renderOembedLink(publicUrl, `widget?${buildWidgetQuery(choice)}`),
    body: el('main', { id: 'main', tabindex: -1 }, renderBuilder(`${publicUrl.replace(/\/+$/, '')}/`, choice)),
  });
}
