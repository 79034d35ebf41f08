import { createEndpointForm } from '../chain/endpoint-form.ts';
import { createRecordCheck } from '../check/check-record.ts';
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
  const setup = { getInfo, endpointNow: () => endpoint?.current() ?? null };
  const everything = createRecordCheck(setup);
  mountResource({
    store,
    name: 'info',
    body: intro,
    draw: (info) => {
      endpoint = createEndpointForm(info);
      return [renderIntroduction(), endpoint.form, everything];
    },
  });
  /** The reader may click before `info` is loaded. */
  async function getInfo() {
    if (store.get('info').answer === null) await store.refresh('info');
    return store.get('info').answer;
  }
  const checker = createRowChecker(session, setup);
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
    'this browser, compares the values with the row and its neighbours, and searches for a second prediction for the same day. “Check ',
    'everything now” reads all attestations of the wallet and recomputes all rows and figures. Market closes are checked by ',
    h('code', {}, 'npx svc audit'),
    ' alone. To verify by hand, see ',
    h('a', { href: 'methodology.md' }, 'the method'),
    ' and ',
    h('a', { href: 'docs' }, 'the reference'),
    '.',
  ]);
}
