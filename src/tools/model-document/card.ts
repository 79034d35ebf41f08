import { formatHorizonName, HORIZONS, MODEL_NAME } from '../../forecast/model.ts';
import { REGIME_NAMES, REGIMES } from '../../forecast/regime/regime.ts';
import { REGIME_RULE_TERMS, REGIME_RULES } from '../../forecast/regime/rules.ts';
import { PROVIDERS } from '../../market/live/providers/providers.ts';
import { getProviderIds } from '../../market/live/sources/registry.ts';
import { MODEL_INPUT_SERIES } from '../../record/model-card/model-inputs.ts';
import { CAVEATS, INTENDED_USE, KNOWN_FAILURES, METHOD, NOT_INTENDED_FOR } from '../../record/model-card/statements.ts';
import { renderMarkdownList, renderMarkdownTable } from './markdown.ts';

/** Description of the model, without figures. */
export function renderModelCard(): string {
  return [
    `# Model card: \`${MODEL_NAME}\``,
    `The model that forecasts BTC/USD for ${HORIZONS.map(formatHorizonName).join(', ')}. A running service tells the same at \`/api/svc/info\`, with the coefficients of the fit in
use and its digests, and runs what is under "Results" again by itself. This page is written by \`npm run docs:model\`.`,
    '## What it is for',
    renderMarkdownList(INTENDED_USE),
    '## What it is not for',
    renderMarkdownList(NOT_INTENDED_FOR),
    '## Known failures',
    renderMarkdownList(KNOWN_FAILURES),
    '## Limits',
    renderMarkdownList(CAVEATS),
    '## Inputs',
    renderInputs(),
    `The forecast of day t, made at 21:35 UTC, reads values dated \`lag\` days before t or earlier, and masks those dated more than \`stale\` days before. The price is that of the minute itself.`,
    `What the data of the providers may be used for, as far as it is known to us; whoever runs the service on live data has to see for themselves:`,
    renderLicences(),
    '## Method',
    renderMarkdownList(METHOD),
    '## Regimes',
    renderRegimes(),
    `${REGIME_RULE_TERMS}. The rules are tried from top to bottom. A crisis lasts at least five days.`,
  ].join('\n\n');
}

function renderInputs(): string {
  const rows = MODEL_INPUT_SERIES.map(({ series, title, unit, lagDays, staleDays, enters }) => [
    title,
    unit,
    `${lagDays}`,
    `${staleDays}`,
    enters.join(', '),
    getProviderIds(series)
      .map((provider) => PROVIDERS[provider].title)
      .join(', '),
  ]);
  return renderMarkdownTable(['Series', 'Unit', 'Lag', 'Stale', 'Enters', 'Live, the primary first'], rows);
}

function renderLicences(): string {
  const ids = new Set(MODEL_INPUT_SERIES.flatMap(({ series }) => getProviderIds(series)));
  return renderMarkdownTable(
    ['Provider', 'Terms'],
    [...ids].map((id) => [PROVIDERS[id].title, PROVIDERS[id].licence]),
  );
}

function renderRegimes(): string {
  const rows = REGIME_NAMES.map((regime) => {
    const { theta, riskLevel, daysToEnter } = REGIMES[regime];
    return [regime, REGIME_RULES[regime], `${theta}`, `${daysToEnter}`, riskLevel];
  });
  return renderMarkdownTable(['Regime', 'Rule', 'theta', 'Days to enter', 'Risk'], rows);
}
