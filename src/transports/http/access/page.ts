import { el } from '../../../views/markup.ts';
import { renderPage } from '../page/shell.ts';

/** The page where a wallet sees and ends the access that it has granted, and makes keys: its script fills it. */
export function renderAccessPage(publicUrl: string): string {
  return renderPage(publicUrl, {
    title: 'Access',
    description: 'API keys and applications of a wallet: see them, end them, make keys for bots.',
    path: 'access',
    kind: 'access',
    bundle: 'access',
    body: el('main', { id: 'main', tabindex: -1 }, [
      el('h1', {}, 'Keys and applications'),
      el('p', {}, [
        'Programs that may use the service in the name of your wallet, up to a tier that its balance gives: ',
        el('a', { href: 'documents/api#api-keys' }, 'how keys work'),
        '.',
      ]),
      el('p', { id: 'script-note', class: 'notice' }, 'This page needs JavaScript. `npx svc access` does the same.'),
      el('div', { id: 'access' }),
    ]),
  });
}
