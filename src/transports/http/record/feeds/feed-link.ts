import { IDENTITY } from '../../../../../agent-card/identity.ts';
import { el, type Markup } from '../../../../views/markup.ts';
import { FEED_MEDIA_TYPE, FEED_PATH } from './feed-paths.ts';

/** By which feed readers find the feed of a page; relative to the base of the page. */
export function renderFeedLink(): Markup {
  return el('link', { rel: 'alternate', type: FEED_MEDIA_TYPE, title: IDENTITY.name, href: FEED_PATH.slice(1) });
}
