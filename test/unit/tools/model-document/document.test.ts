import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { buildWalkForwardReport } from '../../../../src/forecast/backtest/walk-forward.ts';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import {
  extractRecordedSection,
  loadSimulatedHistory,
  renderFit,
  renderModelCard,
  renderWalkForwardResults,
} from '../../../../src/tools/model-document.ts';
import { ROOT, unpadded } from '../../../support/docs/documents.ts';

// The slow suites make the whole page again.
const page = unpadded(readFileSync(resolve(ROOT, 'docs/MODEL.md'), 'utf8'));

it('contains the card of the code', () => {
  expect(page.startsWith(unpadded(renderModelCard())), 'run npm run docs:model').toBe(true);
});

it('contains the simulated fit and walk-forward', async () => {
  const { frame } = await loadSimulatedHistory();
  const history = { closes: frame.close, features: computeFeatures(frame) };
  const report = buildWalkForwardReport({ ...history, frame });
  expect([report.folds, report.lastDay]).toEqual([report.expectedFolds, '2026-08-20']);
  const simulated = page.slice(page.indexOf('## Results on the simulated market'));
  for (const part of [renderFit(frame, true), renderWalkForwardResults(report, false)]) {
    expect(simulated, 'run npm run docs:model').toContain(unpadded(part));
  }
});

it('extracts the section from recorded history, null without one', () => {
  expect(extractRecordedSection(page)).toMatch(/^Daily history .*Walk-forward: 19 of 19 folds.*Stability: /s);
  expect(extractRecordedSection('# Model card\n')).toBeNull();
});

it('omits the calibration of real fits, which would reveal open forecasts', () => {
  expect(extractRecordedSection(page)).toContain('fit in force');
  expect(extractRecordedSection(page)).not.toContain('P(up) can be');
});
