import type { Address } from 'viem';
import { audit, auditUntilSettled } from '../../audit/audit.ts';
import { createReadingState, type ReadingState } from '../../audit/chain/read-record.ts';
import { createServiceClaims } from '../../audit/claims/service-claims.ts';
import type { AuditReport } from '../../audit/report/audit-report.ts';
import { formatReportJson, reportText } from '../../audit/report/report-text.ts';
import { isUnread } from '../../verify/evidence.ts';
import { explainChainError, openRecordChain } from '../chain/record-chain.ts';
import { h, replaceChildren } from '../lib/dom.ts';
import { requestApi } from '../state/api.ts';
import { createCheckButton, type OnProgress } from './check-button.ts';
import { CHECK_EVENT } from './check-event.ts';
import { VERDICT_STYLES } from './finding-view.ts';
import { type CheckSetup, loadSetup } from './row-checker.ts';

const OUTCOMES = { agrees: 'pass', differs: 'fail', incomplete: 'unknown' } as const;

/** Button that audits the whole record. A second click stops it, and the next one continues with what was read from the same endpoint. */
export function createRecordCheck(setup: CheckSetup) {
  const result = h('div', {});
  let kept: { endpoint: string; state: ReadingState } | null = null;

  async function run(signal: AbortSignal, onProgress: OnProgress): Promise<string> {
    replaceChildren(result);
    onProgress('connecting', 0, 1);
    const found = await loadSetup(setup);
    if (isUnread(found)) return `Could not be checked: ${found.problem}.`;
    if (kept?.endpoint !== found.endpoint) kept = { endpoint: found.endpoint, state: createReadingState(0) };
    const { state } = kept;
    const attester = found.info.chain.attester as Address;
    // The scorecards as every reader gets them.
    const claims = createServiceClaims(document.baseURI.replace(/\/+$/, ''), requestApi);
    try {
      const chain = await openRecordChain({ ...found, signal });
      const options = { chain, attester, prices: null, claims, state, signal, onProgress };
      replaceChildren(result, renderReport(await auditUntilSettled(() => audit({ ...options, now: new Date() }))));
      kept = null;
      return '';
    } catch (error) {
      const why = signal.aborted ? 'Stopped:' : `Could not be checked: ${explainChainError(error)}.`;
      return `${why} ${state.contents.size} attestations were read, and the next click continues.`;
    }
  }
  const { element, start } = createCheckButton({
    label: () => (kept === null ? 'Check everything now' : 'Continue to check everything'),
    progressLabel: 'Progress of the check of everything',
    isPrimary: true,
    run,
  });
  document.addEventListener(CHECK_EVENT, start);
  return h('div', { class: 'check-record' }, element, result);
}

function renderReport(report: AuditReport) {
  const { mark, look } = VERDICT_STYLES[OUTCOMES[report.verdict]];
  const file = URL.createObjectURL(new Blob([formatReportJson(report)], { type: 'application/json' }));
  const name = `audit-${report.chainId}-${report.auditedAt.slice(0, 10)}.json`;
  return [
    h(
      'details',
      { class: `finding ${look}`, open: report.verdict !== 'agrees' },
      h('summary', { role: 'status' }, h('span', { 'aria-hidden': 'true' }, mark), h('strong', {}, `${report.summary}.`)),
      h('pre', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Report' }, reportText(report)),
    ),
    h('p', { class: 'quiet' }, [
      h('a', { href: file, download: name }, 'Download the report'),
      '. Closes were compared with each other, not with the market: “npx svc audit” reads exchanges, which a browser cannot.',
    ]),
  ];
}
