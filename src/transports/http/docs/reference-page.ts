import { el, type Markup } from '../../../views/markup.ts';
import { PAGE_CSP, renderPage } from '../page/shell.ts';
import { type AccessLevel, TAGS } from '../server/route.ts';

interface ReferencePageOptions {
  publicUrl: string;
}

const ACCESS_LABELS: Record<AccessLevel, string> = {
  public: 'Public',
  basic: 'Basic',
  premium: 'Premium',
  paid: 'Paid',
  admin: 'Operator',
};

/**
 * The policy of all pages, but for Swagger UI, which sets inline styles and assigns HTML. All resources come from this origin; "Try it out"
 * calls the server URL of the document.
 */
export function buildReferenceCsp({ publicUrl }: ReferencePageOptions): string {
  const own: Record<string, string | null> = {
    'style-src': "'self' 'unsafe-inline'",
    'connect-src': `'self' ${new URL(publicUrl).origin}`,
    'frame-src': null,
    'require-trusted-types-for': null,
  };
  const kept = PAGE_CSP.split('; ').filter((directive) => !(directive.split(' ')[0]! in own));
  const changed = Object.entries(own).flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]));
  return [...kept, ...changed, "font-src 'self' data:"].join('; ');
}

export function renderReferencePage({ publicUrl }: ReferencePageOptions): string {
  return renderPage(publicUrl, {
    title: 'API reference',
    description: 'All operations of the service, to try out.',
    path: 'docs',
    kind: 'reference',
    head: [
      el('link', { rel: 'alternate', type: 'application/json', href: '.well-known/openapi.json' }),
      el('link', { rel: 'stylesheet', href: 'docs/swagger-ui.css' }),
      el('link', { rel: 'stylesheet', href: 'docs/reference.css' }),
    ],
    body: [
      el('main', { id: 'main', class: 'reference', tabindex: -1 }, [
        renderWayBack(),
        el('h1', {}, 'API reference'),
        renderFilter(),
        el('div', { id: 'reference' }),
        el('noscript', {}, [
          el('p', { class: 'notice' }, [
            'This page needs JavaScript. The same is in ',
            el('a', { href: '.well-known/openapi.json' }, 'openapi.json'),
            '.',
          ]),
        ]),
      ]),
      // Not deferred: the script of the page, which starts it, is.
      el('script', { src: 'docs/swagger-ui-bundle.js' }),
    ],
  });
}

function renderWayBack(): Markup {
  return el('nav', { class: 'way-back', 'aria-label': 'Breadcrumb' }, [
    el('a', { href: './' }, 'Today'),
    el('span', { 'aria-current': 'page' }, 'API'),
    el('a', { class: 'as-markdown', href: 'documents/api' }, 'API guide'),
  ]);
}

/** The script applies it on each input. */
function renderFilter(): Markup {
  return el('form', { id: 'reference-filter', class: 'reference-filter', role: 'search', 'aria-label': 'Operations' }, [
    el('label', {}, 'Find ', el('input', { type: 'search', name: 'text', autocomplete: 'off' })),
    renderSelect(
      'tag',
      'Topic',
      Object.keys(TAGS).map((tag) => [tag, tag]),
    ),
    renderSelect('access', 'Access', Object.entries(ACCESS_LABELS)),
    el('p', { id: 'reference-count', role: 'status' }),
  ]);
}

function renderSelect(name: string, label: string, choices: readonly (readonly [value: string, label: string])[]): Markup {
  const options = [['', 'all'] as const, ...choices].map(([value, text]) => el('option', { value }, text));
  return el('label', {}, `${label} `, el('select', { name }, options));
}
