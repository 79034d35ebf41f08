import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import type { HttpDeps } from '../deps.ts';
import { readWidgetScript } from '../page/page-bundle.ts';
import { renderWidgetBuilderPage, WIDGET_BUILDER_HEADERS } from '../page/widget-builder.ts';
import { describeParameter } from '../server/parsing/describe-parameter.ts';
import { signalDaysInput } from '../server/parsing/parameters.ts';
import { buildStrongEtag } from '../server/replies/etag.ts';
import { createStaticReply } from '../server/replies/static-reply.ts';
import { toTaggedReply } from '../server/replies/tagged-reply.ts';
import { type Route, route } from '../server/route.ts';
import { parseEmbeddableUrl } from './embeddable-url.ts';
import { buildOembed, OEMBED_CACHE_SECONDS } from './oembed.ts';
import { kindInput, sizeInput, themeInput } from './parameters.ts';
import { OEMBED } from './schemas.ts';

type EmbedDeps = Pick<HttpDeps, 'publicUrl'>;

const builderQuery = z.object({ horizon: signalDaysInput, theme: themeInput, size: sizeInput, kind: kindInput });

/** The page that writes the line to embed a card, the web component, and oEmbed. */
export function embedRoutes(deps: EmbedDeps): Route[] {
  return [buildBuilderRoute(deps), buildScriptRoute(), buildOembedRoute(deps)];
}

function buildBuilderRoute({ publicUrl }: EmbedDeps): Route {
  return route('GET /widget', 'getWidgetBuilder', {
    tag: 'service',
    summary: 'Page that writes the line to embed the card in other sites',
    query: builderQuery,
    reply: null,
    alternatives: { 'text/html': { description: 'The page.' } },
    handle: ({ query: { horizon, ...choice } }) => {
      const raw = renderWidgetBuilderPage(publicUrl, { horizonDays: horizon, ...choice });
      return { headers: { ...WIDGET_BUILDER_HEADERS, ETag: buildStrongEtag(raw) }, raw };
    },
  });
}

function buildScriptRoute(): Route {
  const script = createStaticReply(readWidgetScript, () => ({
    'Content-Type': 'text/javascript; charset=utf-8',
    'Cache-Control': `public, max-age=${3_600}`,
  }));
  return route('GET /widget.js', 'getWidgetScript', {
    tag: 'service',
    cost: 'free',
    summary: 'Web component that shows the card in pages of other sites',
    description: 'A module that defines `<bitcoin-signal-oracle horizon="7" theme="dark" size="medium">`.',
    reply: null,
    alternatives: { 'text/javascript': { description: 'The module.' } },
    handle: script,
  });
}

const MAX_PIXELS = 100_000;

const pixelsInput = (what: string) =>
  z
    .string({ error: `must be given once, as a whole number from 1 to ${MAX_PIXELS}` })
    .regex(/^\d{1,6}$/, `must be a whole number from 1 to ${MAX_PIXELS}`)
    .default(String(MAX_PIXELS))
    .transform(Number)
    .pipe(z.number().min(1, 'must be at least 1').max(MAX_PIXELS, `must be at most ${MAX_PIXELS}`))
    .meta(describeParameter({ type: 'integer', minimum: 1, maximum: MAX_PIXELS, default: MAX_PIXELS }, `Largest ${what} in pixels`));

/** Characters of RFC 3986, apart from the apostrophe. */
const ADDRESS = /^https?:\/\/[\w.:[\]-]{1,255}(?:[/?#][\w.~!$&()*+,;=:@%/?#-]{0,1024})?$/;

const oembedQuery = z.object({
  url: z
    .string({ error: 'must be given once, as an http or https URL' })
    .regex(ADDRESS, 'must be an http or https URL of at most 1,024 characters after its host')
    .describe('Address of the dashboard, of a forecast or of `/widget` with its query'),
  maxwidth: pixelsInput('width'),
  maxheight: pixelsInput('height'),
  format: z.enum(['json', 'xml'], { error: 'must be json or xml' }).default('json').describe('`json`; `xml` is answered with 501'),
});

function buildOembedRoute({ publicUrl }: EmbedDeps): Route {
  return route('GET /oembed', 'getOembed', {
    tag: 'service',
    summary: 'oEmbed 1.0: the card of a page of this service, for sites that embed addresses',
    query: oembedQuery,
    reply: OEMBED,
    errors: ['NOT_FOUND', 'NOT_IMPLEMENTED'],
    handle: ({ query: { url, format, ...max } }) => {
      // Section 2.3.5 of oEmbed 1.0 asks for these two statuses.
      if (format === 'xml') throw new OracleError('NOT_IMPLEMENTED', 'Answers of oEmbed are JSON', { field: 'format' });
      const options = parseEmbeddableUrl(publicUrl, url);
      if (options === null) throw new OracleError('NOT_FOUND', 'No page of this service with a card has this address', { field: 'url' });
      return toTaggedReply(buildOembed(publicUrl, options, max), { 'Cache-Control': `public, max-age=${OEMBED_CACHE_SECONDS}` });
    },
  });
}
