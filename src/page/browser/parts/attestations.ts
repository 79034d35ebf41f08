import { createRecordCheck, createRowChecker } from '../check.ts';
import { getSectionBody, h, replaceChildren } from '../dom.ts';
import { createAttestationList, renderTally } from '../record.ts';
import { createEndpointForm, getDefaultEndpoint } from '../record-chain.ts';
import { mountResource, resumeNavigation } from '../section.ts';
import type { Page } from '../state.ts';

/** The newest forecasts, each with its check against the chain, and the check of the whole record. */
export function mountAttestations({ store, session, horizon }: Page) {
  const body = h('div', {});
  let endpoint: ReturnType<typeof createEndpointForm> | null = null;
  const setup = { getInfo, endpointNow: () => endpoint?.current() ?? null };
  const everything = createRecordCheck(setup);
  replaceChildren(getSectionBody('attestations'), renderIntroduction(), everything, body);
  mountResource({
    store,
    name: 'info',
    body,
    draw: (info) => {
      endpoint = createEndpointForm(info);
      const current = endpoint.current();
      const isDefault = 'url' in current && current.url === getDefaultEndpoint(info.chain, document.baseURI);
      return h('details', { class: 'more-of', open: !isDefault }, h('summary', {}, 'RPC endpoint'), endpoint.form);
    },
  });
  /** The reader may click before `info` is loaded. */
  async function getInfo() {
    if (store.get('info').answer === null) await store.refresh('info');
    return store.get('info').answer;
  }
  const rows = createAttestationList(createRowChecker(session, setup), store.needWholeRecord);
  horizon.onChange(rows.restart);
  mountResource({
    store,
    name: 'scorecard',
    body: getSectionBody('record'),
    draw: ({ predictions, summary }) => {
      queueMicrotask(resumeNavigation);
      const shown = { horizon: horizon.value, known: predictions, total: summary.totalPredictions };
      return [predictions.length === 0 ? null : renderTally(summary), rows.draw(shown)].flat();
    },
  });
}

function renderIntroduction() {
  return h('p', {}, [
    'Each forecast is committed on chain before its outcome window opens. This reads all attestations of the wallet and recomputes every ',
    'commitment and figure in your browser. To do it without this page, run ',
    h('code', {}, 'npx svc audit'),
    ' or follow ',
    h('a', { href: 'methodology.md' }, 'the method'),
    '.',
  ]);
}
