import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { horizonAgreement } from '../../../../src/forecast/backtest/horizon-agreement.ts';
import { walkForwardReport } from '../../../../src/forecast/backtest/walk-forward.ts';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import { cardMarkdown } from '../../../../src/local/model-document/card.ts';
import { recordedPart } from '../../../../src/local/model-document/document.ts';
import { simulatedHistory } from '../../../../src/local/model-document/histories.ts';
import { fitMarkdown } from '../../../../src/local/model-document/history-section.ts';
import { agreementMarkdown, walkForwardMarkdown } from '../../../../src/local/model-document/results.ts';
import { ROOT, unpadded } from '../../../support/documents.ts';

// The slow suites make the whole page again.
const page = unpadded(readFileSync(resolve(ROOT, 'docs/MODEL.md'), 'utf8'));

it('has the card as the code has it', () => {
  expect(page.startsWith(unpadded(cardMarkdown())), 'run npm run docs:model').toBe(true);
});

it('has the fit, the walk-forward and the agreement of its horizons that the simulated market gives everybody', async () => {
  const { frame } = await simulatedHistory();
  const history = { closes: frame.close, features: computeFeatures(frame) };
  const report = walkForwardReport({ ...history, frame });
  expect([report.folds, report.lastDay]).toEqual([report.expectedFolds, '2026-08-20']);
  const simulated = page.slice(page.indexOf('## Results on the simulated market'));
  for (const part of [fitMarkdown(frame, true), walkForwardMarkdown(report), ...agreementMarkdown(horizonAgreement(history))]) {
    expect(simulated, 'run npm run docs:model').toContain(unpadded(part));
  }
});

it('has a part made from recorded history, and tells where a page has none', () => {
  expect(recordedPart(page)).toMatch(/^Daily history .*Walk-forward: 19 of 19 folds.*Stability: /s);
  expect(recordedPart('# Model card\n')).toBeNull();
});

it('has no calibration of the fit that services forecast with: it would tell what is open', () => {
  expect(recordedPart(page)).toContain('fit in force');
  expect(recordedPart(page)).not.toContain('P(up) can be');
});
