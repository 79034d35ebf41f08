import { formatForecastTitle, renderForecast } from '../../../../views/forecast/forecast-body.ts';
import { type ForecastFacts, formatForecastPath } from '../../../../views/forecast/forecast-facts.ts';
import { describeForecast, STATE_LABELS } from '../../../../views/forecast/forecast-state.ts';
import { el, type Markup } from '../../../../views/markup.ts';
import { renderOembedLink } from '../../widget/oembed-link.ts';
import { getForecastPreviewPath } from '../preview/forecast-card.ts';
import { renderPreviewTags } from '../preview/preview-tags.ts';
import { renderPage } from '../shell.ts';

/** The document of one forecast. Its head holds no value that is hidden: it is made of the same facts. */
export function renderForecastPage(publicUrl: string, facts: ForecastFacts): string {
  const path = formatForecastPath(facts.date, facts.horizonDays);
  const title = formatForecastTitle(facts);
  const description = describeForecast(facts);
  const head = [
    renderPreviewTags(publicUrl, {
      path,
      type: 'article',
      title: `${title}: ${STATE_LABELS[facts.state].toLowerCase()}`,
      description: facts.isSimulated ? `${description} Simulated market.` : description,
      image: { path: getForecastPreviewPath(facts), alt: `${title}. ${description}` },
    }),
    renderOrderLinks(publicUrl, facts),
    renderOembedLink(publicUrl, path),
  ];
  return renderPage(publicUrl, { title, description, path, kind: 'forecast', head, body: renderForecast(facts), footer: renderFooter() });
}

function renderOrderLinks(publicUrl: string, { previousDate, nextDate, horizonDays }: ForecastFacts): Markup {
  const links = [
    { rel: 'prev', date: previousDate },
    { rel: 'next', date: nextDate },
  ];
  return links.map(({ rel, date }) => date !== null && el('link', { rel, href: `${publicUrl}/${formatForecastPath(date, horizonDays)}` }));
}

export function renderFooter(): Markup {
  return el('p', {}, [
    'Not financial advice. One outcome says little: ',
    el('a', { href: './' }, 'the whole record'),
    ', ',
    el('a', { href: 'methodology.md' }, 'the method'),
    '.',
  ]);
}
