import { el, type Markup } from '../markup.ts';
import { APP_VIEWS, type AppView, type Fields, isFields, readFields, readText, renderResult, VIEW_TITLES } from '../mcp-app.ts';
import { byId, replaceChildren } from './dom.ts';

interface HostConnection {
  /** Sends a request (JSON-RPC 2.0). Rejects with the host's error. */
  request(method: string, params: Fields): Promise<Fields>;
  notify(method: string, params: Fields): void;
}

/** Requests of a host that a view has to answer, each with an empty result (SEP-1865; MCP, `ping`). */
const ACKNOWLEDGED = ['ping', 'ui/resource-teardown'];

const METHOD_NOT_FOUND = -32_601;

/**
 * The messages of SEP-1865 between a view and the page that frames it, by `postMessage`. The library for them is twenty times as large as
 * this view. @param notified by method; other notifications are ignored
 */
function openHostConnection(notified: Readonly<Record<string, (params: Fields) => void>>): HostConnection {
  const pending = new Map<unknown, PromiseWithResolvers<Fields>>();
  // The origin of a host is not known, and no message has a secret.
  const send = (message: Fields) => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  window.addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
    if (source !== window.parent || !isFields(data) || data.jsonrpc !== '2.0') return;
    if (typeof data.method !== 'string') settle(pending, data);
    else if ('id' in data) send(answerRequest(data));
    else if (Object.hasOwn(notified, data.method)) notified[data.method](readFields(data.params));
  });
  let lastId = 0;
  return {
    request(method, params) {
      lastId += 1;
      const answer = Promise.withResolvers<Fields>();
      pending.set(lastId, answer);
      send({ id: lastId, method, params });
      return answer.promise;
    },
    notify: (method, params) => send({ method, params }),
  };
}

function settle(pending: Map<unknown, PromiseWithResolvers<Fields>>, { id, result, error }: Fields): void {
  const answer = pending.get(id);
  pending.delete(id);
  if (isFields(error)) answer?.reject(new Error(readText(error.message) || 'The host rejected the request'));
  else answer?.resolve(readFields(result));
}

function answerRequest({ id, method }: Fields): Fields {
  if (ACKNOWLEDGED.includes(String(method))) return { id, result: {} };
  return { id, error: { code: METHOD_NOT_FOUND, message: 'This view has no such method' } };
}

/** Variables of the host that the style sheet uses. */
const COLORS = ['--color-background-primary', '--color-text-primary', '--color-text-secondary', '--color-border-primary'];
const OTHERS = ['--font-sans', '--border-radius-md'];

/** Applies theme and style variables of a host, of which a change brings some. Without a theme, that of the browser applies. */
function applyHostContext(context: Fields): void {
  const root = document.documentElement;
  const theme = readText(context.theme);
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  const variables = readFields(readFields(context.styles).variables);
  // Some colours of a host beside others of this view could be illegible.
  const names = COLORS.every((name) => readText(variables[name]) !== '') ? [...COLORS, ...OTHERS] : OTHERS;
  for (const name of names) if (readText(variables[name]) !== '') root.style.setProperty(name, readText(variables[name]));
}

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

/** A line in place of a result. */
function renderLine(view: AppView, text: string): Markup {
  return [el('h1', { tabindex: -1 }, VIEW_TITLES[view]), el('p', { class: 'quiet' }, text)];
}

function show(markup: Markup): void {
  replaceChildren(main, markup);
  if (!canCall) for (const button of main.querySelectorAll('button')) button.remove();
}

function showNewest(): void {
  const { view: of, result } = shown.at(-1)!;
  const back = shown.length > 1 && el('button', { type: 'button', class: 'back' }, '← Back');
  show([back, renderResult(of, result, new Date().toISOString())]);
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

/** Sends the size of the content, in pixels, now and whenever it has changed. */
function reportSize(host: HostConnection): void {
  let last = '';
  const observer = new ResizeObserver(() => {
    const size = { width: window.innerWidth, height: Math.ceil(document.body.getBoundingClientRect().height) };
    const text = `${size.width} ${size.height}`;
    if (text !== last) host.notify('ui/notifications/size-changed', size);
    last = text;
  });
  observer.observe(document.body);
}
