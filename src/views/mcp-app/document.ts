import { el, renderMarkup } from '../markup.ts';
import { type AppView, VIEW_TITLES } from './app-views.ts';

export interface AppAssets {
  script: string;
  style: string;
  /** `sha256-` and the digest of script and style in base64, as in a Content Security Policy. */
  hashes: { script: string; style: string };
  /** Of the service. */
  version: string;
}

/** The document of a view: all that it needs is in it, and its policy permits it no connection. */
export function renderAppDocument(view: AppView, { script, style, hashes, version }: AppAssets): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashes.script}'`,
    `style-src '${hashes.style}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const document = el('html', { lang: 'en' }, [
    el('head', {}, [
      el('meta', { charset: 'utf-8' }),
      el('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }),
      el('meta', { name: 'viewport', content: 'width=device-width' }),
      el('title', {}, VIEW_TITLES[view]),
      el('style', {}, '{{style}}'),
    ]),
    el('body', {}, [
      // Not at the root, which some hosts replace by their own.
      el('main', { 'data-view': view, 'data-version': version }, [
        el('h1', {}, VIEW_TITLES[view]),
        el('p', { class: 'quiet' }, 'Waiting for the answer…'),
      ]),
      el('p', { id: 'status', role: 'status' }),
      el('script', {}, '{{script}}'),
    ]),
  ]);
  const html = renderMarkup(document)
    .replace('{{style}}', () => style)
    .replace('{{script}}', () => script);
  return `<!doctype html>\n${html}\n`;
}
