import { createEndpointForm } from '../chain/endpoint-form.ts';
import { createRowChecker } from '../check/row-checker.ts';
import { getSectionBody, h, replaceChildren } from '../lib/dom.ts';
import { mountResource } from '../lib/section.ts';
import { createAttestationList } from '../record/attestation-list.ts';
import type { Page } from '../state/page.ts';

/** The list of forecasts, with a check of each against the chain. */
export function mountAttestations({ store, session, horizon }: Page) {
  const intro = h('div', {});
  const list = h('div', {});
  replaceChildren(getSectionBody('attestations'), intro, list);
  let endpoint: ReturnType<typeof createEndpointForm> | null = null;
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
  return h('p', {}, [
    'Each forecast is committed on chain before its outcome window opens. A check reads both attestations, recomputes the commitment in ',
    'this browser, compares the values with the row and its neighbours, and searches for a second prediction for the same day. It covers ',
    'neither the market closes nor a second record of the wallet; ',
    h('code', {}, 'npx svc audit'),
    ' checks both. To verify by hand, see ',
    h('a', { href: 'methodology.md' }, 'the method'),
    ' and ',
    h('a', { href: 'docs' }, 'the reference'),
    '.',
  ]);
}
