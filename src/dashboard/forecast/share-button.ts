import { byId, replaceChildren } from '../lib/dom.ts';

/** Opens the share sheet of the system where there is one, else copies the address. */
export function mountShareButton() {
  const button = byId('share') as HTMLButtonElement;
  const say = (text: string) => replaceChildren(byId('share-status'), text);
  button.disabled = false;
  button.addEventListener('click', async () => say(await share()));
}

/** @returns what has happened; empty when the reader has cancelled */
async function share(): Promise<string> {
  const url = location.href.replace(/[?#].*$/, '');
  if (typeof navigator.share === 'function') {
    const problem = await navigator.share({ title: document.title, url }).then(
      () => null,
      (error: unknown) => error as Error,
    );
    if (problem === null) return 'Shared.';
    if (problem.name === 'AbortError') return '';
  }
  const isCopied = await navigator.clipboard?.writeText(url).then(
    () => true,
    () => false,
  );
  return isCopied === true ? 'Link copied.' : `Copy this link: ${url}`;
}
