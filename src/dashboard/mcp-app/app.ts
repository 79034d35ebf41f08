import type { Markup } from '../../views/markup.ts';
import { APP_VIEWS, type AppView } from '../../views/mcp-app/app-views.ts';
import { renderBackButton } from '../../views/mcp-app/call-button.ts';
import { type Fields, readFields, readText } from '../../views/mcp-app/fields.ts';
import { renderLine, renderResult } from '../../views/mcp-app/render-result.ts';
import { byId } from '../lib/dom.ts';
import { toNodes } from '../lib/markup-dom.ts';
import { openHostConnection } from './host-connection.ts';
import { applyHostContext } from './host-context.ts';
import { reportSize } from './report-size.ts';

/** Of SEP-1865. */
const PROTOCOL_VERSION = '2026-01-26';

const main = document.querySelector('main')!;
const { view: ownView, version } = main.dataset;
const view = APP_VIEWS.find((one) => one === ownView)!;

/** What the reader has opened, the newest last: the back button returns to the one before. */
const shown: { view: AppView; result: Fields }[] = [];
let canCall = false;

const host = openHostConnection({
  'ui/notifications/tool-result': (result) => {
    shown.splice(0, Number.POSITIVE_INFINITY, { view, result });
    showNewest();
  },
  'ui/notifications/tool-cancelled': ({ reason }) => show(renderLine(view, `The call was cancelled. ${readText(reason)}`)),
  'ui/notifications/host-context-changed': applyHostContext,
});

function show(markup: Markup): void {
  main.replaceChildren(...toNodes(markup));
  if (!canCall) for (const button of main.querySelectorAll('button')) button.remove();
}

function showNewest(): void {
  const { view: of, result } = shown.at(-1)!;
  show(renderResult(of, result, new Date().toISOString()));
  if (shown.length > 1) main.prepend(...toNodes(renderBackButton()));
}

async function callTool(button: HTMLButtonElement): Promise<void> {
  const { tool, input = '{}', view: next } = button.dataset;
  const status = byId('status');
  status.textContent = 'Asking…';
  button.disabled = true;
  try {
    const result = await host.request('tools/call', { name: tool, arguments: JSON.parse(input) });
    status.textContent = '';
    shown.push({ view: next as AppView, result });
    showNewest();
    main.querySelector('h1')?.focus();
  } catch (error) {
    status.textContent = (error as Error).message;
    button.disabled = false;
  }
}

function goBack(): void {
  shown.pop();
  showNewest();
  main.querySelector('h1')?.focus();
}

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button') : null;
  if (button?.dataset.tool !== undefined) void callTool(button);
  else if (button !== null) goBack();
});

/** Nothing arrives before `ui/notifications/initialized`. */
async function start(): Promise<void> {
  const appInfo = { name: 'bitcoin-signal-oracle', version: version ?? '' };
  const appCapabilities = { availableDisplayModes: ['inline', 'fullscreen'] };
  const { hostContext, hostCapabilities } = await host.request('ui/initialize', {
    appInfo,
    appCapabilities,
    protocolVersion: PROTOCOL_VERSION,
  });
  canCall = 'serverTools' in readFields(hostCapabilities);
  applyHostContext(readFields(hostContext));
  host.notify('ui/notifications/initialized', {});
  reportSize(host);
}

start().catch((error: unknown) => show(renderLine(view, (error as Error).message)));
