import type { SchemaName } from '../../chain/eas/attestation-schemas.ts';
import { getCheck } from '../../verify/catalogue.ts';
import type { Finding } from '../../verify/findings.ts';
import { describeFinding } from '../../verify/summary.ts';
import { h } from '../lib/dom.ts';
import { shortenHex } from '../lib/format.ts';
import { createTime } from '../lib/local-time.ts';
import type { StoredFinding } from './row-checker.ts';

/** Verdicts differ in mark and text, not in colour alone. */
export const VERDICT_STYLES = {
  pass: { mark: '✓', look: 'is-good' },
  fail: { mark: '✗', look: 'is-bad' },
  unknown: { mark: '?', look: 'is-unsure' },
};

/** The verdict, with all comparisons in a disclosure. */
export function renderFinding({ finding, open, from, at }: StoredFinding, onToggle: (open: boolean) => void) {
  const { verdict, stage, summary, findings } = finding;
  const { mark, look } = VERDICT_STYLES[verdict];
  const [left, checks] = [true, false].map((isLeft) => findings.filter(({ outcome }) => (outcome === 'unknown') === isLeft));
  const about = (kind: SchemaName | undefined) => checks.filter(({ subject }) => subject.attestation === kind).map(renderCheck);
  const sources = [
    `Attestations were read from ${from} at `,
    createTime(at.toISOString(), 'clock'),
    '; hashing and comparison ran in this browser. The row, the metadata and the salt of an unresolved forecast come from the service and ',
    'are compared with on-chain digests where named above.',
  ];
  const later = left.length === 0 ? null : h('span', { class: 'later' }, ` · ${left.length} left open`);
  const sentence = [h('span', { class: 'verdict-mark', 'aria-hidden': 'true' }, mark), h('strong', {}, summary), later];
  if (checks.length === 0) return h('p', { class: `finding ${look}` }, sentence);
  return h(
    'details',
    { class: `finding ${look}`, open, ontoggle: ({ target }) => onToggle((target as HTMLDetailsElement).open) },
    h('summary', {}, sentence),
    renderGroup('Prediction, made before the window', about('prediction')),
    renderGroup('Resolution, made after it', about('resolution')),
    renderGroup('Position in the record', about(undefined)),
    renderGroup(
      'Left open',
      left.map(({ check, because }) => renderOpenItem(`${getCheck(check).title}: ${because}`)),
    ),
    renderGroup('Not checked here', (stage === 'over' ? [MARKET_CLOSES, OTHER_ATTESTATIONS] : [OTHER_ATTESTATIONS]).map(renderOpenItem)),
    h('p', { class: 'quiet' }, sources),
  );
}

/** Claims that the two attestations cannot prove. */
const MARKET_CLOSES = 'That the two closes match the market: “npx svc verify --prices live” compares exchanges';
const OTHER_ATTESTATIONS =
  'That there is no even earlier commitment for this day, no second record of the wallet and no withheld newer row: “Check everything now” reads all attestations of the wallet';

function renderGroup(heading: string, lines: readonly HTMLElement[]) {
  return lines.length === 0 ? null : h('div', { class: 'checks' }, h('h3', {}, heading), h('ul', {}, lines));
}

function renderCheck(finding: Finding) {
  const ok = finding.outcome === 'pass';
  const { mark, look } = VERDICT_STYLES[finding.outcome];
  const actual = String(finding.actual ?? 'nothing');
  const figures = ok ? renderActual(actual) : h('span', { class: 'difference' }, ` ${finding.because}.`);
  return h(
    'li',
    {},
    h('span', { class: look }, mark, h('span', { class: 'visually-hidden' }, ok ? ' agrees: ' : ' does not: ')),
    h('span', {}, describeFinding(finding), figures),
  );
}

/** The value on chain, unless it is only a confirmation. */
function renderActual(actual: string) {
  if (!/^(?:0x|-?\d|[A-Z])/.test(actual)) return null;
  return h('span', { class: 'value' }, ` ${actual.length > 60 ? shortenHex(actual) : actual}`);
}

function renderOpenItem(text: string) {
  return h('li', {}, h('span', { class: 'quiet', 'aria-hidden': 'true' }, '○'), h('span', {}, text));
}
