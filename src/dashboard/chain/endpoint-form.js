import { h, replaceChildren } from '../lib/dom.js';
import { getDefaultEndpoint, loadEndpoint, parseEndpoint, saveEndpoint } from './endpoint.js';

/** @import { ApiResponses } from '../state/responses.ts' */

const HINT_ID = 'endpoint-hint';

/** @param {Pick<ApiResponses['info'], 'chain' | 'contracts'>} info */
export function createEndpointForm({ chain, contracts }) {
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

  /** @param {string} text */
  function choose(text) {
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

/** @param {string} url @param {string} preset @param {Pick<ApiResponses['info']['chain'], 'id' | 'local'> & { eas: string }} chain */
function formatEndpointHint(url, preset, { id, local, eas }) {
  const { host } = new URL(url);
  const asked = `JSON-RPC requests go to ${host}, for chain ${id} and attestation contract ${eas.slice(0, 42)}. `;
  const caution = 'The result is only as honest as the endpoint: use one that you trust.';
  if (!local) return asked + caution;
  const demonstration = 'This is a demo with a throw-away chain';
  return url === preset
    ? `${asked}${demonstration} that only this service can read, so you trust its answers here. For a real chain, use an endpoint that you trust.`
    : `${asked}${demonstration} that no other endpoint serves, whatever chain ${id} is elsewhere. ${caution}`;
}
