import { formatTime } from '../../forecast/format.ts';
import { el, type Markup, type MarkupElement } from '../../markup.ts';
import { formatHorizon, renderCallButton } from '../call-button.ts';
import { type Fields, readFields, readList, readNumber, readText, readTime } from '../fields.ts';
import { toSentence } from '../sentence.ts';

/** The checks of one forecast against the chain, with as much of them as the answer has. */
export function renderVerificationCard(answer: Fields): Markup {
  const { horizon, date, predictionId } = readFields(answer.prediction);
  const name = [readText(date), formatHorizon(readText(horizon))].filter((part) => part !== '').join(', ');
  const checks = readList(answer.checks);
  const failed = checks.filter(({ ok }) => ok !== true);
  return [
    el('h1', { tabindex: -1 }, name === '' ? 'Forecast, checked on chain' : `Forecast of ${name}, checked on chain`),
    renderResult(answer),
    renderAttestations(readList(answer.attestations)),
    renderChecks('Failed', failed),
    renderUnchecked(readList(answer.unchecked)),
    checks.length === failed.length ? null : renderPassed(checks.filter(({ ok }) => ok === true)),
    el('p', { class: 'quiet notes' }, 'It shows that the forecast was made in time and not changed, not that it is good.'),
    el('p', { class: 'actions' }, [
      checks.length < (readNumber(answer.checked) ?? 0) ? renderAllButton(readText(predictionId)) : null,
      renderCallButton('record', 'Track record', readText(horizon) === '' ? {} : { horizon: readText(horizon) }),
    ]),
  ];
}

/** The verdict states how many checks agree; without it, the figures do. */
function renderResult(answer: Fields): Markup {
  const [agree, all] = [readNumber(answer.agreeing), readNumber(answer.checked)];
  const { mark, text } = judge(answer.verified === true, agree === all);
  const counts = agree === null || all === null ? '' : `${agree} of ${all} checks agree`;
  return [el('p', { class: 'lead' }, el('strong', { class: mark }, text)), el('p', {}, toSentence(readText(answer.verdict) || counts))];
}

/** A forecast that is not on chain yet is not verified, though no check fails. */
function judge(isVerified: boolean, allAgree: boolean): { mark: string; text: string } {
  if (isVerified) return { mark: 'status-win', text: '✓ Verified' };
  return allAgree ? { mark: 'status-pending', text: 'Not verified yet' } : { mark: 'status-loss', text: '✗ Not verified' };
}

/** A short answer lists the checks that fail. */
function renderAllButton(predictionId: string): Markup {
  return predictionId === '' ? null : renderCallButton('verification', 'All checks', { predictionId, detail: 'full' });
}

function renderAttestations(attestations: readonly Fields[]): Markup {
  if (attestations.length === 0) return null;
  return el(
    'ul',
    { class: 'plain' },
    attestations.map(({ type, uid, blockTime }) => {
      const time = readTime(blockTime);
      return el('li', {}, [
        `${toSentence(readText(type)).replace('.', '')}: ${time === '' ? 'not on chain' : `on chain since ${formatTime(time)}`}`,
        el('br'),
        el('code', {}, readText(uid)),
      ]);
    }),
  );
}

function renderPassed(checks: readonly Fields[]): MarkupElement {
  return el('details', {}, [el('summary', {}, `${checks.length} checks that agree`), renderList(checks)]);
}

function renderChecks(title: string, checks: readonly Fields[]): Markup {
  return checks.length === 0 ? null : [el('h2', {}, title), renderList(checks)];
}

function renderList(checks: readonly Fields[]): MarkupElement {
  return el(
    'ul',
    { class: 'checks' },
    checks.map(({ ok, what, field, attestation }) =>
      el('li', { class: ok === true ? 'status-win' : 'status-loss' }, [
        el('span', { 'aria-hidden': 'true' }, ok === true ? '✓ ' : '✗ '),
        el('span', { class: 'text' }, [readText(what) || `${readText(attestation)} ${readText(field)}`]),
      ]),
    ),
  );
}

function renderUnchecked(unchecked: readonly Fields[]): Markup {
  if (unchecked.length === 0) return null;
  const items = unchecked.map(({ what, reason }) => el('li', {}, toSentence(`${readText(what)}: ${readText(reason)}`)));
  return [el('h2', {}, 'Not checked'), el('ul', { class: 'plain' }, items)];
}
