import type { OracleError } from '../../../../platform/errors.ts';
import { el } from '../../../../views/markup.ts';
import { renderPage } from '../shell.ts';

/** The page of a day or horizon without a forecast. It repeats nothing of the path. */
export function renderMissingPage(publicUrl: string, { message, suggestedAction }: OracleError): string {
  const body = el('main', { id: 'main', tabindex: -1 }, [
    el('h1', {}, 'No such forecast'),
    el('p', {}, `${message}. ${suggestedAction ?? ''}`),
    el('p', {}, el('a', { href: 'f' }, 'All forecasts')),
  ]);
  return renderPage(publicUrl, { title: 'No such forecast', path: 'f', kind: 'document', body });
}
