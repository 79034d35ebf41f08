import { audit, auditUntilSettled } from '../../audit/audit.ts';
import { createReadingState, type ReadingState } from '../../audit/chain/read-record.ts';
import { createServiceClaims, createServiceError } from '../../audit/claims/service-claims.ts';
import type { AuditReport } from '../../audit/report/audit-report.ts';
import { formatReportJson, reportText } from '../../audit/report/report-text.ts';
import { explainChainError, openRecordChain } from '../chain/record-chain.ts';
import { h, replaceChildren } from '../lib/dom.ts';
import { requestApi } from '../state/api.ts';
import { createCheckButton, type OnProgress } from './check-button.ts';
import { VERDICT_STYLES } from './finding-view.ts';
import { type CheckSetup, loadSetup } from './row-checker.ts';

const VERDICTS = { agrees: 'verified', differs: 'mismatch', incomplete: 'unchecked' } as const;

/** Button that audits the whole record. A second click stops it, and the next one continues. */
export function createRecordCheck(setup: CheckSetup) {
  const result = h('div', {});
  const check = createResumableAudit(setup);
  let isComplete = true;
  const { element } = createCheckButton({
    label: () => (isComplete ? 'Check everything now' : 'Continue to check everything'),
    progressLabel: 'Progress of the check of everything',
    async run(signal, onProgress) {
      replaceChildren(result);
      onProgress('connecting', 0, 1);
      const outcome = await check(signal, onProgress);
      isComplete = 'verdict' in outcome;
      if (!('verdict' in outcome)) return outcome.problem;
      replaceChildren(result, renderReport(outcome));
      return '';
    },
  });
  return h('div', { class: 'check-record' }, element, result);
}

/** Audits the record; what was read is kept when an audit ends early, until the endpoint changes. */
function createResumableAudit(setup: CheckSetup) {
  let kept: { endpoint: string; state: ReadingState } | null = null;

  return async (signal: AbortSignal, onProgress: OnProgress): Promise<AuditReport | { problem: string }> => {
    try {
      const found = await loadSetup(setup);
      if ('problem' in found) return { problem: `Could not be checked: ${found.problem}.` };
      const chain = await openRecordChain({ ...found, signal });
      if (kept?.endpoint !== found.endpoint) kept = { endpoint: found.endpoint, state: createReadingState(0) };
      const { state } = kept;
      const { attester } = found.info.chain;
      const options = { chain, attester: attester as `0x${string}`, prices: null, claims: createClaims(), state, signal, onProgress };
      const report = await auditUntilSettled(() => audit({ ...options, now: new Date() }));
      kept = null;
      return report;
    } catch (error) {
      const read = `${kept?.state.contents.size ?? 0} attestations were read, and the next click continues.`;
      if (signal.aborted) return { problem: `Stopped: ${read}` };
      const problem = explainChainError(error);
      if (problem === null) reportError(error);
      return { problem: `Could not be checked: ${problem ?? 'an error in this page'}. ${read}` };
    }
  };
}

/** The scorecards as every reader gets them. */
function createClaims() {
  const source = document.baseURI.replace(/\/+$/, '');
  return createServiceClaims(source, (path) =>
    requestApi(path).catch((cause: Error) => {
      throw createServiceError(source, cause.message);
    }),
  );
}

function renderReport(report: AuditReport) {
  const { mark, look } = VERDICT_STYLES[VERDICTS[report.verdict]];
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
