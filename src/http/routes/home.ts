import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { z } from 'zod';
import { formatCatalogLink } from '../../../agent-card/documents.ts';
import { ENDPOINTS, IDENTITY } from '../../../agent-card/endpoints.ts';
import { predict, predictRange } from '../../../skills/predict-btc-direction.ts';
import { PUBLIC_CALLER } from '../../auth/caller.ts';
import { OracleError, orElse } from '../../errors.ts';
import { formatDay, MINUTE_MS } from '../../forecast/day.ts';
import { formatHorizonName } from '../../forecast/model.ts';
import { btcPriceReport } from '../../market/reports/bitcoin.ts';
import {
  DEFAULT_HORIZON_DAYS,
  FIRST_SCREEN_PARTS,
  type FirstScreenData,
  type FirstScreenPart,
  formatTodayTitle,
  type InitialData,
  type OriginKind,
  renderOriginMark,
  SELECTABLE_HORIZONS,
  toInitialScreen,
  toRecordData,
} from '../../page/first-screen.ts';
import { el, type Markup, type PageKind, renderMarkup } from '../../page/markup.ts';
import { listOf, namedObject, objectOf, SUCCESS } from '../../platform/validation.ts';
import { buildStrongEtag, createFileReply, createStaticReply, EncodedText, negotiateMediaType, type Reply } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';
import { renderFeedLink } from './feeds.ts';
import { toPublicSignal } from './signal.ts';

export function pageFileRoutes(): Route[] {
  return [
    route('GET /page/{file}', 'getPageFile', {
      tag: 'service',
      cost: 'free',
      summary: 'Asset of the dashboard at `/`',
      description:
        'Script and style sheet, without assets of other hosts. The name changes with the content, which caches keep for a year.',
      params: z.object({ file: z.string().regex(PAGE_FILE_NAME, 'is no file of the page').describe('Name of the file') }),
      reply: null,
      alternatives: { 'text/css': { description: 'The style sheet.' }, 'text/javascript': { description: 'The script.' } },
      errors: ['NOT_FOUND'],
      handle({ params: { file: name } }) {
        const file = getPageBundle().files.get(name);
        if (file === undefined) throw new OracleError('NOT_FOUND', `The page has no file ${name}`, { field: 'file' });
        const headers = { 'Cache-Control': 'public, max-age=31536000, immutable', 'Content-Type': file.type, ETag: `"${name}"` };
        return { headers, encoded: file.content };
      },
    }),
    route(`GET /${PREVIEW_IMAGE.path}`, 'getPreviewImage', {
      tag: 'service',
      summary: 'Image of the service for link previews',
      reply: null,
      alternatives: { 'image/png': { description: `The image, ${PREVIEW_IMAGE.width} by ${PREVIEW_IMAGE.height} pixels.` } },
      handle: createFileReply(new URL('../assets/preview.png', import.meta.url), {
        'Content-Type': 'image/png',
        'Cache-Control': 'public, max-age=86400',
      }),
    }),
  ];
}

/** Where `npm run build:page` writes the page. */
export const PAGE_FOLDER = new URL('../../../dist/page/', import.meta.url);

/** Names the script and the style sheet of the newest build. */
export const PAGE_MANIFEST = 'manifest.json';

/** Names that the build gives: they change with the content. */
export const PAGE_FILE_NAME = /^page-[0-9a-f]{16}\.(?:css|js)$/;

/** The build compresses each file at maximum quality, which takes seconds. */
export function getBrotliUrl(file: URL): URL {
  return new URL(`${file.href}.br`);
}

const MEDIA_TYPES = { '.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8' } as const;

interface PageFile {
  content: EncodedText;
  type: string;
}

type BundleNames = Record<'script' | 'style', string>;

/** Pages with a script of their own in place of the common one. */
export const OWN_BUNDLES = ['access', 'consent'] as const;

export type OwnBundle = (typeof OWN_BUNDLES)[number];

export interface PageBundle {
  /** Of most pages, and of those with a script of their own and styles besides the common ones. */
  names: BundleNames & Record<OwnBundle, BundleNames>;
  files: ReadonlyMap<string, PageFile>;
}

let bundle: PageBundle | undefined;

/** The built page, read once per process. */
export function getPageBundle(): PageBundle {
  bundle ??= readPageBundle(PAGE_FOLDER);
  return bundle;
}

/** @throws OracleError CONFIG_INVALID if the page has not been built */
export function readPageBundle(folder: URL): PageBundle {
  const path = new URL(PAGE_MANIFEST, folder);
  try {
    const manifest = readFileSync(path, 'utf8');
    const names = readdirSync(folder).filter((name) => PAGE_FILE_NAME.test(name));
    return {
      names: JSON.parse(manifest) as PageBundle['names'],
      files: new Map(names.map((name) => [name, readPageFile(new URL(name, folder))])),
    };
  } catch (cause) {
    throw new OracleError('CONFIG_INVALID', `The page has not been built: ${path.pathname} cannot be read`, {
      suggestedAction: 'Run "npm run build:page", which "npm ci" also does.',
      cause,
    });
  }
}

function readPageFile(path: URL): PageFile {
  const content = new EncodedText(readFileSync(path, 'utf8'), { brotli: readFileSync(getBrotliUrl(path)) });
  return { content, type: MEDIA_TYPES[extname(path.pathname) as keyof typeof MEDIA_TYPES] };
}

interface PageContent {
  /** Title in the browser; the name of the service is added. Absent: the name alone. */
  title?: string;
  description?: string;
  /** Path of this page without the base, such as `f/2026-11-22/7d`; empty for the dashboard. */
  path: string;
  /** What the script mounts: the value of `data-page` on the body. */
  kind: PageKind;
  /** For a page with a script of its own in place of the common one, and further styles. */
  bundle?: OwnBundle;
  /** Further elements of the head. */
  head?: Markup;
  /** Parts of the header beside name and navigation. */
  header?: Markup;
  body: Markup;
  footer?: Markup;
}

/** Links of every page's header; the path is relative to the base. */
const NAVIGATION = [
  { path: 'f', label: 'Forecasts' },
  { path: 'method', label: 'Method' },
  { path: 'agents', label: 'Agents' },
  { path: 'docs', label: 'API' },
  { path: 'verify', label: 'Verify' },
  { path: 'operate', label: 'Operate' },
] as const;

/** Of link previews; the path is relative to the base. */
const PREVIEW_IMAGE = { path: 'preview.png', width: 1_200, height: 630 } as const;

/** Before the first paint, so that a chosen theme does not flash. */
const THEME_SCRIPT = `try{const t=localStorage.getItem('oracle-theme');if(t==='light'||t==='dark')document.documentElement.dataset.theme=t}catch{}`;

/** All resources come from this origin. `connect-src` admits the RPC endpoint that the reader verifies attestations with. */
export const PAGE_CSP = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(THEME_SCRIPT).digest('base64')}'`,
  "style-src 'self'",
  // Wallets announce themselves with a data: icon (EIP-6963).
  "img-src 'self' data:",
  "connect-src 'self' https: http://127.0.0.1:* http://localhost:*",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

export const PAGE_HEADERS = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': PAGE_CSP, Vary: 'Accept' };

/** The HTML document of a page: every page of the service has this head, header and footer, one script and one style sheet. */
export function renderPage(publicUrl: string, content: PageContent): string {
  const { kind, body, header, footer, path } = content;
  const document = el(
    'html',
    { lang: 'en' },
    renderHead(publicUrl, content),
    el(
      'body',
      { 'data-page': kind },
      el('a', { class: 'skip', href: `${path}#main` }, 'Skip to the content'),
      renderHeader(path, header),
      body,
      footer === undefined ? null : el('footer', {}, footer),
    ),
  );
  // The script holds no markup character, which `renderMarkup` would escape.
  return `<!doctype html>\n${renderMarkup(document).replace('{{theme}}', () => THEME_SCRIPT)}\n`;
}

function renderHead(publicUrl: string, { title, description = IDENTITY.description, path, head, bundle }: PageContent): Markup {
  const { names } = getPageBundle();
  const own = bundle && names[bundle];
  const base = `${new URL(publicUrl).pathname.replace(/\/+$/, '')}/`;
  return el('head', {}, [
    el('meta', { charset: 'utf-8' }),
    el('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    el('meta', { name: 'color-scheme', content: 'light dark' }),
    el('meta', { name: 'description', content: description }),
    el('base', { href: base }),
    el('title', {}, title === undefined ? IDENTITY.name : `${title} - ${IDENTITY.name}`),
    el('link', { rel: 'canonical', href: `${publicUrl}/${path}` }),
    el('link', { rel: 'icon', href: 'icon.svg', type: 'image/svg+xml' }),
    el('link', { rel: 'stylesheet', href: `page/${names.style}` }),
    own && el('link', { rel: 'stylesheet', href: `page/${own.style}` }),
    el('script', {}, '{{theme}}'),
    el('script', { type: 'module', src: `page/${(own ?? names).script}` }),
    renderPreviewTags(publicUrl, { title, description, path }),
    head,
  ]);
}

/** What other sites show of a link: Open Graph and Twitter card tags with absolute URLs. */
function renderPreviewTags(publicUrl: string, { title, description, path }: Pick<PageContent, 'title' | 'description' | 'path'>): Markup {
  const tags = {
    'og:type': 'website',
    'og:site_name': IDENTITY.name,
    'og:title': title ?? IDENTITY.name,
    'og:description': description,
    'og:url': `${publicUrl}/${path}`,
    'og:image': `${publicUrl}/${PREVIEW_IMAGE.path}`,
    'og:image:type': 'image/png',
    'og:image:width': PREVIEW_IMAGE.width,
    'og:image:height': PREVIEW_IMAGE.height,
    'og:image:alt': `${IDENTITY.name}. ${IDENTITY.tagline}`,
  };
  return [
    Object.entries(tags).map(([property, content]) => el('meta', { property, content })),
    el('meta', { name: 'twitter:card', content: 'summary_large_image' }),
  ];
}

function renderHeader(path: string, parts: Markup): Markup {
  const links = NAVIGATION.map((link) => el('a', { href: link.path, 'aria-current': link.path === path && 'page' }, link.label));
  return el('header', { class: 'top' }, [
    el('div', { class: 'top-line' }, [
      el('p', { class: 'name' }, el('img', { src: 'icon.svg', alt: '', width: 28, height: 28 }), el('a', { href: './' }, IDENTITY.name)),
      el('nav', { 'aria-label': 'Pages' }, links),
      parts,
      el('div', { id: 'theme' }),
    ]),
  ]);
}

/** A page without parts of its own in head or header, such as a table of evidence. */
export function toDocumentReply(publicUrl: string, title: string, path: string, body: Markup): Reply<never> {
  return { headers: PAGE_HEADERS, encoded: new EncodedText(renderPage(publicUrl, { title, path, kind: 'document', body })) };
}

/** JSON first: clients without an `Accept` header get the list. */
const TYPES = ['application/json', 'text/html'] as const;

const RESOURCES = namedObject('Resources', {
  success: SUCCESS,
  name: z.string().describe('Name of the service'),
  description: z.string().describe('What it does'),
  version: z.string().describe('Version of the software'),
  source: z.string().describe('Market data source'),
  resources: listOf('All operations', {
    method: z.string().describe('HTTP method'),
    url: z.string().describe('URL; parts in braces are parameters'),
    summary: z.string().describe('What it is'),
  }),
});

/** `GET /`: the list of all routes as JSON, the page as HTML. */
export function rootRoutes(deps: Services, routes: Route[]): Route[] {
  const { version, publicUrl, market } = deps;
  const list = createStaticReply(
    () => {
      const resources: Resources = {
        success: true,
        name: IDENTITY.name,
        description: IDENTITY.description,
        version,
        source: market.source,
        resources: routes.map(({ method, path, summary }) => ({ method: method.toUpperCase(), url: `${publicUrl}${path}`, summary })),
      };
      return JSON.stringify(resources);
    },
    () => ({ 'Content-Type': 'application/json; charset=utf-8', Link: formatCatalogLink({ publicUrl }), Vary: 'Accept' }),
  );
  return [
    route('GET /', 'listResources', {
      tag: 'service',
      // Rendered once a minute, a price being the same within it.
      units: 0.2,
      shared: 'state',
      takesAnyQuery: true,
      reply: RESOURCES,
      alternatives: { 'text/html': { description: 'The dashboard: forecast, record, and verification of each attestation.' } },
      summary: 'List of all operations; the dashboard in browsers',
      handle: ({ accept }) => (prefersHtml(accept) ? renderHome(deps, publicUrl) : list()),
    }),
    route('POST /', 'sendA2aRequest', {
      tag: 'skills',
      summary: 'A2A over JSON-RPC, where older clients post',
      description: `The same as \`${ENDPOINTS.a2a}\`, which the agent card names with the other interfaces. Its requests and streams are those of A2A 1.0, selected by the header \`A2A-Version\`, or of 0.3.`,
      json: A2A_REQUEST,
      reply: z.union([A2A_RESULT, A2A_ERROR]),
      protocolErrors: A2A_ERROR,
      handle() {
        // The adapter, which is mounted before the routes, answers.
        throw new OracleError('NOT_FOUND', 'A2A is not served here');
      },
    }),
  ];
}

type Resources = z.input<typeof RESOURCES>;

const RPC_VERSION = z.literal('2.0').describe('JSON-RPC version');
const RPC_ID = z.union([z.string().max(128), z.number(), z.null()]);

/** For documentation: A2A has its own errors for invalid requests. */
const A2A_REQUEST = z.object({
  jsonrpc: RPC_VERSION,
  id: RPC_ID.describe('Echoed in the response'),
  method: z.string().describe('Method, such as `SendMessage` or `GetTask`; of A2A 0.3 such as `message/send`'),
  params: z.record(z.string(), z.unknown()).optional().describe('Parameters of the method'),
});

const A2A_ANSWER = z.object({ jsonrpc: RPC_VERSION, id: RPC_ID.describe('Id of the request; null where unreadable') });
const A2A_RESULT = A2A_ANSWER.extend({ result: z.unknown().describe('Result of the method') });
const A2A_ERROR = A2A_ANSWER.extend({
  error: objectOf('Error', {
    code: z.int().describe('Code of JSON-RPC or of A2A'),
    message: z.string().describe('As text'),
    data: z.unknown().optional().describe('Further information: the error code of the service, the field, and what to do'),
  }),
});

/** `GET /` during startup: the page, which shows the progress. Unmetered: neither callers nor limits exist yet. */
export function startingRootRoutes(publicUrl: string): Route[] {
  const page = createStaticReply(
    () => renderDashboardPage(publicUrl),
    () => PAGE_HEADERS,
  );
  return [
    route('GET /', 'listResources', {
      tag: 'service',
      cost: 'free',
      reply: null,
      summary: 'The dashboard',
      handle: ({ accept }) => {
        if (prefersHtml(accept)) return page();
        throw new OracleError('STEP_WAITING', 'The service is starting');
      },
    }),
  ];
}

export function prefersHtml(accept: string): boolean {
  return negotiateMediaType(accept, TYPES) === 'text/html';
}

/** In their order. The first has the first screen; the script fills the others. */
const SECTIONS: readonly Section[] = [
  { id: 'today', title: "Today's forecast" },
  { id: 'size', title: 'Size of the move' },
  { id: 'scores', title: 'Skill' },
  { id: 'record', title: 'Record' },
  { id: 'attestations', title: 'Check' },
];

/** One is shown at a time, when it is chosen or its address is opened. */
const TABS: readonly (Section & { link: string })[] = [
  { id: 'price', title: 'Price and forecasts', link: 'Price' },
  { id: 'regimes', title: 'Market regimes', link: 'Regimes' },
  { id: 'accuracy', title: 'Accuracy by horizon and regime', link: 'Accuracy' },
  { id: 'calibration', title: 'Calibration and skill', link: 'Calibration' },
  { id: 'crowd', title: 'Crowd against oracle', link: 'Crowd' },
  { id: 'wagers', title: 'Wagers', link: 'Wagers' },
  { id: 'events', title: 'Live events', link: 'Events' },
  { id: 'feeds', title: 'Market data', link: 'Data' },
];

interface Section {
  id: string;
  title: string;
}

interface HomeContent {
  initial: InitialData;
  nowMs: number;
  market: OriginKind;
  /** Whether readers may view the page as one of the demo wallets. */
  hasDemo: boolean;
}

/** The dashboard, as far as it is the same for everyone. Without `home`: while the service starts. */
function renderDashboardPage(publicUrl: string, home: HomeContent | null = null): string {
  const header = [el('div', { id: 'connection', role: 'status', 'data-state': 'starting' }), el('div', { id: 'account' })];
  const main = el('main', { id: 'main', tabindex: -1 }, [
    el('h1', {}, 'A Bitcoin forecast anyone can verify'),
    el('div', { id: 'setup' }),
    SECTIONS.map((section) =>
      section.id === 'today' ? [renderTodaySection(section, home), home?.hasDemo && el('div', { id: 'demo' })] : renderSection(section),
    ),
    renderTabs(),
    TABS.map((tab) => renderSection(tab, 'until-found')),
  ]);
  const document = renderPage(publicUrl, {
    path: '',
    kind: 'dashboard',
    head: renderFeedLink(),
    header,
    body: [
      el(
        'div',
        { id: 'origin', 'data-kind': home?.market },
        home && el('p', { class: 'origin-mark' }, renderOriginMark(home.market, { isStale: false })),
      ),
      // Appears by its style after some seconds, unless the script has run and removed it.
      el('p', { id: 'script-note', class: 'notice late' }, [
        'The script of this page has not run, so parts are missing. The record is also at ',
        el('a', { href: 'api/svc/scorecard?horizon=7' }, '/api/svc/scorecard'),
        '; ',
        el('a', { href: 'docs' }, '/docs'),
        ' lists all operations.',
      ]),
      main,
      // Where the script reads what the page was drawn from.
      home && el('script', { type: 'application/json', id: 'initial' }, PLACEHOLDER),
    ],
    footer: el('p', {}, [
      'Not financial advice. As JSON: ',
      el('a', { href: 'api/svc/scorecard?horizon=7' }, 'scorecard'),
      ', ',
      el('a', { href: 'api/svc/onchain-oracle/history' }, 'attestations'),
      '; ',
      el('a', { href: 'docs' }, 'all operations'),
      '.',
    ]),
  });
  // `renderMarkup` would escape the data as text: no `<` can end their block.
  return home === null ? document : document.replace(PLACEHOLDER, () => JSON.stringify(home.initial).replaceAll('<', '\\u003c'));
}

function renderSection({ id, title }: Section, hidden?: 'until-found'): Markup {
  return el('section', { id, 'aria-labelledby': `${id}-title`, hidden }, [
    el('h2', { id: `${id}-title` }, title),
    el('div', { class: 'body' }),
  ]);
}

function renderTabs(): Markup {
  const links = TABS.map(({ id, link }) => el('a', { href: `#${id}`, 'aria-expanded': 'false', 'aria-controls': id }, link));
  return el('nav', { id: 'tabs', class: 'tabs', 'aria-labelledby': 'tabs-title' }, [
    el('h2', { id: 'tabs-title' }, 'More'),
    links,
    el('a', { href: 'api/svc/challenge' }, 'Models'),
    el('a', { href: 'documents/model' }, 'Model card'),
    el('a', { href: 'api/self-test/status' }, 'Self-tests'),
  ]);
}

const PLACEHOLDER = '{{initial}}';

/** The first screen. @param home null while the service starts */
function renderTodaySection({ id }: Section, home: HomeContent | null): Markup {
  const data = toInitialScreen(home?.initial ?? null, DEFAULT_HORIZON_DAYS);
  return el('section', { id, 'aria-labelledby': `${id}-title`, tabindex: -1 }, [
    el('h2', { id: `${id}-title` }, formatTodayTitle(data.call, home?.nowMs ?? 0)),
    el('div', { class: 'body' }, [renderFirstScreen(data), renderDetails()]),
  ]);
}

/** The answer of the page: what is expected, whether it is any good, and how to check it. */
export function renderFirstScreen(data: FirstScreenData): Markup {
  const part = (name: FirstScreenPart) => el('div', { class: `first-${name}`, 'data-part': name }, FIRST_SCREEN_PARTS[name](data));
  return el('div', { class: 'first' }, [
    el('div', { class: 'first-answer' }, [part('tomorrow'), part('chosen'), part('call'), part('record'), part('actions'), part('note')]),
    el('div', { class: 'first-chart' }, [part('fan'), renderHorizonChoice(data.horizonDays), part('legend')]),
  ]);
}

/** The axis of the fan: each label stands below the end of its window, and selects the horizon of the page. */
function renderHorizonChoice(chosenDays: number): Markup {
  return el('fieldset', { class: 'fan-axis', 'aria-label': 'Forecast horizon' }, [
    SELECTABLE_HORIZONS.map((days) =>
      el('label', { class: `fan-day fan-day-${days}` }, [
        el('input', {
          type: 'radio',
          name: 'horizon',
          value: days,
          checked: days === chosenDays,
          'aria-label': days === 1 ? '1 day' : `${days} days`,
        }),
        el('span', {}, days === Math.max(...SELECTABLE_HORIZONS) ? `${days} days` : days),
      ]),
    ),
  ]);
}

/** What is behind the first screen; the script fills it. */
function renderDetails(): Markup {
  return el('details', { class: 'first-details' }, el('summary', {}, 'Details'), el('div', { id: 'today-details' }));
}

/** The dashboard with the answers that a caller without access gets. Reads a bounded number of documents. */
async function renderHome(deps: Services, publicUrl: string): Promise<Reply<never>> {
  const [signals, range, price, records] = await Promise.all([
    readByHorizon((days) => predict('public', days, deps, PUBLIC_CALLER).then(toPublicSignal).catch(orElse('STEP_WAITING', null))),
    predictRange(DEFAULT_HORIZON_DAYS, deps, true).catch(orElse('STEP_WAITING', null)),
    deps.market.report(btcPriceReport, deps.now().getTime()).catch(orElse('PRICE_UNAVAILABLE', null)),
    readByHorizon(async (days) => toRecordData(await deps.figures.getHorizon(days))),
  ]);
  const newest = deps.record.known.listByHorizon(DEFAULT_HORIZON_DAYS).at(-1);
  const missedDate = newest?.missed ? formatDay(newest.day) : null;
  // Equal bytes within the minute.
  const nowMs = Math.floor(deps.now().getTime() / MINUTE_MS) * MINUTE_MS;
  const initial = { signals, range, price: price as InitialData['price'], records, missedDate, now: new Date(nowMs).toISOString() };
  const home = { initial, nowMs, market: deps.market.kind, hasDemo: deps.demo !== null };
  const text = renderDashboardPage(publicUrl, home);
  const headers = { ...PAGE_HEADERS, Link: formatCatalogLink({ publicUrl }), ETag: buildStrongEtag(text) };
  return { headers, encoded: new EncodedText(text) };
}

async function readByHorizon<Value>(read: (horizonDays: number) => Promise<Value | null>): Promise<Record<string, Value>> {
  const entries = await Promise.all(SELECTABLE_HORIZONS.map(async (days) => [formatHorizonName(days), await read(days)] as const));
  return Object.fromEntries(entries.filter((entry): entry is [(typeof entry)[0], Awaited<Value>] => entry[1] !== null));
}
