import { el, formatPercent, type Markup } from '../../markup.ts';
import { createSession, requestApi } from '../api.ts';
import { readBoughtCall } from '../buy.ts';
import { createRowChecker, renderFinding, renderReading } from '../check.ts';
import { byId, copyText } from '../dom.ts';
import { createEndpointForm } from '../record-chain.ts';
import type { ApiResponses, ScorecardRow } from '../responses.ts';
import type { ShownRecord } from '../section.ts';
import { draw } from '../view.ts';

/** The page of one forecast, which the server has written: the script adds what the reader has access to, checking and sharing. */
export function mountForecast() {
  mountForecastCheck();
  void showHiddenCall().catch(reportError);
  mountShareButton();
}

/** Replaces what the server has hidden by what this reader has bought or may read. */
async function showHiddenCall() {
  const places = [...document.querySelectorAll<HTMLElement>('[data-hidden]')];
  const { horizon, date } = byId('main').dataset;
  if (places.length === 0) return;
  const call = readBoughtCall(`${date}:${horizon}d`, Number(horizon)) ?? (createSession().current && (await readShown())?.row);
  if (!call?.direction || call.confidence === null) return;
  const texts: Record<string, string> = {
    call: `${call.signal}, ${call.direction}`,
    pUp: formatPercent(call.direction === 'UP' ? call.confidence : 1 - call.confidence),
  };
  for (const place of places) place.textContent = texts[place.dataset.hidden ?? ''];
}

/** Checks the forecast of this page against the chain, with one click. */
function mountForecastCheck() {
  const button = document.getElementById('check') as HTMLButtonElement | null;
  // A forecast that is not on chain has nothing to check.
  if (button === null) return;
  const show = (markup: Markup) => draw(byId('check-result'), markup);
  let endpoint: ReturnType<typeof createEndpointForm> | null = null;
  const checker = createRowChecker(createSession(), { getInfo, endpointNow: () => endpoint?.current() ?? null });
  const drawEndpoint = () => {
    const summary = el('summary', {}, 'Read the chain elsewhere');
    draw(byId('check-endpoint'), el('details', { class: 'table-of' }, summary, endpoint?.render()));
  };

  async function getInfo() {
    const info = await requestApi<ApiResponses['info']>('api/svc/info');
    endpoint ??= createEndpointForm(info, drawEndpoint);
    drawEndpoint();
    return info;
  }

  async function run() {
    show(renderReading());
    const found = await readShown();
    if (found === null) return show(renderReading('The service no longer lists this forecast.'));
    const { row, shown } = found;
    await checker.check(row, { shown, signal: new AbortController().signal });
    const stored = checker.foundOf(row, shown);
    if (stored !== undefined) show(renderFinding(stored));
  }

  button.disabled = false;
  button.addEventListener('click', async () => {
    button.disabled = true;
    await run().catch((error: Error) => show(renderReading(`Could not be checked: ${error.message}.`)));
    button.disabled = false;
    button.focus({ preventScroll: true });
  });
}

/** The row of this page, and those that a check compares: of the day before, and of the windows that begin or end with this one. */
async function readShown(): Promise<{ row: ScorecardRow; shown: ShownRecord } | null> {
  const { horizon: days, sequence } = byId('main').dataset;
  const [horizon, own] = [Number(days), Number(sequence)];
  const path = `api/svc/scorecard?horizon=${horizon}&before=${own + horizon + 1}&limit=${2 * horizon + 1}`;
  const { predictions } = await requestApi<ApiResponses['scorecard']>(path, { token: createSession().current?.token });
  const row = predictions.find((one) => one.sequence === own);
  return row === undefined ? null : { row, shown: { horizon, known: predictions } };
}

/** Opens the share sheet of the system where there is one, else copies the address. */
function mountShareButton() {
  const button = byId('share') as HTMLButtonElement;
  button.disabled = false;
  button.addEventListener('click', async () => {
    byId('share-status').textContent = await share();
  });
}

/** @returns what has happened; empty when the reader has cancelled */
async function share(): Promise<string> {
  const url = location.href.replace(/[?#].*$/, '');
  if (typeof navigator.share === 'function') {
    const problem = await navigator.share({ title: document.title, url }).then(
      () => null,
      (error: unknown) => error as Error,
    );
    if (problem === null) return 'Shared.';
    if (problem.name === 'AbortError') return '';
  }
  return (await copyText(url)) ? 'Link copied.' : `Copy this link: ${url}`;
}
