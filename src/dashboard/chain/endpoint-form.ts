import { h, replaceChildren } from '../lib/dom.ts';
import type { ApiResponses } from '../state/responses.ts';
import { getDefaultEndpoint, loadEndpoint, parseEndpoint, saveEndpoint } from './endpoint.ts';

const HINT_ID = 'endpoint-hint';

export function createEndpointForm({ chain, contracts }: Pick<ApiResponses['info'], 'chain' | 'contracts'>) {
  const base = document.baseURI;
  const preset = getDefaultEndpoint(chain, base);
  let current = parseEndpoint(preset, base);
  const input = h('input', {
    id: 'endpoint',
    type: 'text',
    inputmode: 'url',
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-describedby': HINT_ID,
  });
  const hint = h('p', { id: HINT_ID, class: 'quiet', role: 'status' });

  function choose(text: string) {
    input.value = text;
    current = parseEndpoint(text, base);
    if ('url' in current) saveEndpoint(current.url === preset ? null : current.url);
    input.setAttribute('aria-invalid', String('problem' in current));
    replaceChildren(
      hint,
      'problem' in current
        ? h('span', { class: 'bad' }, current.problem)
        : formatEndpointHint(current.url, preset, { ...chain, eas: contracts.eas }),
    );
  }

  const form = h(
    'form',
    {
      class: 'endpoint',
      onsubmit: (event) => {
        event.preventDefault();
        choose(input.value);
      },
    },
    h('label', { for: 'endpoint' }, 'Read the chain from'),
    input,
    h('button', { type: 'submit' }, 'Use'),
    h('button', { type: 'button', onclick: () => choose(preset) }, 'Default'),
    hint,
  );
  input.addEventListener('change', () => choose(input.value));
  choose(loadEndpoint() ?? preset);
  return {
    form,
    /** The parsed endpoint, or its validation problem. */
    get current() {
      return current;
    },
  };
}

function formatEndpointHint(
  url: string,
  preset: string,
  { id, local, eas }: Pick<ApiResponses['info']['chain'], 'id' | 'local'> & { eas: string },
) {
  const { host } = new URL(url);
  const asked = `JSON-RPC requests go to ${host}, for chain ${id} and attestation contract ${eas.slice(0, 42)}. `;
  const caution = 'The result is only as honest as the endpoint: use one that you trust.';
  if (!local) return asked + caution;
  const demonstration = 'This is a demo with a throw-away chain';
  return url === preset
    ? `${asked}${demonstration} that only this service can read, so you trust its answers here. For a real chain, use an endpoint that you trust.`
    : `${asked}${demonstration} that no other endpoint serves, whatever chain ${id} is elsewhere. ${caution}`;
}
