import { createEndpointForm } from '../chain/endpoint-form.js';
import { createRowChecker } from '../check/row-checker.js';
import { getSectionBody, h, replaceChildren } from '../lib/dom.js';
import { mountResource } from '../lib/section.js';
import { createAttestationList } from '../record/attestation-list.js';

/** @import { Page } from './main.js' */

/** The list of forecasts, with a check of each against the chain. @param {Page} page */
export function mountAttestations({ store, session, horizon }) {
  const intro = h('div', {});
  const list = h('div', {});
  replaceChildren(getSectionBody('attestations'), intro, list);
  /** @type {ReturnType<typeof createEndpointForm> | null} */
  let endpoint = null;
  mountResource({
    store,
    name: 'info',
    body: intro,
    draw: (info) => {
      endpoint = createEndpointForm(info);
      return [renderIntroduction(), endpoint.form];
    },
  });
  /** The reader may click before `info` is loaded. */
  async function getInfo() {
    if (store.get('info').answer === null) await store.refresh('info');
    return store.get('info').answer;
  }
  const checker = createRowChecker({ session, getInfo, endpointNow: () => endpoint?.current ?? null });
  const rows = createAttestationList(checker);
  horizon.onChange(rows.restart);
  mountResource({
    store,
    name: 'scorecard',
    body: list,
    draw: ({ predictions }) => rows.draw({ horizon: horizon.value, known: predictions }),
  });
}

function renderIntroduction() {
  return h(
    'p',
    {},
    'Each forecast is committed to the chain before its outcome window opens. Checking one reads both attestations from the chain, computes ',
    'the commitment anew in this browser, compares what they hold with the row, and the row with those around it, and looks for a second ',
    'prediction of the wallet for that day. Whether the two closes are the market’s, and whether the wallet keeps a second record, this page cannot tell: ',
    h('code', {}, 'npx svc audit'),
    ' looks at both. ',
    h('a', { href: 'methodology.md' }, 'The method'),
    ' and ',
    h('a', { href: 'docs' }, 'the reference'),
    ' say what there is to do the same by hand.',
  );
}
