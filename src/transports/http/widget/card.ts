import { createHash } from 'node:crypto';
import { escapeHtml } from '../server/replies/escape-html.ts';

export interface WidgetCard {
  signal: string;
  confidence: number | null;
  horizon: string;
  date: string;
  btcPrice: number;
  regime: string;
  /** Hit rate with its 95 % interval; null before the first outcome. */
  record: { accuracy: number; low: number; high: number; wins: number; resolved: number; alwaysUp: number | null } | null;
  source: string;
  simulated: boolean;
  /** Whether this forecast, and any of the record, was replayed. */
  replayed: boolean;
  recordReplayed: boolean;
  link: string;
}

export type Theme = 'auto' | 'light' | 'dark';

const LIGHT = '--bg:#fff;--fg:#16181d;--dim:#5b6270;--line:#d8dce3;--mark:#0b63ce';
const DARK = '--bg:#14161a;--fg:#eceff4;--dim:#9aa3b2;--line:#343a45;--mark:#6cb2ff';

const STYLE = [
  `:root{color-scheme:light dark;${LIGHT}}`,
  `@media (prefers-color-scheme:dark){:root{${DARK}}}`,
  `:root[data-theme=light]{color-scheme:light;${LIGHT}}`,
  `:root[data-theme=dark]{color-scheme:dark;${DARK}}`,
  'body{margin:0;background:var(--bg);color:var(--fg);font:14px/1.45 system-ui,sans-serif}',
  'main{box-sizing:border-box;max-width:340px;padding:14px 16px;border:1px solid var(--line);border-radius:10px}',
  'h1{margin:0 0 6px;font-size:13px;font-weight:600;color:var(--dim)}',
  '.signal{margin:0;font-size:26px;font-weight:700}',
  '.signal span{font-size:15px;font-weight:400;color:var(--dim)}',
  'p{margin:4px 0}',
  '.dim{color:var(--dim);font-size:12px}',
  'svg{display:block;width:100%;height:22px;margin:6px 0 2px}',
  'a{color:var(--mark)}',
  '.axis{stroke:var(--line);stroke-width:1}',
  '.bar{stroke:var(--fg);stroke-width:2}',
  '.dot{fill:var(--mark)}',
  '.base{stroke:var(--dim);stroke-width:1;stroke-dasharray:2 2}',
].join('');

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Any site may frame the card, which runs, loads and sends nothing. */
export const WIDGET_CSP = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "base-uri 'none'",
  "form-action 'none'",
  'frame-ancestors *',
].join('; ');

const REFRESH_SECONDS = 1_800;

export function renderWidget(card: WidgetCard, theme: Theme): string {
  const { horizon, date, btcPrice, regime, source, link } = card;
  return `<!doctype html>
<html lang="en"${theme === 'auto' ? '' : ` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="${REFRESH_SECONDS}">
<title>Bitcoin Signal Oracle</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Bitcoin signal, ${escapeHtml(horizon)}, ${escapeHtml(date)}</h1>
<p class="signal">${escapeHtml(card.signal)} <span>${escapeHtml(formatConfidence(card))}</span></p>
<p>BTC/USD ${escapeHtml(formatPriceUsd(btcPrice))} at signal time, regime ${escapeHtml(regime)}</p>
${renderRecord(card)}
<p class="dim">Market data: ${escapeHtml(source)}.${escapeHtml(formatDataNotes(card))} <a href="${escapeHtml(link)}" target="_blank" rel="noopener noreferrer">Record</a></p>
</main>
</body>
</html>
`;
}

function formatConfidence({ signal, confidence }: WidgetCard): string {
  if (signal === 'GATED') return 'until its outcome';
  return confidence === null ? '' : `${(100 * confidence).toFixed(1)} % confident`;
}

function formatDataNotes({ simulated, replayed, recordReplayed }: WidgetCard): string {
  return [
    simulated ? ' The market is simulated.' : '',
    replayed ? ' This forecast was replayed.' : '',
    recordReplayed ? ' The record has replayed days.' : '',
  ].join('');
}

function renderRecord({ record }: WidgetCard): string {
  if (record === null) return '<p class="dim">No forecast of this horizon is scored yet: no claim is made.</p>';
  const { accuracy, low, high, wins, resolved, alwaysUp } = record;
  const [at, from, to] = [accuracy, low, high].map(toAxisX);
  const base = alwaysUp === null ? '' : `<line class="base" x1="${toAxisX(alwaysUp)}" x2="${toAxisX(alwaysUp)}" y1="2" y2="20"/>`;
  const label = `${wins} of ${resolved} right: ${formatSharePercent(accuracy)}, 95 % interval ${formatSharePercent(low)} to ${formatSharePercent(high)}`;
  return `<svg viewBox="0 0 300 22" role="img" aria-label="${escapeHtml(label)}">
<line class="axis" x1="0" x2="300" y1="11" y2="11"/>
<line class="bar" x1="${from}" x2="${to}" y1="11" y2="11"/>
<line class="bar" x1="${from}" x2="${from}" y1="6" y2="16"/>
<line class="bar" x1="${to}" x2="${to}" y1="6" y2="16"/>
${base}
<circle class="dot" cx="${at}" cy="11" r="4"/>
</svg>
<p class="dim">${escapeHtml(label)}${alwaysUp === null ? '' : `; always UP ${formatSharePercent(alwaysUp)} (dashed)`}</p>`;
}

/** Maps 0..1 to an axis of 300 units. */
function toAxisX(share: number): string {
  return (300 * share).toFixed(1);
}

function formatSharePercent(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}

function formatPriceUsd(value: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}
