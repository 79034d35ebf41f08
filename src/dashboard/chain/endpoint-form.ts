import { h, replaceChildren } from '../lib/dom.ts';
import type { ApiResponses } from '../state/responses.ts';

const HINT_ID = 'endpoint-hint';
/** The choice is kept for this tab. */
const ENDPOINT_STORAGE_KEY = 'oracle-rpc';
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost'];

/** A local chain is only reachable through this service. @param base of the page */
export function getDefaultEndpoint({ local, rpcUrl }: Pick<ApiResponses['info']['chain'], 'local' | 'rpcUrl'>, base: string) {
  return local ? new URL('rpc', base).href : (rpcUrl ?? '');
}

/** Accepts `https:` anywhere, `http:` on this machine, and the origin of the service. @param base of the page */
export function parseEndpoint(text: string, base: string): { url: string } | { problem: string } {
  if (text.trim() === '') return { problem: 'Enter an RPC endpoint of the chain.' };
  const url = URL.parse(text.trim(), base);
  if (url === null) return { problem: 'This is not a URL.' };
  if (url.username !== '' || url.password !== '') return { problem: 'Browsers do not send user and password in a URL.' };
  const allowed =
    url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_HOSTS.includes(url.hostname)) || url.origin === new URL(base).origin;
  return allowed ? { url: url.href } : { problem: 'The URL must begin with https:// or point to this machine (127.0.0.1 or localhost).' };
}

export function createEndpointForm({ chain, contracts }: Pick<ApiResponses['info'], 'chain' | 'contracts'>) {
  const base = document.baseURI;
  const preset = getDefaultEndpoint(chain, base);
  let current = parseEndpoint(preset, base);
  const attributes = { inputmode: 'url', spellcheck: 'false', autocomplete: 'off', 'aria-describedby': HINT_ID };
  const input = h('input', { id: 'endpoint', type: 'text', ...attributes, onchange: () => choose(input.value) });
  const hint = h('p', { id: HINT_ID, class: 'quiet', role: 'status' });

  function choose(text: string) {
    input.value = text;
    current = parseEndpoint(text, base);
    const isWrong = 'problem' in current;
    if ('url' in current && current.url !== preset) sessionStorage.setItem(ENDPOINT_STORAGE_KEY, current.url);
    else if ('url' in current) sessionStorage.removeItem(ENDPOINT_STORAGE_KEY);
    input.setAttribute('aria-invalid', String(isWrong));
    const where = `for chain ${chain.id} and attestation contract ${contracts.eas.slice(0, 42)}`;
    const line = 'problem' in current ? current.problem : formatEndpointHint(new URL(current.url), where, chain.local);
    replaceChildren(hint, h('span', { class: isWrong && 'bad' }, line));
  }

  const onsubmit = (event: Event) => {
    event.preventDefault();
    choose(input.value);
  };
  const form = h(
    'form',
    { class: 'endpoint', onsubmit },
    h('label', { for: 'endpoint' }, 'Read the chain from'),
    input,
    h('button', { type: 'submit' }, 'Use'),
    h('button', { type: 'button', onclick: () => choose(preset) }, 'Default'),
    hint,
  );
  choose(sessionStorage.getItem(ENDPOINT_STORAGE_KEY) ?? preset);
  return {
    form,
    /** The parsed endpoint, or its validation problem. */
    current: () => current,
  };
}

function formatEndpointHint({ host }: URL, where: string, isLocal: boolean): string {
  const caution = isLocal
    ? 'This is a demo with a throw-away chain that only this service can read, so you trust its answers. For a real chain, use'
    : 'The result is only as honest as the endpoint: use';
  return `JSON-RPC requests go to ${host}, ${where}. ${caution} an endpoint that you trust.`;
}
