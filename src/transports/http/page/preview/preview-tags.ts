import { IDENTITY } from '../../../../../agent-card/identity.ts';
import { el, type Markup } from '../../../../views/markup.ts';
import { CARD_SIZE } from './card.ts';

export interface PagePreview {
  /** Of the page, without the base. */
  path: string;
  type: 'website' | 'article';
  title: string;
  description: string;
  image: { path: string; alt: string };
}

/** What other sites show of a link: Open Graph and Twitter card tags with absolute URLs. */
export function renderPreviewTags(publicUrl: string, { path, type, title, description, image }: PagePreview): Markup {
  const tags: [property: string, content: string | number][] = [
    ['og:type', type],
    ['og:site_name', IDENTITY.name],
    ['og:title', title],
    ['og:description', description],
    ['og:url', `${publicUrl}/${path}`],
    ['og:image', `${publicUrl}/${image.path}`],
    ['og:image:type', 'image/png'],
    ['og:image:width', CARD_SIZE.width],
    ['og:image:height', CARD_SIZE.height],
    ['og:image:alt', image.alt],
  ];
  return [
    tags.map(([property, content]) => el('meta', { property, content })),
    el('meta', { name: 'twitter:card', content: 'summary_large_image' }),
  ];
}

type PageSummary = Pick<PagePreview, 'path' | 'title' | 'description'>;

const DASHBOARD: PageSummary = { path: '', title: IDENTITY.name, description: IDENTITY.description };

/** Those of the dashboard, or of another page about the whole record. */
export function renderRecordTags(publicUrl: string, page: PageSummary = DASHBOARD): Markup {
  const image = { path: 'preview.png', alt: 'Hit rate of the 7-day forecasts with its 95 % interval' };
  return renderPreviewTags(publicUrl, { ...page, type: 'website', image });
}
