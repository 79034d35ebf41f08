import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { IDENTITY } from '../../../../../agent-card/identity.ts';
import { el, renderMarkup } from '../../../../views/markup.ts';

/** In the order of preference where a client accepts several alike, or sends no `Accept`. */
const TYPES = ['application/problem+json', 'application/json', 'text/html'];

/** What a reader of a page can run into without a mistake in a request. */
const STATUSES: readonly number[] = [404, 429, 503];

const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --text: #1b1f24; --quiet: #59636e; --line: #d1d9e0; --link: #0b57d0; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0f1318; --text: #e6edf3; --quiet: #9aa7b4; --line: #303a44; --link: #7fb0ff; }
}
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { box-sizing: border-box; max-width: 36rem; margin: 0 auto; padding: 12vh 1.25rem 2rem; }
p { margin: 0.75rem 0; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; }
a { color: var(--link); }
.quiet { color: var(--quiet); }
.name { margin: 0 0 1.5rem; padding-bottom: 0.75rem; border-bottom: 1px solid var(--line); font-weight: 600; }
`;

/** Counts down; the browser itself loads the page again, also where it runs no script. Without characters that HTML escapes. */
const SCRIPT = `
const left = document.querySelector(\`#left\`);
const until = Date.now() + 1000 * Number(left.textContent);
setInterval(function () { left.textContent = String(Math.max(0, Math.ceil((until - Date.now()) / 1000))); }, 500);
`;

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Needs no other file, which could be refused as well. */
const CSP = [
  "default-src 'none'",
  `style-src ${hash(STYLE)}`,
  `script-src ${hash(SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface ShownProblem {
  title: string;
  detail: string;
  status: number;
  code: string;
}

/** Whether a problem is shown to the reader of a browser, and not returned to a program. */
export function isShownAsPage({ req }: Response, status: number): boolean {
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  return isRead && STATUSES.includes(status) && req.accepts(TYPES) === 'text/html';
}

/** A page that says what is wrong, and loads the address again after `Retry-After`. Status and headers are set before. */
export function sendProblemPage(response: Response, problem: ShownProblem): void {
  const waitSeconds = Number(response.get('Retry-After')) || null;
  response
    .set('Content-Security-Policy', CSP)
    .type('html')
    .send(renderProblemPage(problem, waitSeconds, toRootPath(response.req.originalUrl)));
}

/** Relative, as a proxy may serve the service below a path of its own. */
function toRootPath(url: string): string {
  const depth = url.split('?')[0]!.split('/').length - 2;
  return depth === 0 ? './' : '../'.repeat(depth);
}

function renderProblemPage({ title, detail, status, code }: ShownProblem, waitSeconds: number | null, root: string): string {
  const document = el(
    'html',
    { lang: 'en' },
    el(
      'head',
      {},
      el('meta', { charset: 'utf-8' }),
      el('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      el('meta', { name: 'robots', content: 'noindex' }),
      // A second later, since the window of the limit ends within the last one.
      waitSeconds === null ? null : el('meta', { 'http-equiv': 'refresh', content: String(waitSeconds + 1) }),
      el('title', {}, `${title} · ${IDENTITY.name}`),
      el('style', {}, STYLE),
    ),
    el(
      'body',
      {},
      el(
        'main',
        {},
        el('p', { class: 'name' }, IDENTITY.name),
        el('h1', {}, title),
        el('p', {}, `${detail}.`),
        waitSeconds === null
          ? null
          : el('p', {}, 'This page loads again by itself in ', el('span', { id: 'left' }, String(waitSeconds)), ' s.'),
        el('p', {}, el('a', { href: root }, 'To the forecast')),
        el('p', { class: 'quiet' }, `${status} ${code}`),
      ),
      waitSeconds === null ? null : el('script', {}, SCRIPT),
    ),
  );
  return `<!doctype html>${renderMarkup(document)}`;
}
